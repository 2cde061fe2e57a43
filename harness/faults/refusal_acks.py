"""Faults in the acknowledgments of refused messages. An acknowledgment is missing, or is sent although it was not
requested.

Spec: MS-MQQB 3.1.5.8.2, 3.1.5.8.3, 3.1.5.8.8.
"""

from __future__ import annotations

from harness.faults.parts import replace_part
from harness.faults.registry import Install
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.model.adm import Message, Session
from reference_qm.surface.clock import Now


def omit_nack(refused: MessageClass) -> Install:
    """Return an installer of a fault that sends no administration acknowledgment with a given class, although NA is
    set.
    """

    class NackMissing(AdminAcks):
        def acknowledge_failure(self, message: Message, message_class: MessageClass, now: Now) -> None:
            if message_class is not refused:
                super().acknowledge_failure(message, message_class, now)

    return replace_part(NackMissing)


def send_unrequested_nack(refused: MessageClass) -> Install:
    """Return an installer of a fault that sends the administration acknowledgment with a given class regardless
    of NA.
    """

    class NackUnasked(AdminAcks):
        def acknowledge_failure(self, message: Message, message_class: MessageClass, now: Now) -> None:
            if message_class is refused:
                self.send(message, message_class, now)
            else:
                super().acknowledge_failure(message, message_class, now)

    return replace_part(NackUnasked)


def omit_final_ack(refused: MessageClass) -> Install:
    """Return an installer of a fault that sends no FinalAck with a given class."""

    class FinalAckMissing(FinalAcks):
        def send_negative_final_ack(
            self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
        ) -> None:
            if message_class is not refused:
                super().send_negative_final_ack(session, packet, message_class, now)

    return replace_part(FinalAckMissing)
