"""A fault with which the receiver changes an admitted message before it stores the message in its queue."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import replace_part
from harness.faults.primitives import set_fields
from harness.faults.registry import Install
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.message_admission import MessageAdmission
from reference_qm.model.adm import Queue, Session
from reference_qm.surface.clock import Now


def change_received_message(changes: dict[str, Any], when: Callable[[Any], Any]) -> Install:
    """Return an installer of a fault that changes fields of an admitted message before it is stored. Only messages
    whose packet meets a condition are changed.
    """

    class ChangedOnReceipt(MessageAdmission):
        def admit(
            self, session: Session, packet: UserMessagePacket, queue: Queue | None, now: Now
        ) -> UserMessagePacket | None:
            admitted = super().admit(session, packet, queue, now)
            changed = admitted is not None and when(packet)
            return set_fields(admitted, changes) if changed else admitted

    return replace_part(ChangedOnReceipt)
