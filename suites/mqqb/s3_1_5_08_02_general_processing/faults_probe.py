"""Faults of MS-MQQB 3.1.5.8.2 General Processing, written without reading the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import MessageClass
from reference_qm.core.transfer.admin_acks import NEGATIVE_ARRIVAL, AdminAcks
from reference_qm.model.adm import Message
from reference_qm.surface.clock import Now


@fault("receiver-nack-of-too-many-hops-for-transactional-without-na", breaks="MQQB-3.1.5.8.2-41", blind=True)
class ReceiverNackOfTooManyHopsForTransactionalWithoutNa(AdminAcks):
    """The receiver sends an acknowledgment of class HOP_COUNT_EXCEEDED to the administration queue of a transactional
    message with too many hops even if NA is clear.
    """

    def acknowledge_failure(self, message: Message, message_class: MessageClass, now: Now) -> None:
        super().acknowledge_failure(message, message_class, now)
        hops = message_class is MessageClass.MQMSG_CLASS_NACK_HOP_COUNT_EXCEEDED
        requested = message.AcknowledgementsRequested & NEGATIVE_ARRIVAL
        if hops and message.TransactionIdentifier is not None and not requested:
            self.send(message, message_class, now)
