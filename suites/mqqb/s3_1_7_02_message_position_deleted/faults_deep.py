"""Faults of MS-MQQB 3.1.7.2 Message Position Deleted that only special cases reveal: second occurrences, other causes,
boundary values.
"""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.primitives import at_restart
from harness.faults.registry import add
from reference_qm.codec import MessageClass
from reference_qm.core.part import QM
from reference_qm.core.store.messages import NEGATIVE_RECEIVE, POSITIVE_RECEIVE
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.model.adm import Message, MessagePosition, Queue
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.surface.clock import Now

ACK_RECEIVE = MessageClass.MQMSG_CLASS_ACK_RECEIVE
PURGED = MessageClass.MQMSG_CLASS_NACK_Q_PURGED
DELETED = MessageClass.MQMSG_CLASS_NACK_Q_DELETED
TIMEOUT = MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT


@fault("receiver-nack-receive-timeout-of-recoverable-message-express", breaks="MQQB-3.1.7.2.1-01", blind=True)
class ReceiverNackReceiveTimeoutOfRecoverableMessageExpress(AdminAcks):
    """The receiver sends NACK_RECEIVE_TIMEOUT for a recoverable message as an express message."""

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        ack = super().build(message, message_class, now)
        return replace(ack, DeliveryGuarantee=DeliveryGuarantee.EXPRESS) if message_class is TIMEOUT else ack


@fault("receiver-nack-queue-deleted-of-express-message-recoverable", breaks="MQQB-3.1.7.2.1-02", blind=True)
class ReceiverNackQueueDeletedOfExpressMessageRecoverable(AdminAcks):
    """The receiver sends NACK_Q_DELETED for an express message as a recoverable message."""

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        ack = super().build(message, message_class, now)
        return replace(ack, DeliveryGuarantee=DeliveryGuarantee.RECOVERABLE) if message_class is DELETED else ack


@fault("receiver-nack-receive-timeout-although-only-pr", breaks="MQQB-3.1.7.2.1-03", blind=True)
class ReceiverNackReceiveTimeoutAlthoughOnlyPr(FinalAcks):
    """The receiver sends NACK_RECEIVE_TIMEOUT for a message that requests only a positive acknowledgment."""

    def position_deleted(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        message = position.MessageReference
        if reason is TIMEOUT and message.AcknowledgementsRequested & POSITIVE_RECEIVE:
            wanted = message.AcknowledgementsRequested | NEGATIVE_RECEIVE
            position.MessageReference = replace(message, AcknowledgementsRequested=wanted)
        super().position_deleted(position, reason, now)


@fault("receiver-ack-receive-of-second-message-omitted", breaks="MQQB-3.1.7.2.1-D01", blind=True)
class ReceiverAckReceiveOfSecondMessageOmitted(AdminAcks):
    """The receiver acknowledges the receipt only of the first message that an application receives from a queue."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.done: set[str] = set()

    def acknowledge_receive(self, message: Message, reason: MessageClass, now: Now) -> None:
        if reason is ACK_RECEIVE:
            if message.DestinationQueueFormatName in self.done:
                return
            self.done.add(message.DestinationQueueFormatName)
        super().acknowledge_receive(message, reason, now)


@fault("receiver-ack-receive-of-transactional-message-omitted", breaks="MQQB-3.1.7.2.1-D01", blind=True)
class ReceiverAckReceiveOfTransactionalMessageOmitted(AdminAcks):
    """The receiver does not acknowledge the receipt of a transactional message."""

    def acknowledge_receive(self, message: Message, reason: MessageClass, now: Now) -> None:
        if reason is not ACK_RECEIVE or message.TransactionIdentifier is None:
            super().acknowledge_receive(message, reason, now)


@fault("receiver-nack-queue-deleted-for-first-message-only", breaks="MQQB-3.1.7.2.1-D02", blind=True)
class ReceiverNackQueueDeletedForFirstMessageOnly(FinalAcks):
    """The receiver sends NACK_Q_DELETED only for the first message of a deleted queue."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.last: Queue | None = None

    def position_deleted(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        if reason is DELETED:
            if self.last is position.QueueReference:
                return
            self.last = position.QueueReference
        super().position_deleted(position, reason, now)


@fault("receiver-nack-queue-purged-for-first-message-only", breaks="MQQB-3.1.7.2.1-D03", blind=True)
class ReceiverNackQueuePurgedForFirstMessageOnly(FinalAcks):
    """The receiver sends NACK_Q_PURGED only for the first message of a purged queue."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.last: Queue | None = None

    def position_deleted(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        if reason is PURGED:
            if self.last is position.QueueReference:
                return
            self.last = position.QueueReference
        super().position_deleted(position, reason, now)


@fault("receiver-nack-receive-timeout-of-express-message-omitted", breaks="MQQB-3.1.7.2.1-D04", blind=True)
class ReceiverNackReceiveTimeoutOfExpressMessageOmitted(AdminAcks):
    """The receiver sends no NACK_RECEIVE_TIMEOUT for an express message."""

    def acknowledge_receive(self, message: Message, reason: MessageClass, now: Now) -> None:
        if reason is not TIMEOUT or message.DeliveryGuarantee is DeliveryGuarantee.RECOVERABLE:
            super().acknowledge_receive(message, reason, now)


def _forget_final_acks(qm: QM) -> None:
    for queue in qm.queue_names.every_queue():
        for position in queue.MessagePositionList:
            position.order_queue = None


add(
    "receiver-final-ack-missing-after-restart",
    "MQQB-3.1.7.2.2-01",
    "The receiver sends no FinalAck for a message that it stored before its last restart.",
    at_restart(_forget_final_acks),
    blind=True,
)


@fault("receiver-final-ack-for-jp-after-receive-only", breaks="MQQB-3.1.7.2.2-01", blind=True)
class ReceiverFinalAckForJpAfterReceiveOnly(FinalAcks):
    """For a message with JP but without JN, the receiver sends a FinalAck only if an application received the
    message.
    """

    def acknowledge_final(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        message = position.MessageReference
        positive = message.PositiveJournalingRequested and not message.NegativeJournalingRequested
        if reason is ACK_RECEIVE or not positive:
            super().acknowledge_final(position, reason, now)


@fault("receiver-administration-acknowledgment-omitted-beside-final-ack", breaks="MQQB-3.1.7.2-01", blind=True)
class ReceiverAdministrationAcknowledgmentOmittedBesideFinalAck(FinalAcks):
    """The receiver sends no administration acknowledgment for a message for which it also sends a FinalAck."""

    def position_deleted(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        if position.order_queue is not None:
            position.MessageReference = replace(position.MessageReference, AdministrationQueueFormatName=None)
        super().position_deleted(position, reason, now)
