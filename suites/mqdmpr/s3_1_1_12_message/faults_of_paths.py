"""Faults of MS-MQDMPR 3.1.1.12 Message that affect only one path of messages: local sending, moves, journals, dead
letters or restarts.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.parts import fault, only_if
from harness.faults.primitives import at_restart
from harness.faults.registry import add
from reference_qm.codec import MessageClass
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.journaling import Journaling
from reference_qm.core.queueing.lifetimes import Lifetimes
from reference_qm.core.queueing.positions import Positions
from reference_qm.core.queueing.seeking import Seeking
from reference_qm.core.queueing.transaction_events import TransactionEvents
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.sending import Sending
from reference_qm.directory.enums import QueueType
from reference_qm.model.adm import MessagePosition, OutgoingQueue, Queue
from reference_qm.model.enums import MessageSeekAction
from reference_qm.model.message import Message
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.model.statuses import Status
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now

NACK_RECEIVE_TIMEOUT = MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT


class _InsertedMessageChanged(Positions):
    """Change the messages of other queue managers and of local applications when they enter a queue."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        return super().insert_message(queue, self.change_message(message))

    def change_message(self, message: Message) -> Message:
        """Return the message to insert."""
        raise NotImplementedError


class _LocalMessageChanged(Positions):
    """Change the messages that local applications send to local queues."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        if message.Identifier.QueueManagerGuid == self.qm.adm.Identifier:
            message = self.change_message(message)
        return super().insert_message(queue, message)

    def change_message(self, message: Message) -> Message:
        """Return the message to insert."""
        raise NotImplementedError


class _MovedMessageChanged(Positions):
    """Change the messages that are moved between a queue and its subqueues, or into a system queue."""

    def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
        position.MessageReference = self.change_message(position.MessageReference, queue)
        return super().move_message(position, queue)

    def change_message(self, message: Message, queue: Queue) -> Message:
        """Return the message to move."""
        raise NotImplementedError


@fault("receiver-application-tag-above-31-bits-cut", breaks="MQDMPR-3.1.1.12-31", blind=True)
class ReceiverApplicationTagAbove31BitsCut(_InsertedMessageChanged):
    """The queue manager clears the highest bit of an ApplicationTag."""

    def change_message(self, message: Message) -> Message:
        return replace(message, AppSpecific=message.AppSpecific & 0x7FFFFFFF)


@fault("local-message-without-application-tag", breaks="MQDMPR-3.1.1.12-31", blind=True)
class LocalMessageWithoutApplicationTag(_LocalMessageChanged):
    """A message that a local application sends to a local queue has the ApplicationTag 0."""

    def change_message(self, message: Message) -> Message:
        return replace(message, AppSpecific=0)


@fault("dead-letter-without-application-tag", breaks="MQDMPR-3.1.1.12-31", blind=True)
class DeadLetterWithoutApplicationTag(_MovedMessageChanged):
    """A message in a dead-letter queue or in the system journal has the ApplicationTag 0."""

    def change_message(self, message: Message, queue: Queue) -> Message:
        return replace(message, AppSpecific=0) if queue.QueueType is QueueType.SYSTEM else message


@fault("stored-body-without-trailing-zeros", breaks="MQDMPR-3.1.1.12-32", blind=True)
class StoredBodyWithoutTrailingZeros(_InsertedMessageChanged):
    """The queue manager removes zeros from the end of a body."""

    def change_message(self, message: Message) -> Message:
        return replace(message, Body=message.Body.rstrip(b"\0"))


@fault("moved-message-body-cut-to-4-kilobytes", breaks="MQDMPR-3.1.1.12-32", blind=True)
class MovedMessageBodyCutTo4Kilobytes(_MovedMessageChanged):
    """When a message is moved, the queue manager keeps only the first 4,096 bytes of the message's body."""

    def change_message(self, message: Message, queue: Queue) -> Message:
        return replace(message, Body=message.Body[:4096])


