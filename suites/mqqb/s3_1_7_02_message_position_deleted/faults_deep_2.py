"""Faults of MS-MQQB 3.1.7.2 Message Position Deleted that occur only if a message leaves its queue in other ways, or
for several messages.
"""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import MessageClass
from reference_qm.core.part import QM
from reference_qm.core.store.messages import NEGATIVE_RECEIVE, POSITIVE_RECEIVE
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.model.adm import Message, MessagePosition
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.surface.clock import Now

ACK_RECEIVE = MessageClass.MQMSG_CLASS_ACK_RECEIVE
PURGED = MessageClass.MQMSG_CLASS_NACK_Q_PURGED
DELETED = MessageClass.MQMSG_CLASS_NACK_Q_DELETED
TIMEOUT = MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT


@fault("receiver-acknowledgment-with-delivery-of-preceding-one", breaks="MQQB-3.1.7.2.1-01", blind=True)
class ReceiverAcknowledgmentWithDeliveryOfPrecedingOne(AdminAcks):
    """The receiver sends the acknowledgment of a recoverable message as an express message if the preceding
    acknowledgment was an express message.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.last: DeliveryGuarantee | None = None

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        ack = super().build(message, message_class, now)
        last, self.last = self.last, ack.DeliveryGuarantee
        return replace(ack, DeliveryGuarantee=last) if last is DeliveryGuarantee.EXPRESS else ack


@fault("receiver-acknowledgment-of-express-message-as-preceding-one", breaks="MQQB-3.1.7.2.1-02", blind=True)
class ReceiverAcknowledgmentOfExpressMessageAsPrecedingOne(AdminAcks):
    """The receiver sends the acknowledgment of an express message as a recoverable message if the preceding
    acknowledgment was a recoverable message.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.last: DeliveryGuarantee | None = None

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        ack = super().build(message, message_class, now)
        last, self.last = self.last, ack.DeliveryGuarantee
        return replace(ack, DeliveryGuarantee=last) if last is DeliveryGuarantee.RECOVERABLE else ack


@fault("receiver-nack-queue-purged-although-only-pr", breaks="MQQB-3.1.7.2.1-03", blind=True)
class ReceiverNackQueuePurgedAlthoughOnlyPr(FinalAcks):
    """The receiver sends NACK_Q_PURGED for a message that requests only a positive acknowledgment."""

    def position_deleted(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        message = position.MessageReference
        if reason in (PURGED, DELETED) and message.AcknowledgementsRequested & POSITIVE_RECEIVE:
            wanted = message.AcknowledgementsRequested | NEGATIVE_RECEIVE
            position.MessageReference = replace(message, AcknowledgementsRequested=wanted)
        super().position_deleted(position, reason, now)


@fault("receiver-ack-receive-although-only-nr-of-transactional-message", breaks="MQQB-3.1.7.2.1-03", blind=True)
class ReceiverAckReceiveAlthoughOnlyNrOfTransactionalMessage(FinalAcks):
    """The receiver sends ACK_RECEIVE for a transactional message that requests only a negative acknowledgment."""

    def position_deleted(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        message = position.MessageReference
        wanted = message.AcknowledgementsRequested
        if reason is ACK_RECEIVE and wanted & NEGATIVE_RECEIVE and message.TransactionIdentifier is not None:
            position.MessageReference = replace(message, AcknowledgementsRequested=wanted | POSITIVE_RECEIVE)
        super().position_deleted(position, reason, now)


@fault("receiver-nack-receive-timeout-for-first-of-two-messages-only", breaks="MQQB-3.1.7.2.1-D04", blind=True)
class ReceiverNackReceiveTimeoutForFirstOfTwoMessagesOnly(FinalAcks):
    """The receiver sends NACK_RECEIVE_TIMEOUT for only one of the messages that expire in the same second."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.last_s = -1

    def position_deleted(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        if reason is TIMEOUT:
            if self.last_s == now.utc_s:
                return
            self.last_s = now.utc_s
        super().position_deleted(position, reason, now)


@fault("receiver-nack-queue-purged-not-for-transactional-messages", breaks="MQQB-3.1.7.2.1-D03", blind=True)
class ReceiverNackQueuePurgedNotForTransactionalMessages(AdminAcks):
    """The receiver sends no NACK_Q_PURGED for a transactional message."""

    def acknowledge_receive(self, message: Message, reason: MessageClass, now: Now) -> None:
        if reason is not PURGED or message.TransactionIdentifier is None:
            super().acknowledge_receive(message, reason, now)


@fault("receiver-ack-receive-of-message-from-subqueue-omitted", breaks="MQQB-3.1.7.2.1-D01", blind=True)
class ReceiverAckReceiveOfMessageFromSubqueueOmitted(FinalAcks):
    """The receiver sends no ACK_RECEIVE for a message that an application receives from a subqueue."""

    def position_deleted(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        if reason is not ACK_RECEIVE or position.QueueReference.parent is None:
            super().position_deleted(position, reason, now)


@fault("receiver-acknowledgment-only-for-first-administration-queue", breaks="MQQB-3.1.7.2-01", blind=True)
class ReceiverAcknowledgmentOnlyForFirstAdministrationQueue(AdminAcks):
    """The receiver sends the acknowledgments of all messages to the administration queue of the first message."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first: str | None = None

    def acknowledge_receive(self, message: Message, reason: MessageClass, now: Now) -> None:
        self.first = self.first or message.AdministrationQueueFormatName
        super().acknowledge_receive(replace(message, AdministrationQueueFormatName=self.first), reason, now)


@fault("receiver-final-ack-of-expired-message-omitted", breaks="MQQB-3.1.7.2.2-01", blind=True)
class ReceiverFinalAckOfExpiredMessageOmitted(FinalAcks):
    """The receiver sends no FinalAck for a message whose TimeToBeReceived has expired in the queue."""

    def acknowledge_final(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        if reason is not TIMEOUT:
            super().acknowledge_final(position, reason, now)


@fault("receiver-final-ack-of-second-received-message-omitted", breaks="MQQB-3.1.7.2.2-01", blind=True)
class ReceiverFinalAckOfSecondReceivedMessageOmitted(FinalAcks):
    """The receiver sends a FinalAck only for the first message of a sequence that leaves the queue."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.done: set[object] = set()

    def acknowledge_final(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        sequence = position.MessageReference.TransactionalMessageSequenceIdentifier
        if sequence not in self.done:
            super().acknowledge_final(position, reason, now)
        self.done.add(sequence)


@fault("receiver-final-ack-for-fa-alone-omitted", breaks="MQQB-3.1.7.2.2-01", blind=True)
class ReceiverFinalAckForFaAloneOmitted(FinalAcks):
    """The receiver sends no FinalAck for a message with FA set and with JP and JN clear."""

    def acknowledge_final(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        message = position.MessageReference
        if message.PositiveJournalingRequested or message.NegativeJournalingRequested:
            super().acknowledge_final(position, reason, now)
