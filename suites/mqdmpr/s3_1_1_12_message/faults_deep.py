"""Faults of MS-MQDMPR 3.1.1.12 Message that only special cases reveal: other deliveries, other causes, limits, and
values after a restart.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import fault, only_if
from harness.faults.primitives import at_restart, set_fields
from harness.faults.registry import add
from reference_qm.codec import MessageClass
from reference_qm.core.events import MessageLeft
from reference_qm.core.names.numbering import Numbering
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.journaling import Journaling
from reference_qm.core.queueing.positions import Positions
from reference_qm.core.queueing.seeking import Seeking
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.core.queueing.two_phase_reading import TwoPhaseReading
from reference_qm.core.store.disk import Change
from reference_qm.core.store.durability import Durability
from reference_qm.core.store.entries import build_removal_change
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.enqueueing import Enqueueing
from reference_qm.model.adm import MessagePosition, OutgoingQueue, Queue
from reference_qm.model.enums import MessageSeekAction
from reference_qm.model.message import Message
from reference_qm.model.states import DeliveryGuarantee, MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result


@fault("sender-recoverable-message-to-own-queue-lost-at-restart", breaks="MQDMPR-3.1.1.12-20")
class SenderRecoverableMessageToOwnQueueLostAtRestart(Durability):
    """At a restart, the queue manager loses a recoverable message that an application sent to a queue of its own
    computer.
    """

    @only_if(lambda part, position: not isinstance(position.QueueReference, OutgoingQueue))
    def build_send_record(self, position: MessagePosition) -> Change:
        super().build_send_record(position)
        position.key = 0
        return {}


@fault("sender-transactional-message-not-journaled", breaks="MQDMPR-3.1.1.12-21")
class SenderTransactionalMessageNotJournaled(Journaling):
    """The sender does not journal a delivered transactional message with PositiveJournalingRequested."""

    @only_if(lambda part, position: position.MessageReference.TransactionIdentifier is not None)
    def journal_delivered(self, position: MessagePosition) -> None:
        self.qm.disk.save(build_removal_change([position]))


@fault("sender-express-message-never-dead-letter", breaks="MQDMPR-3.1.1.12-24")
class SenderExpressMessageNeverDeadLetter(Journaling):
    """The sender does not store an undelivered express message with NegativeJournalingRequested as a dead letter."""

    @only_if(lambda part, position: position.MessageReference.DeliveryGuarantee is DeliveryGuarantee.EXPRESS)
    def journal_failed(self, position: MessagePosition) -> None:
        self.qm.disk.save(build_removal_change([position]))


@fault("receiver-arrival-not-acknowledged-when-read-waits", breaks="MQDMPR-3.1.1.12-38")
class ReceiverArrivalNotAcknowledgedWhenReadWaits(AdminAcks):
    """The receiver does not acknowledge the arrival of a message that a waiting read receives at once."""

    def acknowledge_arrival(self, position: MessagePosition, now: Now) -> None:
        if position.State is MessagePositionState.AVAILABLE:
            super().acknowledge_arrival(position, now)


@fault("receiver-receive-in-transaction-acknowledged-before-commit", breaks="MQDMPR-3.1.1.12-39")
class ReceiverReceiveInTransactionAcknowledgedBeforeCommit(TransactionOperations):
    """The receiver acknowledges a message as received when a transaction receives it, before the commit."""

    def dequeue_in_transaction(self, transaction: Transaction, position: MessagePosition) -> None:
        super().dequeue_in_transaction(transaction, position)
        self.qm.post(MessageLeft(position, MessageClass.MQMSG_CLASS_ACK_RECEIVE))


@fault("receiver-final-ack-of-moved-message-omitted", breaks="MQDMPR-3.1.1.12-63")
class ReceiverFinalAckOfMovedMessageOmitted(Positions):
    """The receiver sends no FinalAck for a message that was moved to a subqueue and then received."""

    def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
        target = super().move_message(position, queue)
        if target is not None:
            target.order_queue = None
        return target


class _ArrivedMessageChanged(Positions):
    """Change the messages that other queue managers sent."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        if message.Identifier.QueueManagerGuid != self.qm.adm.Identifier:
            message = self.change_message(message)
        return super().insert_message(queue, message)

    def change_message(self, message: Message) -> Message:
        """Return the message to insert."""
        raise NotImplementedError


@fault("receiver-body-above-64-kilobytes-truncated", breaks="MQDMPR-3.1.1.12-32")
class ReceiverBodyAbove64KilobytesTruncated(_ArrivedMessageChanged):
    """The receiver stores only the first 65,535 bytes of a body."""

    def change_message(self, message: Message) -> Message:
        return replace(message, Body=message.Body[:0xFFFF])


