"""Faults of MS-MQQB 3.1.7.2 Message Position Deleted, 3.1.7.2.1 and 3.1.7.2.2."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.admin_acks import REMOVAL_CLASSES, Change, change_admin_acks
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import skip
from harness.faults.registry import add
from reference_qm.codec import MessageClass, MessagePropertiesHeader
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.positions import Positions
from reference_qm.core.queueing.two_phase_reading import TwoPhaseReading
from reference_qm.core.store.messages import POSITIVE_RECEIVE
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.model.adm import Message, MessagePosition, Queue
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.states import DeliveryGuarantee, MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.surface.clock import Now

# -- administration acknowledgments --------------------------------------------------------------------------------

add(
    "receiver-ack-of-removal-not-sent",
    "MQQB-3.1.7.2-01",
    "The receiver sends no acknowledgment when a message leaves its queue.",
    skip(AdminAcks.acknowledge_receive),
)


@fault("receiver-ack-of-removal-sent-without-request", breaks=("MQQB-3.1.7.2-01", "MQQB-3.1.7.2.1-03"))
class ReceiverAckOfRemovalSentWithoutRequest(Positions):
    """The receiver acknowledges every message that leaves its queue, even if PR and NR of the message are clear."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        asked = message.AcknowledgementsRequested | MessagePropertiesHeader.flags(PR=1, NR=1)
        return super().insert_message(queue, replace(message, AcknowledgementsRequested=asked))


add(
    "receiver-ack-of-removal-express",
    ("MQQB-3.1.7.2.1-01", "MQQB-3.1.7.15-24"),
    "The receiver's acknowledgment of a message that left its queue is always express.",
    change_admin_acks(REMOVAL_CLASSES, lambda ack, message: replace(ack, DeliveryGuarantee=DeliveryGuarantee.EXPRESS)),
)
add(
    "receiver-ack-of-removal-recoverable",
    ("MQQB-3.1.7.2.1-02", "MQQB-3.1.7.15-24"),
    "The receiver's acknowledgment of a message that left its queue is always recoverable.",
    change_admin_acks(
        REMOVAL_CLASSES, lambda ack, message: replace(ack, DeliveryGuarantee=DeliveryGuarantee.RECOVERABLE)
    ),
)

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


def _set_acknowledgment_class(other: MessageClass) -> Change:
    return lambda ack, message: replace(ack, Class=other)


for _name, _rule, _right, _other in _WRONG_ACK_CLASSES:
    _says = f"The receiver's acknowledgment of a message that was {_name} has the class {_other.name}."
    add(
        f"receiver-ack-of-{_name}-message-class-wrong",
        _rule,
        _says,
        change_admin_acks({_right}, _set_acknowledgment_class(_other)),
    )

# -- final acknowledgments -----------------------------------------------------------------------------------------

add(
    "receiver-final-ack-of-removal-not-sent",
    "MQQB-3.1.7.2.2-01",
    "The receiver sends no FinalAck for a transactional message that left its queue.",
    skip(FinalAcks.acknowledge_final),
)


@fault("receiver-final-ack-only-with-jp", breaks="MQQB-3.1.7.2.2-01")
class ReceiverFinalAckOnlyWithJp(FinalAcks):
    """The receiver sends a FinalAck only for messages with JP."""

    def acknowledge_final(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        if position.MessageReference.PositiveJournalingRequested:
            super().acknowledge_final(position, reason, now)


_EXPRESS, _RECOVERABLE = DeliveryGuarantee.EXPRESS, DeliveryGuarantee.RECOVERABLE


def _send_final_ack_once_for_each_queue(reason: MessageClass) -> type[FinalAcks]:
    class OnceForEachQueue(FinalAcks):
        def __init__(self, qm: QueueManager) -> None:
            super().__init__(qm)
            self._told: set[int] = set()

        def position_deleted(self, position: MessagePosition, cause: MessageClass, now: Now) -> None:
            queue = id(position.QueueReference)
            if cause is not reason or queue not in self._told:
                super().position_deleted(position, cause, now)
            if cause is reason:
                self._told.add(queue)

    return OnceForEachQueue


add(
    "receiver-ack-of-deleted-queue-for-first-message-only",
    "MQQB-3.1.7.2.1-D02",
    "The receiver acknowledges only the first message of a deleted queue.",
    replace_part(_send_final_ack_once_for_each_queue(MessageClass.MQMSG_CLASS_NACK_Q_DELETED)),
    blind=True,
)


add(
    "receiver-ack-of-purged-queue-for-first-message-only",
    "MQQB-3.1.7.2.1-D03",
    "The receiver acknowledges only the first message of a purged queue.",
    replace_part(_send_final_ack_once_for_each_queue(MessageClass.MQMSG_CLASS_NACK_Q_PURGED)),
    blind=True,
)


@fault("receiver-nack-of-timed-out-express-message-not-sent", breaks="MQQB-3.1.7.2.1-D04", blind=True)
class ReceiverNackOfTimedOutExpressMessageNotSent(AdminAcks):
    """The receiver does not acknowledge an express message whose TimeToBeReceived has expired."""

    def acknowledge_receive(self, message: Message, reason: MessageClass, now: Now) -> None:
        late = reason is MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT
        if not late or message.DeliveryGuarantee is _RECOVERABLE:
            super().acknowledge_receive(message, reason, now)


@fault("receiver-purged-message-acknowledged-as-received", breaks="MQQB-3.1.7.2.1-D03")
class ReceiverPurgedMessageAcknowledgedAsReceived(TwoPhaseReading):
    """When a message was purged while a remote reader had it locked, the receiver acknowledges the
    message as received.
    """

    def end_with_deletion(self, position: MessagePosition, ended: Callable[[Status], None]) -> None:
        if position.State is MessagePositionState.PURGE_PENDING:
            position.State = MessagePositionState.LOCKED
        super().end_with_deletion(position, ended)


@fault("locked-message-of-deleted-queue-not-acknowledged", breaks="MQQB-3.1.7.2.1-D02")
class LockedMessageOfDeletedQueueNotAcknowledged(Positions):
    """The receiver does not acknowledge a message that a reader has locked when the queue of the message is deleted."""

    def delete_message(self, position: MessagePosition, reason: MessageClass) -> None:
        locked = position.State is MessagePositionState.LOCKED
        if locked and reason == MessageClass.MQMSG_CLASS_NACK_Q_DELETED:
            position.QueueReference.MessagePositionList.remove(position)
            position.State = MessagePositionState.DELETED
        else:
            super().delete_message(position, reason)


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


@fault("receiver-deleted-message-with-pr-and-nr-not-acknowledged", breaks="MQQB-3.1.7.2.1-03")
class ReceiverDeletedMessageWithPrAndNrNotAcknowledged(AdminAcks):
    """When a queue is deleted, the receiver sends no acknowledgment for a message in this queue that has
    both PR and NR set.
    """

    def acknowledge_receive(self, message: Message, reason: MessageClass, now: Now) -> None:
        both = bool(message.AcknowledgementsRequested & POSITIVE_RECEIVE)
        if reason is not MessageClass.MQMSG_CLASS_NACK_Q_DELETED or not both:
            super().acknowledge_receive(message, reason, now)


@fault("receiver-message-of-subqueue-without-final-ack", breaks="MQQB-3.1.7.2.2-01")
class ReceiverMessageOfSubqueueWithoutFinalAck(FinalAcks):
    """The receiver sends no FinalAck for a message that leaves a subqueue."""

    def acknowledge_final(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        if position.QueueReference.parent is None:
            super().acknowledge_final(position, reason, now)
