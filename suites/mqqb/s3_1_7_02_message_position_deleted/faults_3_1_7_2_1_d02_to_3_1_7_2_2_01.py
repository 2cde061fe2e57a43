"""Faults that break the rules MQQB-3.1.7.2.1-D02 to MQQB-3.1.7.2.2-01."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import change_core_at_restart, omit_step
from harness.faults.registry import add
from reference_qm.codec import MessageClass
from reference_qm.core.part import QM
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.queueing.two_phase_reading import TwoPhaseReading
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.model.adm import Message, MessagePosition, Queue
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.states import DeliveryGuarantee, MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.surface.clock import Now
from suites.mqqb.s3_1_7_02_message_position_deleted.fault_steps import (
    ACK_RECEIVE_CLASS,
    NACK_DELETED_CLASS,
    NACK_PURGED_CLASS,
    NACK_RECEIVE_TIMEOUT_CLASS,
)


def _send_final_ack_once_for_each_queue(reason: MessageClass) -> type[FinalAcks]:
    class FinalAckOncePerQueue(FinalAcks):
        def __init__(self, qm: QueueManager) -> None:
            super().__init__(qm)
            self._told: set[int] = set()

        def on_message_position_deleted(self, position: MessagePosition, cause: MessageClass, now: Now) -> None:
            queue = id(position.QueueReference)
            if cause is not reason or queue not in self._told:
                super().on_message_position_deleted(position, cause, now)
            if cause is reason:
                self._told.add(queue)

    return FinalAckOncePerQueue


add(
    "receiver-ack-of-deleted-queue-for-first-message-only",
    "MQQB-3.1.7.2.1-D02",
    "The receiver acknowledges only the first message of a deleted queue.",
    replace_part(_send_final_ack_once_for_each_queue(MessageClass.MQMSG_CLASS_NACK_Q_DELETED)),
    blind=True,
)


@fault("locked-message-of-deleted-queue-not-acknowledged", breaks="MQQB-3.1.7.2.1-D02")
class LockedMessageOfDeletedQueueNotAcknowledged(MessagePositions):
    """When a queue is deleted, the receiver does not acknowledge a message of the queue that a reader has locked."""

    def delete_message(self, position: MessagePosition, reason: MessageClass) -> None:
        locked = position.State is MessagePositionState.LOCKED
        if locked and reason == MessageClass.MQMSG_CLASS_NACK_Q_DELETED:
            position.QueueReference.MessagePositionList.remove(position)
            position.State = MessagePositionState.DELETED
        else:
            super().delete_message(position, reason)


@fault("receiver-nack-queue-deleted-for-first-message-only", breaks="MQQB-3.1.7.2.1-D02", blind=True)
class ReceiverNackQueueDeletedForFirstMessageOnly(FinalAcks):
    """The receiver sends NACK_Q_DELETED only for the first message of a deleted queue."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.last: Queue | None = None

    def on_message_position_deleted(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        if reason is NACK_DELETED_CLASS:
            if self.last is position.QueueReference:
                return
            self.last = position.QueueReference
        super().on_message_position_deleted(position, reason, now)


add(
    "receiver-ack-of-purged-queue-for-first-message-only",
    "MQQB-3.1.7.2.1-D03",
    "The receiver acknowledges only the first message of a purged queue.",
    replace_part(_send_final_ack_once_for_each_queue(MessageClass.MQMSG_CLASS_NACK_Q_PURGED)),
    blind=True,
)


@fault("message-purged-while-read-remotely-counts-as-received", breaks="MQQB-3.1.7.2.1-D03")
class MessagePurgedWhileReadRemotelyCountsAsReceived(TwoPhaseReading):
    """When a receive of a message succeeds after its queue was purged, the receiver acknowledges the
    message as received.
    """

    def dequeue_message_end(
        self,
        queue_desc: OpenQueueDescriptor,
        position: MessagePosition,
        delete_message: bool,
        ended: Callable[[Status], None],
        transactional: bool = False,
    ) -> None:
        if delete_message and position.State is MessagePositionState.PURGE_PENDING:
            position.State = MessagePositionState.LOCKED
        super().dequeue_message_end(queue_desc, position, delete_message, ended, transactional)


@fault("receiver-nack-queue-purged-for-first-message-only", breaks="MQQB-3.1.7.2.1-D03", blind=True)
class ReceiverNackQueuePurgedForFirstMessageOnly(FinalAcks):
    """The receiver sends NACK_Q_PURGED only for the first message of a purged queue."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.last: Queue | None = None

    def on_message_position_deleted(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        if reason is NACK_PURGED_CLASS:
            if self.last is position.QueueReference:
                return
            self.last = position.QueueReference
        super().on_message_position_deleted(position, reason, now)


@fault("receiver-nack-queue-purged-not-for-transactional-messages", breaks="MQQB-3.1.7.2.1-D03", blind=True)
class ReceiverNackQueuePurgedNotForTransactionalMessages(AdminAcks):
    """The receiver sends no acknowledgment of class NACK_Q_PURGED for a transactional message."""

    def acknowledge_receive(self, message: Message, reason: MessageClass, now: Now) -> None:
        if reason is not NACK_PURGED_CLASS or message.TransactionIdentifier is None:
            super().acknowledge_receive(message, reason, now)


_RECOVERABLE_DELIVERY = DeliveryGuarantee.RECOVERABLE


@fault("receiver-nack-of-timed-out-express-message-not-sent", breaks="MQQB-3.1.7.2.1-D04", blind=True)
class ReceiverNackOfTimedOutExpressMessageNotSent(AdminAcks):
    """The receiver does not acknowledge an express message whose TimeToBeReceived has expired."""

    def acknowledge_receive(self, message: Message, reason: MessageClass, now: Now) -> None:
        late = reason is MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT
        if not late or message.DeliveryGuarantee is _RECOVERABLE_DELIVERY:
            super().acknowledge_receive(message, reason, now)


@fault("receiver-nack-receive-timeout-of-express-message-omitted", breaks="MQQB-3.1.7.2.1-D04", blind=True)
class ReceiverNackReceiveTimeoutOfExpressMessageOmitted(AdminAcks):
    """The receiver sends no acknowledgment of class NACK_RECEIVE_TIMEOUT for an express message."""

    def acknowledge_receive(self, message: Message, reason: MessageClass, now: Now) -> None:
        if reason is not NACK_RECEIVE_TIMEOUT_CLASS or message.DeliveryGuarantee is DeliveryGuarantee.RECOVERABLE:
            super().acknowledge_receive(message, reason, now)


@fault("receiver-nack-receive-timeout-for-first-of-two-messages-only", breaks="MQQB-3.1.7.2.1-D04", blind=True)
class ReceiverNackReceiveTimeoutForFirstOfTwoMessagesOnly(FinalAcks):
    """The receiver sends NACK_RECEIVE_TIMEOUT for only one of the messages that expire in the same second."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.last_s = -1

    def on_message_position_deleted(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        if reason is NACK_RECEIVE_TIMEOUT_CLASS:
            if self.last_s == now.utc_s:
                return
            self.last_s = now.utc_s
        super().on_message_position_deleted(position, reason, now)


add(
    "receiver-final-ack-of-removal-not-sent",
    "MQQB-3.1.7.2.2-01",
    "The receiver sends no FinalAck for a transactional message that left its queue.",
    omit_step(FinalAcks.send_final_ack_of_message),
)


@fault("receiver-final-ack-only-for-message-with-jp-flag", breaks="MQQB-3.1.7.2.2-01")
class ReceiverFinalAckOnlyForMessageWithJpFlag(FinalAcks):
    """The receiver sends a FinalAck only for messages with JP."""

    def send_final_ack_of_message(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        if position.MessageReference.PositiveJournalingRequested:
            super().send_final_ack_of_message(position, reason, now)


@fault("receiver-message-of-subqueue-without-final-ack", breaks="MQQB-3.1.7.2.2-01")
class ReceiverMessageOfSubqueueWithoutFinalAck(FinalAcks):
    """The receiver sends no FinalAck for a message that leaves a subqueue."""

    def send_final_ack_of_message(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        if position.QueueReference.parent is None:
            super().send_final_ack_of_message(position, reason, now)


def _clear_order_queue_of_messages(qm: QM) -> None:
    for queue in qm.queue_names.list_every_queue():
        for position in queue.MessagePositionList:
            position.order_queue = None


add(
    "receiver-final-ack-missing-after-restart",
    "MQQB-3.1.7.2.2-01",
    "The receiver sends no FinalAck for a message that it stored before its last restart.",
    change_core_at_restart(_clear_order_queue_of_messages),
    blind=True,
)


@fault("receiver-final-ack-for-message-with-jp-only-after-receive", breaks="MQQB-3.1.7.2.2-01", blind=True)
class ReceiverFinalAckForMessageWithJpOnlyAfterReceive(FinalAcks):
    """For a message with JP but without JN, the receiver sends a FinalAck only if an application received the
    message.
    """

    def send_final_ack_of_message(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        message = position.MessageReference
        positive = message.PositiveJournalingRequested and not message.NegativeJournalingRequested
        if reason is ACK_RECEIVE_CLASS or not positive:
            super().send_final_ack_of_message(position, reason, now)


@fault("receiver-final-ack-of-expired-message-omitted", breaks="MQQB-3.1.7.2.2-01", blind=True)
class ReceiverFinalAckOfExpiredMessageOmitted(FinalAcks):
    """The receiver sends no FinalAck for a message whose TimeToBeReceived has expired in the queue."""

    def send_final_ack_of_message(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        if reason is not NACK_RECEIVE_TIMEOUT_CLASS:
            super().send_final_ack_of_message(position, reason, now)


@fault("receiver-final-ack-of-second-received-message-omitted", breaks="MQQB-3.1.7.2.2-01", blind=True)
class ReceiverFinalAckOfSecondReceivedMessageOmitted(FinalAcks):
    """The receiver sends a FinalAck only for the first message of a sequence that leaves the queue."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.done: set[object] = set()

    def send_final_ack_of_message(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        sequence = position.MessageReference.TransactionalMessageSequenceIdentifier
        if sequence not in self.done:
            super().send_final_ack_of_message(position, reason, now)
        self.done.add(sequence)


@fault("receiver-final-ack-omitted-for-message-with-only-fa-flag", breaks="MQQB-3.1.7.2.2-01", blind=True)
class ReceiverFinalAckOmittedForMessageWithOnlyFaFlag(FinalAcks):
    """The receiver sends no FinalAck for a message with FA set and with JP and JN clear."""

    def send_final_ack_of_message(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        message = position.MessageReference
        if message.PositiveJournalingRequested or message.NegativeJournalingRequested:
            super().send_final_ack_of_message(position, reason, now)