@fault("receiver-extension-above-255-bytes-truncated", breaks="MQDMPR-3.1.1.12-57")
class ReceiverExtensionAbove255BytesTruncated(_ArrivedMessageChanged):
    """The receiver stores only the first 255 bytes of an extension."""

    def change_message(self, message: Message) -> Message:
        return replace(message, Extension=message.Extension[:255])


@fault("receiver-label-of-transactional-message-of-100-characters", breaks="MQDMPR-3.1.1.12-46")
class ReceiverLabelOfTransactionalMessageOf100Characters(_ArrivedMessageChanged):
    """The receiver stores only the first 100 characters of the label of a transactional message."""

    def change_message(self, message: Message) -> Message:
        return message if message.TransactionIdentifier is None else replace(message, Label=message.Label[:100])


@fault("receiver-correlation-of-normal-message-zero", breaks="MQDMPR-3.1.1.12-34")
class ReceiverCorrelationOfNormalMessageZero(_ArrivedMessageChanged):
    """The receiver stores zeros as CorrelationIdentifier of a recoverable message of class Normal."""

    def change_message(self, message: Message) -> Message:
        normal = not message.Class and message.DeliveryGuarantee is DeliveryGuarantee.RECOVERABLE
        return replace(message, CorrelationIdentifier=bytes(20)) if normal else message


def _change_restored(change: Callable[[MessagePosition, QueueManager], None]) -> Any:
    """Build a fault that changes each message of a local queue after a restart."""

    def change_every_message(qm: QueueManager) -> None:
        for queue in qm.queue_names.every_queue():
            for position in queue.MessagePositionList:
                change(position, qm)

    return at_restart(change_every_message)


def _set_attribute(name: str, value: Any) -> Any:
    def change(position: MessagePosition, qm: QueueManager) -> None:
        position.MessageReference = replace(position.MessageReference, **{name: value})

    return _change_restored(change)


def _change_lookup_identifier(position: MessagePosition, qm: QueueManager) -> None:
    known = position.QueueReference.MessagePositionList._by_identifier
    known.pop(position.LookupIdentifier, None)
    position.LookupIdentifier = qm.positions.assign_lookup_identifier(position.MessageReference)
    known[position.LookupIdentifier] = position


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
        _set_attribute(_attribute, _value),
    )
add(
    "queue-manager-restored-message-with-new-lookup-identifier",
    "MQDMPR-3.1.1.12-67",
    "At a restart, the queue manager changes the LookupIdentifier of a recoverable message.",
    _change_restored(_change_lookup_identifier),
)


@fault("sender-copies-to-several-queues-share-identifier", breaks="MQDMPR-3.1.1.12-D02")
class SenderCopiesToSeveralQueuesShareIdentifier(Enqueueing):
    """The sender assigns the same Identifier to all copies of a message to several queues."""

    def put_message(self, queue: Queue, message: Message, token: int | None, result: Result, now: Now) -> Result | None:
        if message.DestinationMultiQueueFormatName is not None:
            every = message.DestinationMultiQueueFormatName.lower().split(",")
            at = every.index(message.DestinationQueueFormatName.lower())
            first = message.Identifier.Ordinal - at
            message = replace(message, Identifier=replace(message.Identifier, Ordinal=first))
        return super().put_message(queue, message, token, result, now)