@fault("receiver-body-type-of-16-bits", breaks="MQDMPR-3.1.1.12-33", blind=True)
class ReceiverBodyTypeOf16Bits(_InsertedMessageChanged):
    """The queue manager stores only the lower 16 bits of a BodyType."""

    def change_message(self, message: Message) -> Message:
        return replace(message, BodyType=message.BodyType & 0xFFFF)


@fault("moved-message-with-body-type-0", breaks="MQDMPR-3.1.1.12-33", blind=True)
class MovedMessageWithBodyType0(_MovedMessageChanged):
    """When a message is moved to a subqueue, the queue manager sets the message's BodyType to 0."""

    def change_message(self, message: Message, queue: Queue) -> Message:
        return replace(message, BodyType=0) if queue.parent is not None else message


@fault("moved-message-without-correlation", breaks="MQDMPR-3.1.1.12-34", blind=True)
class MovedMessageWithoutCorrelation(_MovedMessageChanged):
    """When a message is moved to a subqueue, the queue manager clears the message's CorrelationIdentifier."""

    def change_message(self, message: Message, queue: Queue) -> Message:
        return replace(message, CorrelationIdentifier=bytes(20)) if queue.parent is not None else message


@fault("receiver-label-without-outer-spaces", breaks="MQDMPR-3.1.1.12-46", blind=True)
class ReceiverLabelWithoutOuterSpaces(_InsertedMessageChanged):
    """The queue manager removes spaces from the beginning and the end of a label."""

    def change_message(self, message: Message) -> Message:
        return replace(message, Label=message.Label.strip())


@fault("local-message-label-cut-to-124-characters", breaks="MQDMPR-3.1.1.12-46", blind=True)
class LocalMessageLabelCutTo124Characters(_LocalMessageChanged):
    """The label of a message that a local application sends to a local queue has at most 124 characters."""

    def change_message(self, message: Message) -> Message:
        return replace(message, Label=message.Label[:124])


@fault("moved-message-without-extension", breaks="MQDMPR-3.1.1.12-57", blind=True)
class MovedMessageWithoutExtension(_MovedMessageChanged):
    """When a message is moved to a subqueue, the queue manager drops the message's Extension."""

    def change_message(self, message: Message, queue: Queue) -> Message:
        return replace(message, Extension=b"") if queue.parent is not None else message


@fault("express-message-not-in-system-journal", breaks="MQDMPR-3.1.1.12-21", blind=True)
class ExpressMessageNotInSystemJournal(Journaling):
    """The sender does not journal a delivered express message with PositiveJournalingRequested."""

    @only_if(lambda part, position: position.MessageReference.DeliveryGuarantee is DeliveryGuarantee.EXPRESS)
    def journal_delivered(self, position: MessagePosition) -> None:
        return


@fault("message-to-several-queues-journaled-once", breaks="MQDMPR-3.1.1.12-21", blind=True)
class MessageToSeveralQueuesJournaledOnce(Journaling):
    """Of the copies of a message to several queues, the sender journals only the copy for the first queue."""

    def journal_delivered(self, position: MessagePosition) -> None:
        message = position.MessageReference
        several = (message.DestinationMultiQueueFormatName or "").lower()
        if not several or several.startswith(message.DestinationQueueFormatName.lower()):
            super().journal_delivered(position)


@fault("message-with-both-journals-not-dead-letter", breaks="MQDMPR-3.1.1.12-24", blind=True)
class MessageWithBothJournalsNotDeadLetter(Journaling):
    """The sender does not store an undelivered message as a dead letter if it also requests positive journaling."""

    @only_if(lambda part, position: position.MessageReference.PositiveJournalingRequested)
    def journal_failed(self, position: MessagePosition) -> None:
        return


@fault("delivered-message-with-negative-journaling-journaled", breaks="MQDMPR-3.1.1.12-23", blind=True)
class DeliveredMessageWithNegativeJournalingJournaled(Journaling):
    """The sender journals a delivered message that requests only negative journaling."""

    def journal_delivered(self, position: MessagePosition) -> None:
        message = position.MessageReference
        if message.NegativeJournalingRequested and not message.PositiveJournalingRequested:
            position.MessageReference = replace(message, PositiveJournalingRequested=True)
        super().journal_delivered(position)
        position.MessageReference = message


