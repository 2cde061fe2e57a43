"""Faults that break the rules MQDMPR-3.1.1.12-67 to MQDMPR-3.1.1.12-D24."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import fault
from harness.faults.primitives import change_core_at_restart, set_fields
from harness.faults.registry import add
from harness.faults.sent_messages import change_inserted_message
from reference_qm.codec import MessageClass
from reference_qm.core.enterprise.state_restoring import StateRestoring
from reference_qm.core.names.message_numbering import MessageNumbering
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.message_positions import LOOKUP_ID_WITHOUT_PRIORITY_MASK, MessagePositions
from reference_qm.core.queueing.message_search import MessageSearch
from reference_qm.core.remote.remote_queue_opening import RemoteQueueOpening
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.message_enqueueing import MessageEnqueueing
from reference_qm.directory.enums import QueueType
from reference_qm.model.adm import Message, MessagePosition, Queue
from reference_qm.model.enums import MessageSeekAction
from reference_qm.model.message import INFINITE_TIMEOUT
from reference_qm.model.states import DeliveryGuarantee, MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.rpc.calls import Call
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result
from suites.mqdmpr.s3_1_1_12_message.fault_steps import (
    ArrivedMessageChanger,
    LocalMessageChanger,
    clear_negative_receive_ack_request,
)


@fault("sender-message-dead-letter-queue-lost-at-restart", breaks="MQDMPR-3.1.1.12-67", blind=True)
class SenderMessageDeadLetterQueueLostAtRestart(StateRestoring):
    """After a restart, a recoverable message has no ApplicationDeadletterQueue, although its sender named a queue."""

    def _restore_message(self, rest: str, value: Any) -> None:
        super()._restore_message(rest, {name: one for name, one in value.items() if name != "dead_letter_queue"})


def _change_restored_messages(change: Callable[[MessagePosition, QueueManager], None]) -> Any:
    """Build a fault that changes each message of a local queue after a restart."""

    def change_every_restored_message(qm: QueueManager) -> None:
        for queue in qm.queue_names.list_every_queue():
            for position in queue.MessagePositionList:
                change(position, qm)

    return change_core_at_restart(change_every_restored_message)


def _set_attribute_of_restored_messages(name: str, value: Any) -> Any:
    def set_attribute_of_message(position: MessagePosition, qm: QueueManager) -> None:
        position.MessageReference = replace(position.MessageReference, **{name: value})

    return _change_restored_messages(set_attribute_of_message)


for _attribute, _value in (
    ("ArrivalTime", 1),
    ("CorrelationIdentifier", bytes(20)),
    ("Extension", b""),
    ("AppSpecific", 0),
    ("ResponseQueueFormatName", None),
    ("AcknowledgementsRequested", 0),
):
    add(
        f"queue-manager-restored-message-without-{_attribute.lower()}",
        "MQDMPR-3.1.1.12-67",
        f"After a restart, the attribute {_attribute} of a recoverable message has lost its value.",
        _set_attribute_of_restored_messages(_attribute, _value),
    )


def _change_lookup_identifier_of_message(position: MessagePosition, qm: QueueManager) -> None:
    known = position.QueueReference.MessagePositionList._by_identifier
    known.pop(position.LookupIdentifier, None)
    position.LookupIdentifier = qm.message_positions.assign_lookup_identifier(position.MessageReference)
    known[position.LookupIdentifier] = position


add(
    "queue-manager-restored-message-with-new-lookup-identifier",
    "MQDMPR-3.1.1.12-67",
    "At a restart, the queue manager changes the LookupIdentifier of a recoverable message.",
    _change_restored_messages(_change_lookup_identifier_of_message),
)


def _clear_application_tags_of_outgoing_messages(qm: QueueManager) -> None:
    for queue in qm.adm.OutgoingQueues.values():
        for outgoing in queue.session.OutgoingMessageTable:
            outgoing.UserMessage = set_fields(outgoing.UserMessage, {"MessagePropertiesHeader.ApplicationTag": 0})


add(
    "sender-restored-outgoing-message-without-application-tag",
    "MQDMPR-3.1.1.12-67",
    "After a restart, the ApplicationTag of a recoverable message that is waiting to be sent is zero.",
    change_core_at_restart(_clear_application_tags_of_outgoing_messages),
)


def _set_attribute_of_messages_in_queues(name: str, value: Any, *, in_system_queue: bool = False) -> Any:
    def change_every_restored_message(qm: QueueManager) -> None:
        for queue in (*qm.queue_names.list_every_queue(), *qm.adm.system_queues):
            if (queue.QueueType is QueueType.SYSTEM) is in_system_queue:
                for position in queue.MessagePositionList:
                    position.MessageReference = replace(position.MessageReference, **{name: value})

    return change_core_at_restart(change_every_restored_message)


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
        _set_attribute_of_messages_in_queues(_name, _value),
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
        _set_attribute_of_messages_in_queues(_lost, _default, in_system_queue=True),
        blind=True,
    )


@fault(
    "lookup-identifier-high-byte-equals-priority-instead-of-inverse",
    breaks=("MQDMPR-3.1.1.12-D01", "MQDMPR-3.1.1.12-D48"),
)
class LookupIdentifierHighByteEqualsPriorityInsteadOfInverse(MessagePositions):
    """The high byte of a LookupIdentifier is the priority, so the last message of a queue has the lowest identifier."""

    def assign_lookup_identifier(self, message: Message) -> int:
        return message.Priority << 56 | super().assign_lookup_identifier(message) & LOOKUP_ID_WITHOUT_PRIORITY_MASK


@fault("lookup-identifier-of-moved-message-is-1", breaks="MQDMPR-3.1.1.12-D01", blind=True)
class LookupIdentifierOfMovedMessageIs1(MessagePositions):
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


@fault("sender-copies-to-several-queues-share-identifier", breaks="MQDMPR-3.1.1.12-D02")
class SenderCopiesToSeveralQueuesShareIdentifier(MessageEnqueueing):
    """The sender assigns the same Identifier to all copies of a message to several queues."""

    def put_message(self, queue: Queue, message: Message, token: int | None, result: Result, now: Now) -> Result | None:
        if message.DestinationMultiQueueFormatName is not None:
            every = message.DestinationMultiQueueFormatName.lower().split(",")
            at = every.index(message.DestinationQueueFormatName.lower())
            first = message.Identifier.Ordinal - at
            message = replace(message, Identifier=replace(message.Identifier, Ordinal=first))
        return super().put_message(queue, message, token, result, now)


@fault("sender-identifier-of-each-tenth-message-repeated", breaks="MQDMPR-3.1.1.12-D02")
class SenderIdentifierOfEachTenthMessageRepeated(MessageNumbering):
    """The sender assigns the Identifier of the preceding message to every tenth message."""

    def assign_message_ordinal(self) -> int:
        number = super().assign_message_ordinal()
        return number - 1 if number % 10 == 0 else number


@fault("queue-manager-peek-by-lookup-returns-locked-message", breaks="MQDMPR-3.1.1.12-D03")
class QueueManagerPeekByLookupReturnsLockedMessage(MessageSearch):
    """A reader can peek by LookupIdentifier at a message that another reader has locked."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> tuple[Status, MessagePosition | None]:
        found = queue.MessagePositionList.find(lookup_id)
        current = lookup_action is MessageSeekAction.CURRENT and peek_operation
        if current and found is not None and found.State is MessagePositionState.LOCKED:
            return Status.MQ_OK, found
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("queue-manager-peek-of-first-by-lookup-returns-locked-message", breaks="MQDMPR-3.1.1.12-D03", blind=True)
class QueueManagerPeekOfFirstByLookupReturnsLockedMessage(MessageSearch):
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


