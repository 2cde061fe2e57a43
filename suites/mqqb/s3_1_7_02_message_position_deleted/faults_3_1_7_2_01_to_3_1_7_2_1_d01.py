"""Faults that break the rules MQQB-3.1.7.2-01 to MQQB-3.1.7.2.1-D01."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.admin_acks import QUEUE_REMOVAL_ACK_CLASSES, ChangeAcknowledgmentMessage, change_admin_acks
from harness.faults.parts import fault
from harness.faults.primitives import omit_step
from harness.faults.registry import add
from reference_qm.codec import MessageClass, MessagePropertiesHeader
from reference_qm.core.part import QM
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.store.messages import NEGATIVE_RECEIVE_FLAG, POSITIVE_RECEIVE_FLAG
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.model.adm import Message, MessagePosition, Queue
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.surface.clock import Now
from suites.mqqb.s3_1_7_02_message_position_deleted.fault_steps import (
    ACK_RECEIVE_CLASS,
    NACK_DELETED_CLASS,
    NACK_PURGED_CLASS,
    NACK_RECEIVE_TIMEOUT_CLASS,
)

add(
    "receiver-ack-of-removal-not-sent",
    "MQQB-3.1.7.2-01",
    "The receiver sends no acknowledgment when a message leaves its queue.",
    omit_step(AdminAcks.acknowledge_receive),
)


@fault("receiver-ack-of-removal-sent-without-request", breaks=("MQQB-3.1.7.2-01", "MQQB-3.1.7.2.1-03"))
class ReceiverAckOfRemovalSentWithoutRequest(MessagePositions):
    """The receiver acknowledges every message that leaves its queue, even if PR and NR of the message are clear."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        asked = message.AcknowledgementsRequested | MessagePropertiesHeader.flags(PR=1, NR=1)
        return super().insert_message(queue, replace(message, AcknowledgementsRequested=asked))