@fault("undelivered-message-with-positive-journaling-dead-letter", breaks="MQDMPR-3.1.1.12-26", blind=True)
class UndeliveredMessageWithPositiveJournalingDeadLetter(Journaling):
    """The sender stores an undelivered message that requests only positive journaling as a dead letter."""

    def journal_failed(self, position: MessagePosition) -> None:
        message = position.MessageReference
        if message.PositiveJournalingRequested:
            position.MessageReference = replace(message, NegativeJournalingRequested=True)
        super().journal_failed(position)


@fault("transactional-message-refused-not-dead-letter", breaks="MQDMPR-3.1.1.12-24", blind=True)
class TransactionalMessageRefusedNotDeadLetter(FinalAcks):
    """The sender does not store a transactional message as a dead letter if the receiver reports that the message was
    removed unread from its queue.
    """

    def journal_completed(self, position: Any, message_class: int) -> None:
        removed = (MessageClass.MQMSG_CLASS_NACK_Q_PURGED, MessageClass.MQMSG_CLASS_NACK_Q_DELETED)
        if message_class not in removed:
            super().journal_completed(position, message_class)


@fault("transactional-message-deleted-with-queue-counts-as-delivered", breaks="MQDMPR-3.1.1.12-24", blind=True)
class TransactionalMessageDeletedWithQueueCountsAsDelivered(FinalAcks):
    """When the queue of a transactional message is deleted, the sender journals the message as if it had been
    delivered.
    """

    def journal_completed(self, position: Any, message_class: int) -> None:
        if message_class == MessageClass.MQMSG_CLASS_NACK_Q_DELETED:
            message_class = MessageClass.MQMSG_CLASS_ACK_RECEIVE
        super().journal_completed(position, message_class)


@fault("receiver-expired-express-message-not-acknowledged", breaks="MQDMPR-3.1.1.12-D25", blind=True)
class ReceiverExpiredExpressMessageNotAcknowledged(AdminAcks):
    """The receiver does not acknowledge express messages that expire in their queue."""

    @only_if(
        lambda part, message, reason, now: (
            reason is NACK_RECEIVE_TIMEOUT and message.DeliveryGuarantee is DeliveryGuarantee.EXPRESS
        )
    )
    def acknowledge_receive(self, message: Message, reason: MessageClass, now: Now) -> None:
        return


@fault("receiver-moved-message-does-not-expire", breaks="MQDMPR-3.1.1.12-D53", blind=True)
class ReceiverMovedMessageDoesNotExpire(Lifetimes):
    """A message that was moved to a subqueue does not expire."""

    @only_if(lambda part, position: position.QueueReference.parent is not None)
    def watch_received(self, position: MessagePosition) -> None:
        return


@fault("receiver-only-first-message-of-queue-expires", breaks="MQDMPR-3.1.1.12-D53", blind=True)
class ReceiverOnlyFirstMessageOfQueueExpires(Lifetimes):
    """A message expires only if it was the first message of its queue when it arrived."""

    @only_if(lambda part, position: position.QueueReference.MessagePositionList.Head is not position)
    def watch_received(self, position: MessagePosition) -> None:
        return


def _set_restored(name: str, value: Any, *, in_system_queue: bool = False) -> Any:
    def change_every_message(qm: QueueManager) -> None:
        for queue in (*qm.queue_names.every_queue(), *qm.adm.system_queues):
            if (queue.QueueType is QueueType.SYSTEM) is in_system_queue:
                for position in queue.MessagePositionList:
                    position.MessageReference = replace(position.MessageReference, **{name: value})

    return at_restart(change_every_message)