add(
    "queue-manager-locked-message-with-time-limit-can-be-peeked",
    "MQDMPR-3.1.1.12-D03",
    "A reader can peek at a message with a TimeToBeReceived although a transaction has received the message.",
    change_inserted_message(
        lambda message: replace(message, AllowPeekWhenLocked=message.TimeToBeReceived != INFINITE_TIMEOUT)
    ),
)


@fault("receiver-arrival-time-of-transactional-message-is-sent-time", breaks="MQDMPR-3.1.1.12-D04")
class ReceiverArrivalTimeOfTransactionalMessageIsSentTime(ArrivedMessageChanger):
    """The receiver sets the ArrivalTime of a transactional message to its SentTime."""

    def change_message(self, message: Message) -> Message:
        return message if message.TransactionIdentifier is None else replace(message, ArrivalTime=message.SentTime)


@fault("queue-manager-arrival-time-of-local-message-zero", breaks="MQDMPR-3.1.1.12-D04", blind=True)
class QueueManagerArrivalTimeOfLocalMessageZero(LocalMessageChanger):
    """The ArrivalTime of a message that a local application sends to a local queue is 0."""

    def change_message(self, message: Message) -> Message:
        return replace(message, ArrivalTime=0)


DELETED_NACK_CLASS = MessageClass.MQMSG_CLASS_NACK_DELETED


