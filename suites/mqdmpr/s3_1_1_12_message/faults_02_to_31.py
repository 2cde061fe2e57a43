"""Faults that break the rules MQDMPR-3.1.1.12-02 to MQDMPR-3.1.1.12-31."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.fields import change_number_in_field
from harness.faults.parts import fault, faulty_only_if, replace_part
from harness.faults.primitives import change_core_at_restart
from harness.faults.registry import Install, add
from harness.faults.sent_messages import change_inserted_message
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.message_journaling import MessageJournaling
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.queueing.queue_quotas import QueueQuotas
from reference_qm.core.store.disk import Change
from reference_qm.core.store.durable_records import DurableRecords
from reference_qm.core.store.entries import build_message_relocation, build_removal_change
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.directory.enums import QueueType
from reference_qm.model.adm import Message, MessagePosition, OutgoingQueue, Queue
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.model.statuses import EnqueueStatus
from suites.mqdmpr.s3_1_1_12_message.fault_steps import InsertedMessageChanger, LocalMessageChanger, MovedMessageChanger


def _clear_application_dead_letter_queues(queue_manager: QueueManager) -> None:
    for queue in queue_manager.adm.OutgoingQueues.values():
        for outgoing in queue.session.OutgoingMessageTable:
            position = outgoing.MessagePosition
            position.MessageReference = replace(position.MessageReference, ApplicationDeadletterQueue="")


add(
    "dead-letter-queue-of-outgoing-message-lost-at-restart",
    "MQDMPR-3.1.1.12-02",
    "After a restart, the sender has lost the ApplicationDeadletterQueue of outgoing messages.",
    change_core_at_restart(_clear_application_dead_letter_queues),
)


def _swap_bytes_of_16_bit_number(value: int) -> int:
    return int.from_bytes(value.to_bytes(2, "little"), "big")


add(
    "receiver-ack-message-class-big-endian",
    ("MQMQ-2.2.18-D01", "MQMQ-2.2.18.1.6-D01", "MQDMPR-3.1.1.12-03", "MQDMPR-3.1.7.1.32-D08"),
    "The receiver sends an acknowledgment whose MessageClass is in big-endian byte order.",
    change_number_in_field(UserMessagePacket, "MessagePropertiesHeader.MessageClass", _swap_bytes_of_16_bit_number),
)


@fault("sender-recoverable-message-to-own-queue-lost-at-restart", breaks="MQDMPR-3.1.1.12-20")
class SenderRecoverableMessageToOwnQueueLostAtRestart(DurableRecords):
    """At a restart, the queue manager loses a recoverable message that an application sent to a queue of its own
    computer.
    """

    @faulty_only_if(lambda part, position: not isinstance(position.QueueReference, OutgoingQueue))
    def build_send_record(self, position: MessagePosition) -> Change:
        super().build_send_record(position)
        position.key = 0
        return {}


def _omit_moves_into_system_queue(which: Callable[[QueueManager], Queue]) -> Install:
    """Build a fault in which the queue manager moves no message into the system queue that ``which`` returns."""

    class SystemQueueMoveOmitter(MessagePositions):
        def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
            return None if queue is which(self.qm) else super().move_message(position, queue)

    return replace_part(SystemQueueMoveOmitter)


add(
    "sender-journaled-message-not-stored",
    ("MQMQ-2.2.19.2-14", "MQDMPR-3.1.1.12-21", "MQDMPR-3.1.1.2-17"),
    "The sender does not store delivered messages in the system journal.",
    _omit_moves_into_system_queue(lambda qm: qm.adm.SystemJournalQueue),
)


@fault("sender-transactional-message-not-journaled", breaks="MQDMPR-3.1.1.12-21")
class SenderTransactionalMessageNotJournaled(MessageJournaling):
    """The sender does not journal a delivered transactional message with PositiveJournalingRequested."""

    @faulty_only_if(lambda part, position: position.MessageReference.TransactionIdentifier is not None)
    def journal_delivered_message(self, position: MessagePosition) -> None:
        self.qm.disk.save(build_removal_change([position]))


@fault("system-journal-keeps-only-newest-message-of-each-destination", breaks="MQDMPR-3.1.1.12-21")
class SystemJournalKeepsOnlyNewestMessageOfEachDestination(MessageJournaling):
    """A delivered message replaces the earlier copies of messages to the same queue in the system journal."""

    def journal_delivered_message(self, position: MessagePosition) -> None:
        message = position.MessageReference
        if message.PositiveJournalingRequested:
            journal = self.qm.adm.SystemJournalQueue.MessagePositionList
            for one in list(journal):
                if one.MessageReference.DestinationQueueFormatName == message.DestinationQueueFormatName:
                    journal.remove(one)
        super().journal_delivered_message(position)


@fault("express-message-not-in-system-journal", breaks="MQDMPR-3.1.1.12-21", blind=True)
class ExpressMessageNotInSystemJournal(MessageJournaling):
    """The sender does not journal a delivered express message with PositiveJournalingRequested."""

    @faulty_only_if(lambda part, position: position.MessageReference.DeliveryGuarantee is DeliveryGuarantee.EXPRESS)
    def journal_delivered_message(self, position: MessagePosition) -> None:
        return


@fault("message-to-several-queues-journaled-once", breaks="MQDMPR-3.1.1.12-21", blind=True)
class MessageToSeveralQueuesJournaledOnce(MessageJournaling):
    """Of the copies of a message to several queues, the sender journals only the copy for the first queue."""

    def journal_delivered_message(self, position: MessagePosition) -> None:
        message = position.MessageReference
        several = (message.DestinationMultiQueueFormatName or "").lower()
        if not several or several.startswith(message.DestinationQueueFormatName.lower()):
            super().journal_delivered_message(position)


@fault("sender-resends-delivered-message-that-full-journal-lacks", breaks="MQDMPR-3.1.1.12-22")
class SenderResendsDeliveredMessageThatFullJournalLacks(MessagePositions):
    """After a restart, the sender sends a delivered message again if the full journal could not store it."""

    def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
        there = super().move_message(position, queue)
        if there is None:
            self.qm.disk.save(build_message_relocation(position))
        return there


@fault("journal-quota-of-system-journal-and-dead-letters-ignored", breaks=("MQDMPR-3.1.1.12-22", "MQDMPR-3.1.1.12-25"))
class JournalQuotaOfSystemJournalAndDeadLettersIgnored(QueueQuotas):
    """The sender stores journaled messages and dead letters beyond the JournalQuota."""

    def check_room_for_message(self, queue: Queue, message: Message) -> EnqueueStatus:
        status = super().check_room_for_message(queue, message)
        return EnqueueStatus.NO_ERROR if queue.QueueType is QueueType.SYSTEM else status


@fault("delivered-message-without-positive-journaling-journaled", breaks="MQDMPR-3.1.1.12-23")
class DeliveredMessageWithoutPositiveJournalingJournaled(MessageJournaling):
    """The sender journals every delivered message."""

    def journal_delivered_message(self, position: MessagePosition) -> None:
        message = position.MessageReference
        position.MessageReference = replace(message, PositiveJournalingRequested=True)
        super().journal_delivered_message(position)


@fault("delivered-message-with-negative-journaling-journaled", breaks="MQDMPR-3.1.1.12-23", blind=True)
class DeliveredMessageWithNegativeJournalingJournaled(MessageJournaling):
    """The sender journals a delivered message that requests only negative journaling."""

    def journal_delivered_message(self, position: MessagePosition) -> None:
        message = position.MessageReference
        if message.NegativeJournalingRequested and not message.PositiveJournalingRequested:
            position.MessageReference = replace(message, PositiveJournalingRequested=True)
        super().journal_delivered_message(position)
        position.MessageReference = message


add(
    "sender-dead-letter-not-stored",
    ("MQMQ-2.2.19.2-13", "MQDMPR-3.1.1.12-D46", "MQDMPR-3.1.1.12-24", "MQDMPR-3.1.1.2-17"),
    "The sender does not store failed messages in the system dead-letter queue.",
    _omit_moves_into_system_queue(lambda qm: qm.adm.SystemDeadletterQueue),
)


@fault("sender-undelivered-express-message-not-stored-as-dead-letter", breaks="MQDMPR-3.1.1.12-24")
class SenderUndeliveredExpressMessageNotStoredAsDeadLetter(MessageJournaling):
    """The sender does not store an undelivered express message with NegativeJournalingRequested as a dead letter."""

    @faulty_only_if(lambda part, position: position.MessageReference.DeliveryGuarantee is DeliveryGuarantee.EXPRESS)
    def journal_failed_message(self, position: MessagePosition) -> None:
        self.qm.disk.save(build_removal_change([position]))


@fault("sender-undelivered-transactional-message-not-stored-as-dead-letter", breaks="MQDMPR-3.1.1.12-24")
class SenderUndeliveredTransactionalMessageNotStoredAsDeadLetter(MessageJournaling):
    """The sender does not store an undelivered transactional message with NegativeJournalingRequested
    as a dead letter.
    """

    @faulty_only_if(lambda part, position: position.MessageReference.TransactionIdentifier is not None)
    def journal_failed_message(self, position: MessagePosition) -> None:
        self.qm.disk.save(build_removal_change([position]))


@fault("undelivered-message-requesting-both-journals-not-dead-letter", breaks="MQDMPR-3.1.1.12-24", blind=True)
class UndeliveredMessageRequestingBothJournalsNotDeadLetter(MessageJournaling):
    """The sender does not store an undelivered message as a dead letter if it also requests positive journaling."""

    @faulty_only_if(lambda part, position: position.MessageReference.PositiveJournalingRequested)
    def journal_failed_message(self, position: MessagePosition) -> None:
        return


@fault("refused-transactional-message-not-stored-as-dead-letter", breaks="MQDMPR-3.1.1.12-24", blind=True)
class RefusedTransactionalMessageNotStoredAsDeadLetter(FinalAcks):
    """The sender does not store a transactional message as a dead letter if the receiver reports that the message was
    removed unread from its queue.
    """

    def journal_completed_message(self, position: Any, message_class: int) -> None:
        removed = (MessageClass.MQMSG_CLASS_NACK_Q_PURGED, MessageClass.MQMSG_CLASS_NACK_Q_DELETED)
        if message_class not in removed:
            super().journal_completed_message(position, message_class)


@fault("transactional-message-deleted-with-queue-counts-as-delivered", breaks="MQDMPR-3.1.1.12-24", blind=True)
class TransactionalMessageDeletedWithQueueCountsAsDelivered(FinalAcks):
    """When the queue of a transactional message is deleted, the sender journals the message as if it had been
    delivered.
    """

    def journal_completed_message(self, position: Any, message_class: int) -> None:
        if message_class == MessageClass.MQMSG_CLASS_NACK_Q_DELETED:
            message_class = MessageClass.MQMSG_CLASS_ACK_RECEIVE
        super().journal_completed_message(position, message_class)


@fault(
    "message-without-negative-journaling-stored-as-dead-letter",
    breaks=("MQDMPR-3.1.1.12-26", "MQSO-5.1.1.3-D02", "MQSO-5.1.1.3-D08"),
)
class MessageWithoutNegativeJournalingStoredAsDeadLetter(MessageJournaling):
    """The sender stores every failed message as a dead letter."""

    def journal_failed_message(self, position: MessagePosition) -> None:
        message = position.MessageReference
        position.MessageReference = replace(message, NegativeJournalingRequested=True)
        super().journal_failed_message(position)


@fault(
    "undelivered-message-with-positive-journaling-stored-as-dead-letter",
    breaks=("MQDMPR-3.1.1.12-26", "MQQB-3.1.7.1.2-06"),
    blind=True,
)
class UndeliveredMessageWithPositiveJournalingStoredAsDeadLetter(MessageJournaling):
    """The sender stores an undelivered message that requests only positive journaling as a dead letter."""

    def journal_failed_message(self, position: MessagePosition) -> None:
        message = position.MessageReference
        if message.PositiveJournalingRequested:
            position.MessageReference = replace(message, NegativeJournalingRequested=True)
        super().journal_failed_message(position)


add(
    "receiver-application-tag-highest-bit-cleared",
    ("MQMQ-2.2.19.3-16", "MQDMPR-3.1.1.12-31"),
    "The receiver clears the highest bit of an arriving message's ApplicationTag.",
    change_inserted_message(lambda message: replace(message, AppSpecific=message.AppSpecific & 0x7FFFFFFF)),
    blind=True,
)


@fault("receiver-application-tag-above-31-bits-cut", breaks="MQDMPR-3.1.1.12-31", blind=True)
class ReceiverApplicationTagAbove31BitsCut(InsertedMessageChanger):
    """The queue manager clears the highest bit of an ApplicationTag."""

    def change_message(self, message: Message) -> Message:
        return replace(message, AppSpecific=message.AppSpecific & 0x7FFFFFFF)


@fault("local-message-without-application-tag", breaks="MQDMPR-3.1.1.12-31", blind=True)
class LocalMessageWithoutApplicationTag(LocalMessageChanger):
    """A message that a local application sends to a local queue has the ApplicationTag 0."""

    def change_message(self, message: Message) -> Message:
        return replace(message, AppSpecific=0)


@fault("dead-letter-without-application-tag", breaks="MQDMPR-3.1.1.12-31", blind=True)
class DeadLetterWithoutApplicationTag(MovedMessageChanger):
    """A message in a dead-letter queue or in the system journal has the ApplicationTag 0."""

    def change_message(self, message: Message, queue: Queue) -> Message:
        return replace(message, AppSpecific=0) if queue.QueueType is QueueType.SYSTEM else message
