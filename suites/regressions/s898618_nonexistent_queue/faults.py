"""Faults that reproduce the bug that Microsoft article KB898618 describes: messages to a nonexistent queue."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now

BAD_DESTINATION_CLASS = MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q


@fault("regression-898618-bad-queue-final-ack-ignored", breaks="REGRESSIONS-898618-01")
class Regression898618BadQueueFinalAckIgnored(FinalAcks):
    """The sender ignores a FinalAck that reports a missing queue, and keeps the message in its outgoing queue."""

    def receive(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        if packet.MessagePropertiesHeader.MessageClass != BAD_DESTINATION_CLASS:
            super().receive(session, packet, now)


@fault("regression-898618-bad-queue-final-ack-not-sent", breaks="REGRESSIONS-898618-02")
class Regression898618BadQueueFinalAckNotSent(FinalAcks):
    """The receiver discards a transactional message for a missing queue without a FinalAck."""

    def send_negative_final_ack(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        if message_class != BAD_DESTINATION_CLASS:
            super().send_negative_final_ack(session, packet, message_class, now)


@fault("regression-898618-second-message-to-missing-queue-not-answered", breaks="REGRESSIONS-898618-02", blind=True)
class Regression898618SecondMessageToMissingQueueNotAnswered(FinalAcks):
    """The receiver sends a FinalAck only for the first message to a missing queue."""

    def send_negative_final_ack(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        self.refused = getattr(self, "refused", 0) + (message_class is MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q)
        if self.refused < 2:
            super().send_negative_final_ack(session, packet, message_class, now)


@fault("regression-898618-second-refused-message-stays", breaks="REGRESSIONS-898618-01", blind=True)
class Regression898618SecondRefusedMessageStays(FinalAcks):
    """The sender removes only the first message to a missing queue from its outgoing queue."""

    def receive(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        bad = packet.MessagePropertiesHeader.MessageClass == MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q
        self.refused = getattr(self, "refused", 0) + bad
        if self.refused < 2 or not bad:
            super().receive(session, packet, now)