def _add_fault_sending_wrong_ack_class(rule: str, message_class: MessageClass, delivery: str) -> None:
    """Add a fault in which the receiver acknowledges messages of one delivery mode with the class NackPurged instead of
    the class ``message_class``.
    """

    class WrongAckClassSender(AdminAcks):
        def build(self, message: Message, message_class_: MessageClass, now: Now) -> Message:
            transactional = message.TransactionIdentifier is not None
            express = message.DeliveryGuarantee is DeliveryGuarantee.EXPRESS
            affected = {"express": express, "transactional": transactional}[delivery]
            return super().build(
                message, DELETED_NACK_CLASS if affected and message_class_ is message_class else message_class_, now
            )

    name = message_class.name.removeprefix("MQMSG_CLASS_").lower().replace("_", "-")
    WrongAckClassSender.__doc__ = f"The acknowledgment {name} of {delivery} messages has the class NackPurged."
    fault(f"acknowledgment-{name}-of-{delivery}-message-with-other-class", breaks=rule, blind=True)(WrongAckClassSender)


for _rule, _class, _delivery in (
    ("MQDMPR-3.1.1.12-D07", MessageClass.MQMSG_CLASS_ACK_REACH_QUEUE, "express"),
    ("MQDMPR-3.1.1.12-D09", MessageClass.MQMSG_CLASS_ACK_RECEIVE, "transactional"),
    ("MQDMPR-3.1.1.12-D12", MessageClass.MQMSG_CLASS_NACK_REACH_QUEUE_TIMEOUT, "express"),
    ("MQDMPR-3.1.1.12-D12", MessageClass.MQMSG_CLASS_NACK_REACH_QUEUE_TIMEOUT, "transactional"),
    ("MQDMPR-3.1.1.12-D13", MessageClass.MQMSG_CLASS_NACK_Q_EXCEED_QUOTA, "transactional"),
    ("MQDMPR-3.1.1.12-D23", MessageClass.MQMSG_CLASS_NACK_Q_DELETED, "express"),
    ("MQDMPR-3.1.1.12-D23", MessageClass.MQMSG_CLASS_NACK_Q_DELETED, "transactional"),
    ("MQDMPR-3.1.1.12-D24", MessageClass.MQMSG_CLASS_NACK_Q_PURGED, "express"),
    ("MQDMPR-3.1.1.12-D25", MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT, "transactional"),
    ("MQDMPR-3.1.1.12-D20", MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_MSG, "express"),
):
    _add_fault_sending_wrong_ack_class(_rule, _class, _delivery)


@fault("receiver-nack-queue-deleted-omitted-for-locked-message", breaks="MQDMPR-3.1.1.12-D23", blind=True)
class ReceiverNackQueueDeletedOmittedForLockedMessage(MessagePositions):
    """When a queue is deleted, the receiver does not acknowledge the messages that a transaction has locked."""

    def delete_message(self, position: MessagePosition, reason: MessageClass) -> None:
        locked = position.State is MessagePositionState.LOCKED and not position.is_disk_write_pending
        if locked and reason is MessageClass.MQMSG_CLASS_NACK_Q_DELETED:
            position.QueueReference.MessagePositionList.remove(position)
        else:
            super().delete_message(position, reason)


@fault("message-purged-by-remote-reader-not-acknowledged", breaks="MQDMPR-3.1.1.12-D24")
class MessagePurgedByRemoteReaderNotAcknowledged(RemoteQueueOpening):
    """When a remote reader purges a queue, the receiver sends no negative acknowledgments of the purged messages."""

    def purge_remote_queue(self, call: Call, queue: Queue) -> None:
        for position in queue.MessagePositionList:
            clear_negative_receive_ack_request(position)
        super().purge_remote_queue(call, queue)
