"""Steps that several fault files of this section share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import replace_part
from harness.faults.primitives import set_fields
from harness.faults.registry import Install
from reference_qm.codec import (
    DebugHeader,
    UserMessagePacket,
)
from reference_qm.core.transfer.receiving import Receiving
from reference_qm.model.adm import RecoverableReceipt, Session
from reference_qm.surface.clock import Now


def has_list_of(least: int) -> Any:
    """Return a condition that selects messages whose list of destinations has at least the given number of names."""

    def is_listed(packet: Any) -> bool:
        lists = packet.MultiQueueFormatHeader
        return lists is not None and len(lists.Destination.FormatNameList) >= least

    return is_listed


Check = Callable[[Any], Any]


def change_received(when: Check, changes: dict[str, Any]) -> Install:
    """Let the receiver change fields of a received message if a condition is true for the message."""

    class Changing(Receiving):
        def take_message(
            self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
        ) -> None:
            changed = set_fields(packet, changes) if when(packet) else packet
            super().take_message(session, changed, receipt, now)

    return replace_part(Changing)


HIDDEN_QUEUE = {
    "DebugHeader.Flags": lambda old: old & ~DebugHeader.flags(QT=3),
    "DebugHeader.QueueIdentifier": None,
}
