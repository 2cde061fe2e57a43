"""Faults of MS-MQQB 3.1.5.8.2 General Processing, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.transfer.admission import Admission
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("receiver-transactional-message-to-missing-queue-without-nack", breaks="MQQB-3.1.5.8.2-17", blind=True)
class ReceiverTransactionalMessageToMissingQueueWithoutNack(Admission):
    """For a transactional message with NA to a missing queue, the receiver sends only a FinalAck, and no acknowledgment
    of class BAD_DST_Q.
    """

    def refuse_message(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        if packet.TransactionHeader is not None and message_class is MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q:
            self.qm.final_acks.refuse_transactional(session, packet, message_class, now)
        else:
            super().refuse_message(session, packet, message_class, now)
