"""Faults in the delivery of acknowledgments of messages that left their queue. Spec: MS-MQQB 3.1.7.2.1."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import MessageClass
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.model.adm import Message
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.surface.clock import Now


@fault("receiver-ack-of-purged-express-message-sent-as-recoverable", breaks="MQQB-3.1.7.2.1-02", blind=True)
class ReceiverAckOfPurgedExpressMessageSentAsRecoverable(AdminAcks):
    """If an express message was purged, the receiver sends its acknowledgment as a recoverable message."""

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        ack = super().build(message, message_class, now)
        if message_class is not MessageClass.MQMSG_CLASS_NACK_Q_PURGED:
            return ack
        return replace(ack, DeliveryGuarantee=DeliveryGuarantee.RECOVERABLE)


@fault("receiver-ack-of-express-message-after-recoverable-is-recoverable", breaks="MQQB-3.1.7.2.1-02", blind=True)
class ReceiverAckOfExpressMessageAfterRecoverableIsRecoverable(AdminAcks):
    """After the acknowledgment of a recoverable message, the receiver sends the acknowledgment of an express message
    that left its queue as a recoverable message.
    """

    def acknowledge_receive(self, message: Message, reason: MessageClass, now: Now) -> None:
        if message.DeliveryGuarantee is DeliveryGuarantee.RECOVERABLE:
            self.__dict__["has_recoverable"] = True
        if self.__dict__.get("has_recoverable"):
            message = replace(message, DeliveryGuarantee=DeliveryGuarantee.RECOVERABLE)
        super().acknowledge_receive(message, reason, now)
