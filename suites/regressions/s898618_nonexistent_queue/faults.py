"""Faults of REGRESSIONS 898618, made from what the article tells."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now

NO_QUEUE = MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q


@fault("regression-898618-sender-keeps-it", breaks="REGRESSIONS-898618-01")
class SenderKeepsIt(FinalAcks):
    """That the queue does not exist is ignored: the message stays in the outgoing queue."""

    def receive(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        if packet.MessagePropertiesHeader.MessageClass != NO_QUEUE:
            super().receive(session, packet, now)


@fault("regression-898618-nobody-says-so", breaks="REGRESSIONS-898618-02")
class NobodySaysSo(FinalAcks):
    """A transactional message for a queue that does not exist is dropped, and its sender learns nothing."""

    def refuse_transactional(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        if message_class != NO_QUEUE:
            super().refuse_transactional(session, packet, message_class, now)
