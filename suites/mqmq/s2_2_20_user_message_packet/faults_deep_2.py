"""Faults of MS-MQMQ 2.2.20.2 and 2.2.20.8 that hide a part of a message instead of refusing it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import replace_part
from harness.faults.primitives import set_fields
from harness.faults.registry import Install, add
from reference_qm.codec import DebugHeader, UserMessagePacket
from reference_qm.core.transfer.receiving import Receiving
from reference_qm.model.adm import RecoverableReceipt, Session
from reference_qm.surface.clock import Now

Check = Callable[[Any], Any]


def _change_received(when: Check, changes: dict[str, Any]) -> Install:
    """Let the receiver change fields of a received message if a condition is true for the message."""

    class Changing(Receiving):
        def take_message(
            self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
        ) -> None:
            changed = set_fields(packet, changes) if when(packet) else packet
            super().take_message(session, changed, receipt, now)

    return replace_part(Changing)


_HIDDEN_QUEUE = {
    "DebugHeader.Flags": lambda old: old & ~DebugHeader.flags(QT=3),
    "DebugHeader.QueueIdentifier": None,
}
for _number, _rule in ((2, "MQMQ-2.2.20.8-02"), (8, "MQMQ-2.2.20.8-08"), (14, "MQMQ-2.2.20.8-14")):
    _bit = 1 << _number
    add(
        f"receiver-debug-header-x{_number}-hides-queue",
        _rule,
        f"The receiver sends no report on a traced message whose DebugHeader has X{_number} set.",
        _change_received(
            lambda packet, bit=_bit: packet.DebugHeader is not None and packet.DebugHeader.Flags & bit,  # type: ignore[misc]
            _HIDDEN_QUEUE,
        ),
    )

for _name, _rule, _says, _when, _changes in (
    (
        "debug-header-reserved-odd-hides-queue",
        "MQMQ-2.2.20.8-16",
        "The receiver sends no report on a traced message whose DebugHeader has an odd Reserved.",
        lambda packet: packet.DebugHeader is not None and packet.DebugHeader.Reserved & 1,
        _HIDDEN_QUEUE,
    ),
    (
        "destination-list-reserved-hides-list",
        "MQMQ-2.2.20.2-03",
        "The receiver ignores the list of destinations if its Reserved is not 0.",
        lambda packet: packet.MultiQueueFormatHeader is not None and packet.MultiQueueFormatHeader.Destination.Reserved,
        {"MultiQueueFormatHeader.Destination.FormatNameList": (), "MultiQueueFormatHeader.Destination.Padding": None},
    ),
):
    add(f"receiver-{_name}", _rule, _says, _change_received(_when, _changes))