@fault("receiver-administration-acknowledgment-omitted-beside-final-ack", breaks="MQQB-3.1.7.2-01", blind=True)
class ReceiverAdministrationAcknowledgmentOmittedBesideFinalAck(FinalAcks):
    """The receiver sends no administration acknowledgment for a message for which it also sends a FinalAck."""

    def on_message_position_deleted(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        if position.order_queue is not None:
            position.MessageReference = replace(position.MessageReference, AdministrationQueueFormatName=None)
        super().on_message_position_deleted(position, reason, now)


@fault("receiver-sends-all-acks-to-admin-queue-of-first-message", breaks="MQQB-3.1.7.2-01", blind=True)
class ReceiverSendsAllAcksToAdminQueueOfFirstMessage(AdminAcks):
    """The receiver sends the acknowledgments of all messages to the administration queue of the first message."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first: str | None = None

    def acknowledge_receive(self, message: Message, reason: MessageClass, now: Now) -> None:
        self.first = self.first or message.AdministrationQueueFormatName
        super().acknowledge_receive(replace(message, AdministrationQueueFormatName=self.first), reason, now)


add(
    "receiver-ack-of-removal-express",
    ("MQQB-3.1.7.2.1-01", "MQQB-3.1.7.15-24"),
    "The receiver's acknowledgment of a message that left its queue is always express.",
    change_admin_acks(
        QUEUE_REMOVAL_ACK_CLASSES, lambda ack, message: replace(ack, DeliveryGuarantee=DeliveryGuarantee.EXPRESS)
    ),
)


@fault("receiver-nack-receive-timeout-of-recoverable-message-is-express", breaks="MQQB-3.1.7.2.1-01", blind=True)
class ReceiverNackReceiveTimeoutOfRecoverableMessageIsExpress(AdminAcks):
    """The receiver sends NACK_RECEIVE_TIMEOUT for a recoverable message as an express message."""

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        ack = super().build(message, message_class, now)
        return (
            replace(ack, DeliveryGuarantee=DeliveryGuarantee.EXPRESS)
            if message_class is NACK_RECEIVE_TIMEOUT_CLASS
            else ack
        )


@fault("receiver-ack-of-recoverable-message-has-delivery-of-preceding-ack", breaks="MQQB-3.1.7.2.1-01", blind=True)
class ReceiverAckOfRecoverableMessageHasDeliveryOfPrecedingAck(AdminAcks):
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


add(
    "receiver-ack-of-removal-recoverable",
    ("MQQB-3.1.7.2.1-02", "MQQB-3.1.7.15-24"),
    "The receiver's acknowledgment of a message that left its queue is always recoverable.",
    change_admin_acks(
        QUEUE_REMOVAL_ACK_CLASSES, lambda ack, message: replace(ack, DeliveryGuarantee=DeliveryGuarantee.RECOVERABLE)
    ),
)


@fault("receiver-nack-queue-deleted-of-express-message-is-recoverable", breaks="MQQB-3.1.7.2.1-02", blind=True)
class ReceiverNackQueueDeletedOfExpressMessageIsRecoverable(AdminAcks):
    """The receiver sends NACK_Q_DELETED for an express message as a recoverable message."""

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        ack = super().build(message, message_class, now)
        return (
            replace(ack, DeliveryGuarantee=DeliveryGuarantee.RECOVERABLE)
            if message_class is NACK_DELETED_CLASS
            else ack
        )


@fault("receiver-ack-of-express-message-has-delivery-of-preceding-ack", breaks="MQQB-3.1.7.2.1-02", blind=True)
class ReceiverAckOfExpressMessageHasDeliveryOfPrecedingAck(AdminAcks):
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


@fault("receiver-deleted-message-with-pr-and-nr-not-acknowledged", breaks="MQQB-3.1.7.2.1-03")
class ReceiverDeletedMessageWithPrAndNrNotAcknowledged(AdminAcks):
    """When a queue is deleted, the receiver sends no acknowledgment for a message in this queue that has
    both PR and NR set.
    """

    def acknowledge_receive(self, message: Message, reason: MessageClass, now: Now) -> None:
        both = bool(message.AcknowledgementsRequested & POSITIVE_RECEIVE_FLAG)
        if reason is not MessageClass.MQMSG_CLASS_NACK_Q_DELETED or not both:
            super().acknowledge_receive(message, reason, now)


@fault("receiver-nack-receive-timeout-sent-for-message-with-only-pr", breaks="MQQB-3.1.7.2.1-03", blind=True)
class ReceiverNackReceiveTimeoutSentForMessageWithOnlyPr(FinalAcks):
    """The receiver sends NACK_RECEIVE_TIMEOUT for a message that requests only a positive acknowledgment."""

    def on_message_position_deleted(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        message = position.MessageReference
        if reason is NACK_RECEIVE_TIMEOUT_CLASS and message.AcknowledgementsRequested & POSITIVE_RECEIVE_FLAG:
            wanted = message.AcknowledgementsRequested | NEGATIVE_RECEIVE_FLAG
            position.MessageReference = replace(message, AcknowledgementsRequested=wanted)
        super().on_message_position_deleted(position, reason, now)


@fault("receiver-nack-queue-purged-sent-for-message-with-only-pr", breaks="MQQB-3.1.7.2.1-03", blind=True)
class ReceiverNackQueuePurgedSentForMessageWithOnlyPr(FinalAcks):
    """The receiver sends NACK_Q_PURGED for a message that requests only a positive acknowledgment."""

    def on_message_position_deleted(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        message = position.MessageReference
        if (
            reason in (NACK_PURGED_CLASS, NACK_DELETED_CLASS)
            and message.AcknowledgementsRequested & POSITIVE_RECEIVE_FLAG
        ):
            wanted = message.AcknowledgementsRequested | NEGATIVE_RECEIVE_FLAG
            position.MessageReference = replace(message, AcknowledgementsRequested=wanted)
        super().on_message_position_deleted(position, reason, now)


@fault("receiver-ack-receive-sent-for-transactional-message-with-only-nr", breaks="MQQB-3.1.7.2.1-03", blind=True)
class ReceiverAckReceiveSentForTransactionalMessageWithOnlyNr(FinalAcks):
    """The receiver sends ACK_RECEIVE for a transactional message that requests only a negative acknowledgment."""

    def on_message_position_deleted(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        message = position.MessageReference
        wanted = message.AcknowledgementsRequested
        if reason is ACK_RECEIVE_CLASS and wanted & NEGATIVE_RECEIVE_FLAG and message.TransactionIdentifier is not None:
            position.MessageReference = replace(message, AcknowledgementsRequested=wanted | POSITIVE_RECEIVE_FLAG)
        super().on_message_position_deleted(position, reason, now)


_WRONG_ACK_CLASSES = (
    ("received", "MQQB-3.1.7.2.1-D01", MessageClass.MQMSG_CLASS_ACK_RECEIVE, MessageClass.MQMSG_CLASS_ACK_REACH_QUEUE),
    ("deleted", "MQQB-3.1.7.2.1-D02", MessageClass.MQMSG_CLASS_NACK_Q_DELETED, MessageClass.MQMSG_CLASS_NACK_Q_PURGED),
    ("purged", "MQQB-3.1.7.2.1-D03", MessageClass.MQMSG_CLASS_NACK_Q_PURGED, MessageClass.MQMSG_CLASS_NACK_DELETED),
    (
        "expired",
        "MQQB-3.1.7.2.1-D04",
        MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT,
        MessageClass.MQMSG_CLASS_NACK_REACH_QUEUE_TIMEOUT,
    ),
)


def _set_acknowledgment_class(other: MessageClass) -> ChangeAcknowledgmentMessage:
    return lambda ack, message: replace(ack, Class=other)


for _name, _rule, _right, _other in _WRONG_ACK_CLASSES:
    _says = f"The receiver's acknowledgment of a message that was {_name} has the class {_other.name}."
    add(
        f"receiver-ack-of-{_name}-message-class-wrong",
        _rule,
        _says,
        change_admin_acks({_right}, _set_acknowledgment_class(_other)),
    )


@fault("receiver-ack-receive-of-second-message-omitted", breaks="MQQB-3.1.7.2.1-D01", blind=True)
class ReceiverAckReceiveOfSecondMessageOmitted(AdminAcks):
    """The receiver acknowledges the receipt only of the first message that an application receives from a queue."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.done: set[str] = set()

    def acknowledge_receive(self, message: Message, reason: MessageClass, now: Now) -> None:
        if reason is ACK_RECEIVE_CLASS:
            if message.DestinationQueueFormatName in self.done:
                return
            self.done.add(message.DestinationQueueFormatName)
        super().acknowledge_receive(message, reason, now)


@fault("receiver-ack-receive-of-transactional-message-omitted", breaks="MQQB-3.1.7.2.1-D01", blind=True)
class ReceiverAckReceiveOfTransactionalMessageOmitted(AdminAcks):
    """The receiver does not acknowledge the receipt of a transactional message."""

    def acknowledge_receive(self, message: Message, reason: MessageClass, now: Now) -> None:
        if reason is not ACK_RECEIVE_CLASS or message.TransactionIdentifier is None:
            super().acknowledge_receive(message, reason, now)


@fault("receiver-ack-receive-of-message-from-subqueue-omitted", breaks="MQQB-3.1.7.2.1-D01", blind=True)
class ReceiverAckReceiveOfMessageFromSubqueueOmitted(FinalAcks):
    """The receiver sends no ACK_RECEIVE for a message that an application receives from a subqueue."""

    def on_message_position_deleted(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        if reason is not ACK_RECEIVE_CLASS or position.QueueReference.parent is None:
            super().on_message_position_deleted(position, reason, now)
