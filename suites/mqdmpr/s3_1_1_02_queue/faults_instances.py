"""Faults of MS-MQDMPR 3.1.1.2 Queue in which only some queues or messages are wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.parts import fault, faulty_only_if
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.queueing.message_journaling import MessageJournaling
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.queueing.queue_lifecycle import QueueLifecycle
from reference_qm.core.queueing.queue_opening import QueueOpening
from reference_qm.core.queueing.queue_quotas import QueueQuotas
from reference_qm.core.queueing.surviving_queues import SurvivingQueues
from reference_qm.core.transfer.message_arrival import MessageArrival
from reference_qm.core.transfer.message_securing import MessageSecuring
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.directory.enums import QueueType
from reference_qm.model.adm import Message, MessagePosition, Queue, Session
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.model.statuses import EnqueueStatus
from reference_qm.surface.clock import Now


@fault("second-message-of-queue-not-journaled", breaks="MQDMPR-3.1.1.2-D05", blind=True)
class SecondMessageOfQueueNotJournaled(MessageJournaling):
    """The queue manager does not copy a received message into the journal of its queue if the journal has exactly one
    message.
    """

    def journal_received_message(self, position: MessagePosition, reason: MessageClass) -> None:
        journal = position.QueueReference.JournalQueueReference
        if journal is None or len(journal.MessagePositionList) != 1:
            super().journal_received_message(position, reason)


@fault("local-message-not-journaled-when-received", breaks="MQDMPR-3.1.1.2-D05", blind=True)
class LocalMessageNotJournaledWhenReceived(MessageJournaling):
    """The queue manager does not copy a received message of a local application into the journal of its queue."""

    def journal_received_message(self, position: MessagePosition, reason: MessageClass) -> None:
        if position.MessageReference.Identifier.QueueManagerGuid != self.qm.adm.Identifier:
            super().journal_received_message(position, reason)


@fault("journaling-of-queue-decided-when-message-arrives", breaks="MQDMPR-3.1.1.2-D05", blind=True)
class JournalingOfQueueDecidedWhenMessageArrives(MessageJournaling):
    """The queue manager journals a message if Journaling was True when the queue was used for the first time, even if
    Journaling was changed later.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first: dict[str, bool] = {}

    def journal_received_message(self, position: MessagePosition, reason: MessageClass) -> None:
        queue = position.QueueReference
        now = queue.Journaling
        queue.Journaling = self.first.setdefault(queue.Pathname, now)
        super().journal_received_message(position, reason)
        queue.Journaling = now


@fault("purged-message-of-journaling-queue-journaled", breaks="MQDMPR-3.1.1.2-D05", blind=True)
class PurgedMessageOfJournalingQueueJournaled(MessageJournaling):
    """The queue manager copies a purged message into the journal of its queue."""

    def journal_received_message(self, position: MessagePosition, reason: MessageClass) -> None:
        if reason is MessageClass.MQMSG_CLASS_NACK_Q_PURGED:
            reason = MessageClass.MQMSG_CLASS_ACK_RECEIVE
        super().journal_received_message(position, reason)


@fault("quota-of-queue-ignored-for-local-messages", breaks="MQDMPR-3.1.1.2-D03", blind=True)
class QuotaOfQueueIgnoredForLocalMessages(QueueQuotas):
    """The queue manager ignores the quota of a queue for messages of local applications."""

    def check_room_for_message(self, queue: Queue, message: Message) -> EnqueueStatus:
        status: EnqueueStatus = super().check_room_for_message(queue, message)
        own = message.Identifier.QueueManagerGuid == self.qm.adm.Identifier
        if status is EnqueueStatus.QUEUE_QUOTA_EXCEEDED and own and queue.QueueType is not QueueType.SYSTEM:
            return EnqueueStatus.NO_ERROR
        return status


@fault("quota-of-transactional-queue-ignored", breaks="MQDMPR-3.1.1.2-D03", blind=True)
class QuotaOfTransactionalQueueIgnored(QueueQuotas):
    """The queue manager ignores the quota of a transactional queue."""

    def check_room_for_message(self, queue: Queue, message: Message) -> EnqueueStatus:
        status: EnqueueStatus = super().check_room_for_message(queue, message)
        if status is EnqueueStatus.QUEUE_QUOTA_EXCEEDED and queue.Transactional and queue.parent is None:
            return EnqueueStatus.NO_ERROR
        return status