for _name, _value in (
    ("BodyType", 0),
    ("TimeToBeReceived", 0xFFFFFFFF),
    ("AdministrationQueueFormatName", None),
    ("PositiveJournalingRequested", False),
    ("NegativeJournalingRequested", False),
    ("SentTime", 1),
    ("TimeToReachQueue", 0xFFFFFFFF),
):
    add(
        f"restored-message-{_name.lower()}-lost",
        "MQDMPR-3.1.1.12-67",
        f"After a restart, {_name} of a recoverable message has its default value.",
        _set_restored(_name, _value),
        blind=True,
    )
for _lost, _default in (
    ("Extension", b""),
    ("AppSpecific", 0),
    ("ArrivalTime", 1),
    ("CorrelationIdentifier", bytes(20)),
):
    add(
        f"restored-message-of-journal-{_lost.lower()}-lost",
        "MQDMPR-3.1.1.12-67",
        f"After a restart, {_lost} of a recoverable message in a journal or dead-letter queue has its default value.",
        _set_restored(_lost, _default, in_system_queue=True),
        blind=True,
    )


@fault("local-message-arrival-time-0", breaks="MQDMPR-3.1.1.12-D04", blind=True)
class LocalMessageArrivalTime0(_LocalMessageChanged):
    """The ArrivalTime of a message that a local application sends to a local queue is 0."""

    def change_message(self, message: Message) -> Message:
        return replace(message, ArrivalTime=0)


@fault("lookup-identifier-of-moved-message-is-1", breaks="MQDMPR-3.1.1.12-D01", blind=True)
class LookupIdentifierOfMovedMessageIs1(Positions):
    """The queue manager numbers the messages of a subqueue from 1, so a message of another queue has the same
    LookupIdentifier.
    """

    def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
        target = super().move_message(position, queue)
        if target is not None and queue.parent is not None:
            known = queue.MessagePositionList._by_identifier
            known.pop(target.LookupIdentifier, None)
            target.LookupIdentifier = 1
            known[1] = target
        return target


@fault("sender-first-in-transaction-also-in-second-message", breaks="MQDMPR-3.1.1.12-D58", blind=True)
class SenderFirstInTransactionAlsoInSecondMessage(TransactionEvents):
    """In a transaction of three or more messages, the sender also sets FirstInTransaction in the second message."""

    def mark_boundaries(self, transaction: Transaction) -> None:
        super().mark_boundaries(transaction)
        sent = [
            one.MessagePositionReference
            for one in transaction.TransactionalOperationCollection
            if isinstance(one.MessagePositionReference.QueueReference, OutgoingQueue)
        ]
        if len(sent) > 2:
            sent[1].MessageReference = replace(sent[1].MessageReference, FirstInTransaction=True)


