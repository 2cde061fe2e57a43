"""Faults of REGRESSIONS 898618 that only a second message reveals."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("regression-898618-second-message-to-missing-queue-not-answered", breaks="REGRESSIONS-898618-02", blind=True)
class Regression898618SecondMessageToMissingQueueNotAnswered(FinalAcks):
    """The receiver sends a FinalAck only for the first message to a missing queue."""

    def refuse_transactional(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        self.refused = getattr(self, "refused", 0) + (message_class is MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q)
        if self.refused < 2:
            super().refuse_transactional(session, packet, message_class, now)


@fault("regression-898618-second-refused-message-stays", breaks="REGRESSIONS-898618-01", blind=True)
class Regression898618SecondRefusedMessageStays(FinalAcks):
    """The sender removes only the first message to a missing queue from its outgoing queue."""

    def receive(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        bad = packet.MessagePropertiesHeader.MessageClass == MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q
        self.refused = getattr(self, "refused", 0) + bad
        if self.refused < 2 or not bad:
            super().receive(session, packet, now)