@fault("journal-quota-of-queue-compared-with-new-message-only", breaks="MQDMPR-3.1.1.2-D04", blind=True)
class JournalQuotaOfQueueComparedWithNewMessageOnly(QueueQuotas):
    """The queue manager compares the JournalQuota of a queue with the size of the new message alone."""

    def check_room_for_message(self, queue: Queue, message: Message) -> EnqueueStatus:
        parent = queue.parent
        if queue.QueueType is QueueType.SYSTEM and parent is not None:
            full = parent.JournalQuota != 0xFFFFFFFF and 200 + len(message.Body) > 1024 * parent.JournalQuota
            return EnqueueStatus.QUEUE_QUOTA_EXCEEDED if full else EnqueueStatus.NO_ERROR
        return super().check_room_for_message(queue, message)


@fault("journal-quota-of-transactional-queue-ignored", breaks="MQDMPR-3.1.1.2-D04", blind=True)
class JournalQuotaOfTransactionalQueueIgnored(QueueQuotas):
    """The queue manager ignores the JournalQuota of a transactional queue."""

    def check_room_for_message(self, queue: Queue, message: Message) -> EnqueueStatus:
        parent = queue.parent
        if queue.QueueType is QueueType.SYSTEM and parent is not None and parent.Transactional:
            return EnqueueStatus.NO_ERROR
        return super().check_room_for_message(queue, message)