@fault("queue-manager-peek-by-lookup-returns-locked-message", breaks="MQDMPR-3.1.1.12-D03")
class QueueManagerPeekByLookupReturnsLockedMessage(Seeking):
    """A reader can peek by LookupIdentifier at a message that another reader has locked."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> tuple[Status, MessagePosition | None]:
        found = queue.MessagePositionList.find(lookup_id)
        current = lookup_action is MessageSeekAction.CURRENT and peek_operation
        if current and found is not None and found.State is MessagePositionState.LOCKED:
            return Status.MQ_OK, found
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("receiver-purged-message-returned-by-reader-reported-as-received", breaks="MQDMPR-3.1.1.12-D24")
class ReceiverPurgedMessageReturnedByReaderReportedAsReceived(TwoPhaseReading):
    """If a queue is purged during a remote read that then returns a message, the receiver acknowledges this message as
    received.
    """

    def end_with_deletion(self, position: MessagePosition, ended: Callable[[Status], None]) -> None:
        if position.State is MessagePositionState.PURGE_PENDING:
            position.State = MessagePositionState.LOCKED
        super().end_with_deletion(position, ended)


@fault("sender-identifier-of-each-tenth-message-repeated", breaks="MQDMPR-3.1.1.12-D02")
class SenderIdentifierOfEachTenthMessageRepeated(Numbering):
    """The sender assigns the Identifier of the preceding message to every tenth message."""

    def assign_identifier(self) -> int:
        number = super().assign_identifier()
        return number - 1 if number % 10 == 0 else number


@fault("receiver-arrival-time-of-transactional-message-is-sent-time", breaks="MQDMPR-3.1.1.12-D04")
class ReceiverArrivalTimeOfTransactionalMessageIsSentTime(_ArrivedMessageChanged):
    """The receiver sets the ArrivalTime of a transactional message to its SentTime."""

    def change_message(self, message: Message) -> Message:
        return message if message.TransactionIdentifier is None else replace(message, ArrivalTime=message.SentTime)


@fault("receiver-refused-transactional-message-not-acknowledged", breaks="MQDMPR-3.1.1.12-40")
class ReceiverRefusedTransactionalMessageNotAcknowledged(AdminAcks):
    """The receiver sends no acknowledgment when it refuses a transactional message with AckNegArrival."""

    @only_if(lambda part, message, message_class, now: message.TransactionIdentifier is not None)
    def acknowledge_failure(self, message: Message, message_class: MessageClass, now: Now) -> None:
        return


@fault("receiver-removed-transactional-message-not-acknowledged", breaks="MQDMPR-3.1.1.12-41")
class ReceiverRemovedTransactionalMessageNotAcknowledged(AdminAcks):
    """The receiver sends no acknowledgment when a transactional message with AckNegReceive leaves its
    queue unreceived.
    """

    @only_if(
        lambda part, message, reason, now: (
            message.TransactionIdentifier is not None and reason is not MessageClass.MQMSG_CLASS_ACK_RECEIVE
        )
    )
    def acknowledge_receive(self, message: Message, reason: MessageClass, now: Now) -> None:
        return


@fault("receiver-received-transactional-message-not-acknowledged", breaks="MQDMPR-3.1.1.12-39")
class ReceiverReceivedTransactionalMessageNotAcknowledged(AdminAcks):
    """The receiver sends no acknowledgment when an application receives a transactional message with AckPosReceive."""

    @only_if(
        lambda part, message, reason, now: (
            message.TransactionIdentifier is not None and reason is MessageClass.MQMSG_CLASS_ACK_RECEIVE
        )
    )
    def acknowledge_receive(self, message: Message, reason: MessageClass, now: Now) -> None:
        return


@fault("sender-transactional-message-never-dead-letter", breaks="MQDMPR-3.1.1.12-24")
class SenderTransactionalMessageNeverDeadLetter(Journaling):
    """The sender does not store an undelivered transactional message with NegativeJournalingRequested
    as a dead letter.
    """

    @only_if(lambda part, position: position.MessageReference.TransactionIdentifier is not None)
    def journal_failed(self, position: MessagePosition) -> None:
        self.qm.disk.save(build_removal_change([position]))


def _clear_outgoing_tags(qm: QueueManager) -> None:
    for queue in qm.adm.OutgoingQueues.values():
        for outgoing in queue.session.OutgoingMessageTable:
            outgoing.UserMessage = set_fields(outgoing.UserMessage, {"MessagePropertiesHeader.ApplicationTag": 0})


add(
    "sender-restored-outgoing-message-without-application-tag",
    "MQDMPR-3.1.1.12-67",
    "After a restart, the ApplicationTag of a recoverable message that is waiting to be sent is zero.",
    at_restart(_clear_outgoing_tags),
)


@fault("receiver-acknowledgment-requests-with-unused-bit-ignored", breaks="MQDMPR-3.1.1.12-36")
class ReceiverAcknowledgmentRequestsWithUnusedBitIgnored(_ArrivedMessageChanged):
    """If an unused bit of the acknowledgment flags of a message is set, the receiver ignores all other requests for
    acknowledgments in these flags.
    """

    def change_message(self, message: Message) -> Message:
        unused = message.AcknowledgementsRequested & ~0x0F
        return replace(message, AcknowledgementsRequested=0) if unused else message


@fault("system-journal-keeps-only-newest-copy-of-destination", breaks="MQDMPR-3.1.1.12-21")
class SystemJournalKeepsOnlyNewestCopyOfDestination(Journaling):
    """A delivered message replaces the earlier copies of messages to the same queue in the system journal."""

    def journal_delivered(self, position: MessagePosition) -> None:
        message = position.MessageReference
        if message.PositiveJournalingRequested:
            journal = self.qm.adm.SystemJournalQueue.MessagePositionList
            for one in list(journal):
                if one.MessageReference.DestinationQueueFormatName == message.DestinationQueueFormatName:
                    journal.remove(one)
        super().journal_delivered(position)