@fault("acknowledgment-of-purged-message-without-request", breaks="MQDMPR-3.1.1.12-37", blind=True)
class AcknowledgmentOfPurgedMessageWithoutRequest(FinalAcks):
    """The receiver acknowledges each purged message that names an administration queue, even without a request."""

    def position_deleted(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        message = position.MessageReference
        if reason is MessageClass.MQMSG_CLASS_NACK_Q_PURGED and not message.AcknowledgementsRequested:
            self.qm.admin_acks.send(message, reason, now)
        super().position_deleted(position, reason, now)


def _drop_class(name: str, rule: str, dropped: MessageClass, text: str) -> None:
    class WithoutClass(AdminAcks):
        def acknowledge_failure(self, message: Message, message_class: MessageClass, now: Now) -> None:
            if message_class is not dropped:
                super().acknowledge_failure(message, message_class, now)

        def acknowledge_receive(self, message: Message, reason: MessageClass, now: Now) -> None:
            if reason is not dropped:
                super().acknowledge_receive(message, reason, now)

    WithoutClass.__doc__ = text
    fault(name, breaks=rule, blind=True)(WithoutClass)


_drop_class(
    "any-receiver-full-queue-not-acknowledged",
    "MQDMPR-3.1.1.12-40",
    MessageClass.MQMSG_CLASS_NACK_Q_EXCEED_QUOTA,
    "The receiver does not acknowledge a message that it refuses because of a quota.",
)
_drop_class(
    "sender-late-message-not-acknowledged",
    "MQDMPR-3.1.1.12-40",
    MessageClass.MQMSG_CLASS_NACK_REACH_QUEUE_TIMEOUT,
    "No acknowledgment is sent for a message that does not reach its queue in time.",
)
_drop_class(
    "receiver-rejected-message-not-acknowledged",
    "MQDMPR-3.1.1.12-41",
    MessageClass.MQMSG_CLASS_NACK_RECEIVE_REJECTED,
    "The receiver does not acknowledge a message that an application rejects.",
)
_drop_class(
    "receiver-deleted-queue-not-acknowledged",
    "MQDMPR-3.1.1.12-41",
    MessageClass.MQMSG_CLASS_NACK_Q_DELETED,
    "The receiver does not acknowledge the messages of a deleted queue.",
)
_drop_class(
    "receiver-wrong-kind-of-queue-not-acknowledged-for-full-reach-queue",
    "MQDMPR-3.1.1.12-42",
    MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_Q,
    "The receiver does not acknowledge a transactional message to a nontransactional queue.",
)
_drop_class(
    "receiver-purged-message-not-acknowledged-for-nack-receive",
    "MQDMPR-3.1.1.12-43",
    MessageClass.MQMSG_CLASS_NACK_Q_PURGED,
    "The receiver does not acknowledge the messages of a purged queue.",
)
_drop_class(
    "receiver-expired-message-not-acknowledged-for-full-receive",
    "MQDMPR-3.1.1.12-44",
    NACK_RECEIVE_TIMEOUT,
    "The receiver does not acknowledge a message that expires in its queue.",
)


@fault("sender-message-without-session-never-expires", breaks="MQDMPR-3.1.1.12-D52", blind=True)
class SenderMessageWithoutSessionNeverExpires(Sending):
    """A recoverable message with a TimeToReachQueue does not expire while the sender's session is not open."""

    def delete_expired(self, session: Any, position: Any, now: Now) -> None:
        if session.SessionState.name == "OPEN":
            super().delete_expired(session, position, now)


@fault("default-time-to-reach-queue-of-transactional-message-infinite", breaks="MQDMPR-3.1.1.12-47", blind=True)
class DefaultTimeToReachQueueOfTransactionalMessageInfinite(Sending):
    """The sender uses an infinite TimeToReachQueue as the default of a transactional message."""

    def construct_user_message(self, position: MessagePosition) -> Any:
        message = position.MessageReference
        if message.TransactionIdentifier is not None and message.TimeToReachQueue == 345_600:
            position.MessageReference = replace(message, TimeToReachQueue=0xFFFFFFFF)
        return super().construct_user_message(position)


@fault("sender-sent-time-of-waiting-message-is-time-of-transmission", breaks="MQDMPR-3.1.1.12-D60", blind=True)
class SenderSentTimeOfWaitingMessageIsTimeOfTransmission(Sending):
    """The SentTime of a message that waited in its outgoing queue is the time at which it was transmitted."""

    def update_user_message(self, session: Any, position: Any, now: Now) -> Any:
        packet = super().update_user_message(session, position, now)
        return replace(packet, UserHeader=replace(packet.UserHeader, SentTime=now.utc_s))


@fault("queue-manager-peek-of-first-by-lookup-returns-locked-message", breaks="MQDMPR-3.1.1.12-D03", blind=True)
class QueueManagerPeekOfFirstByLookupReturnsLockedMessage(Seeking):
    """A peek by LookupIdentifier at the first or the last message returns that message even if another reader has
    locked it.
    """

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> tuple[Status, MessagePosition | None]:
        every = list(queue.MessagePositionList)
        ends = {MessageSeekAction.FIRST: 0, MessageSeekAction.LAST: -1}
        if peek_operation and every and lookup_action in ends:
            return Status.MQ_OK, every[ends[lookup_action]]
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