@fault("queue-manager-repeats-highest-private-queue-number-after-restart", breaks="MQDMPR-3.1.1.2-D01", blind=True)
class QueueManagerRepeatsHighestPrivateQueueNumberAfterRestart(QueueLifecycle):
    """After a restart, the first new private queue gets the number of the existing private queue with the highest
    number.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.created = 0

    def _assign_private_queue_number(self) -> int:
        self.created += 1
        number: int = super()._assign_private_queue_number()
        known = sorted(
            one.PrivateQueueNumber for one in self.qm.adm.QueueCollection.values() if one.PrivateQueueNumber is not None
        )
        return known[-1] if known and self.created == 1 else number


@fault("authentication-of-queue-ignored-for-express-messages", breaks="MQDMPR-3.1.1.2-D02", blind=True)
class AuthenticationOfQueueIgnoredForExpressMessages(SecurityOnReceipt):
    """A queue whose Authentication is True accepts an express message without a signature."""

    def check_queue_security_demands(self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now) -> Any:
        if not packet.UserHeader.DM and queue.Authentication:
            return packet
        return super().check_queue_security_demands(session, packet, queue, now)


@fault("authentication-of-transactional-queue-ignored", breaks="MQDMPR-3.1.1.2-D02", blind=True)
class AuthenticationOfTransactionalQueueIgnored(SecurityOnReceipt):
    """A transactional queue whose Authentication is True accepts a message without a signature."""

    def check_queue_security_demands(self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now) -> Any:
        if packet.TransactionHeader is not None and queue.Authentication:
            return packet
        return super().check_queue_security_demands(session, packet, queue, now)


@fault("authentication-of-queue-ignored-for-local-messages", breaks="MQDMPR-3.1.1.2-D02", blind=True)
class AuthenticationOfQueueIgnoredForLocalMessages(MessageSecuring):
    """A queue whose Authentication is True accepts an unsigned message of a local application."""

    def secure_local_message(self, queue: Queue, message: Message, now: Now) -> Message:
        wanted, queue.Authentication = queue.Authentication, False
        try:
            return super().secure_local_message(queue, message, now)
        finally:
            queue.Authentication = wanted


@fault("aborted-receive-returns-message-behind-equal-priority-messages", breaks="MQDMPR-3.1.1.2-20", blind=True)
class AbortedReceiveReturnsMessageBehindEqualPriorityMessages(MessagePositions):
    """A message that becomes available again moves behind all messages of its priority."""

    def unlock_message(self, position: MessagePosition) -> None:
        messages = position.QueueReference.MessagePositionList
        super().unlock_message(position)
        if position.position_list_that_counts_size is messages and not position.reader_hold_count:
            messages.remove(position)
            again = MessagePosition(position.MessageReference, position.QueueReference)
            again.key, again.order_queue = position.key, position.order_queue
            again.LookupIdentifier = self.assign_lookup_identifier(position.MessageReference)
            messages.insert(again)
            self.on_message_available(again)


@fault("message-of-priority-7-inserted-behind-priority-6", breaks="MQDMPR-3.1.1.2-20", blind=True)
class MessageOfPriority7InsertedBehindPriority6(MessagePositions):
    """The queue manager puts a message of priority 7 behind the messages of priority 6."""

    @faulty_only_if(lambda part, queue, message: message.Priority == 7)
    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        position = super().insert_message(queue, replace(message, Priority=6))
        position.MessageReference = message
        return position


@fault("queue-manager-queue-inactive-though-second-handle-is-open", breaks="MQDMPR-3.1.1.2-D06", blind=True)
class QueueManagerQueueInactiveThoughSecondHandleIsOpen(QueueOpening):
    """When one of two handles of a queue is closed, the queue manager forgets the other handle of the queue."""

    def close_queue(self, queue_desc: OpenQueueDescriptor) -> None:
        queue = queue_desc.QueueReference
        super().close_queue(queue_desc)
        if queue is not None:
            queue.OpenQueueDescriptorCollection.clear()


@fault("queue-manager-queue-type-null-guid-replaced-by-queue-identifier", breaks="MQDMPR-3.1.1.2-02", blind=True)
class QueueManagerQueueTypeNullGuidReplacedByQueueIdentifier(QueueLifecycle):
    """The queue manager replaces a Type of GUID_NULL by the Identifier of the queue."""

    def create_without_directory(self, queue: Queue, utc_s: int) -> Any:
        status, created = super().create_without_directory(queue, utc_s)
        if created is not None and created.Type.int == 0 and created.QueueType is QueueType.PRIVATE:
            created.Type = created.Identifier
        return status, created


@fault("queue-manager-drops-messages-if-highest-bit-of-queue-type-is-set", breaks="MQDMPR-3.1.1.2-02", blind=True)
class QueueManagerDropsMessagesIfHighestBitOfQueueTypeIsSet(MessageArrival):
    """The queue manager finds no destination for a message to a queue whose Type has its highest bit set."""

    def find_destination(self, packet: UserMessagePacket) -> Queue | None:
        queue = super().find_destination(packet)
        return None if queue is not None and queue.Type.int >> 127 else queue


@fault("restored-queue-has-journal-quota-of-previous-queue", breaks="MQDMPR-3.1.1.2-01", blind=True)
class RestoredQueueHasJournalQuotaOfPreviousQueue(SurvivingQueues):
    """At a restart, a queue without a JournalQuota gets the JournalQuota of the queue that was restored before it."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.before: int | None = None

    def restore(self, place: str, values: Any) -> None:
        quota = values.get("JournalQuota", 0xFFFFFFFF)
        if quota == 0xFFFFFFFF and self.before is not None:
            values = {**values, "JournalQuota": self.before}
        elif quota != 0xFFFFFFFF:
            self.before = quota
        super().restore(place, values)


@fault("queue-manager-qualified-path-name-with-capitals-lacks-computer", breaks="MQDMPR-3.1.1.2-03", blind=True)
class QueueManagerQualifiedPathNameWithCapitalsLacksComputer(QueueLifecycle):
    """The queue manager gives a queue whose name has capital letters a QualifiedPathname without the name of the
    computer.
    """

    def create_without_directory(self, queue: Queue, utc_s: int) -> Any:
        status, created = super().create_without_directory(queue, utc_s)
        if created is not None and created.Pathname != created.Pathname.lower():
            created.QualifiedPathname = created.Pathname
        return status, created


@fault("sender-express-dead-letter-stored-in-system-journal", breaks="MQDMPR-3.1.1.2-17", blind=True)
class SenderExpressDeadLetterStoredInSystemJournal(MessageJournaling):
    """The queue manager puts an express dead letter into the system journal."""

    def find_dead_letter_queue(self, message: Message) -> Queue:
        if message.DeliveryGuarantee is DeliveryGuarantee.EXPRESS:
            return self.qm.adm.SystemJournalQueue
        return super().find_dead_letter_queue(message)
