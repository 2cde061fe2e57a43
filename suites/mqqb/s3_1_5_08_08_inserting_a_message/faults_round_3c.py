"""Faults that break rules of MS-MQQB 3.1.5.8.8."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import MessageClass
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.model.adm import Message
from reference_qm.surface.clock import Now


@fault("receiver-no-nack-q-exceed-quota-of-message-with-jn", breaks="MQQB-3.1.5.8.8-07", blind=True)
class ReceiverNoNackQExceedQuotaOfMessageWithJn(AdminAcks):
    """The receiver sends no administration acknowledgment of class NACK_Q_EXCEED_QUOTA for a nontransactional message
    with NA and JN, because the message is put into the dead-letter queue.
    """

    def acknowledge_failure(self, message: Message, message_class: MessageClass, now: Now) -> None:
        journaled = message.NegativeJournalingRequested and message.TransactionIdentifier is None
        if not (journaled and message_class is MessageClass.MQMSG_CLASS_NACK_Q_EXCEED_QUOTA):
            super().acknowledge_failure(message, message_class, now)
