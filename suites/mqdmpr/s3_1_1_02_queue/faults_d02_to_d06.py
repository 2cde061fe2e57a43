"""Faults that break the rules MQDMPR-3.1.1.2-D02 to MQDMPR-3.1.1.2-D06."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.events import call_after_posted_events
from harness.faults.parts import fault, faulty_only_if
from harness.faults.primitives import change_core_at_restart, omit_step
from harness.faults.registry import add
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.commands.data_model_inspection import DataModelInspection
from reference_qm.core.commands.queue_commands import QueueCommands
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.message_journaling import MessageJournaling
from reference_qm.core.queueing.queue_opening import QueueOpening
from reference_qm.core.queueing.queue_quotas import QueueQuotas
from reference_qm.core.queueing.transaction_events import TransactionEvents
from reference_qm.core.transfer.message_admission import Outcome
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.directory.enums import QueueType
from reference_qm.model.adm import Message, MessagePosition, Queue, Session
from reference_qm.model.attributes import UNLIMITED_QUOTA_KB
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.enums import QueueAccessType, RemoteReadState
from reference_qm.model.states import DeliveryGuarantee, MessagePositionState
from reference_qm.model.statuses import EnqueueStatus
from reference_qm.model.transactions import TransactionalOperation
from reference_qm.surface.clock import Now


@fault("queue-with-authentication-accepts-unsigned-message", breaks="MQDMPR-3.1.1.2-D02")
class QueueWithAuthenticationAcceptsUnsignedMessage(SecurityOnReceipt):
    """A queue with Authentication accepts an unsigned message."""

    def check_queue_security_demands(
        self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now
    ) -> UserMessagePacket | MessageClass:
        return packet


@fault("queue-with-authentication-refuses-signed-message", breaks="MQDMPR-3.1.1.2-D02")
class QueueWithAuthenticationRefusesSignedMessage(SecurityOnReceipt):
    """A queue with Authentication refuses every message, even a signed message."""

    def check_queue_security_demands(
        self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now
    ) -> UserMessagePacket | MessageClass:
        if queue.Authentication:
            return MessageClass.MQMSG_CLASS_NACK_BAD_SIGNATURE
        return super().check_queue_security_demands(session, packet, queue, now)


@fault("queue-without-authentication-refuses-unsigned-message", breaks="MQDMPR-3.1.1.2-D02")
class QueueWithoutAuthenticationRefusesUnsignedMessage(SecurityOnReceipt):
    """A queue without Authentication refuses an unsigned message."""

    def check_queue_security_demands(
        self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now
    ) -> UserMessagePacket | MessageClass:
        before, queue.Authentication = queue.Authentication, True
        checked = super().check_queue_security_demands(session, packet, queue, now)
        queue.Authentication = before
        return checked


@fault("queue-with-authentication-accepts-unsigned-transactional-message", breaks="MQDMPR-3.1.1.2-D02", blind=True)
class QueueWithAuthenticationAcceptsUnsignedTransactionalMessage(SecurityOnReceipt):
    """A transactional queue with Authentication accepts an unsigned transactional message."""

    def check_queue_security_demands(self, session: Any, packet: Any, queue: Queue, now: Now) -> Outcome:
        if packet.TransactionHeader is not None and packet.SecurityHeader is None:
            return packet
        return super().check_queue_security_demands(session, packet, queue, now)


@fault("queue-with-authentication-accepts-unsigned-express-message", breaks="MQDMPR-3.1.1.2-D02", blind=True)
class QueueWithAuthenticationAcceptsUnsignedExpressMessage(SecurityOnReceipt):
    """A queue with Authentication accepts an unsigned express message."""

    def check_queue_security_demands(self, session: Any, packet: Any, queue: Queue, now: Now) -> Outcome:
        if not packet.UserHeader.DM:
            return packet
        return super().check_queue_security_demands(session, packet, queue, now)


@fault("queue-authentication-enabled-after-creation-ignored", breaks="MQDMPR-3.1.1.2-D02", blind=True)
class QueueAuthenticationEnabledAfterCreationIgnored(QueueCommands):
    """A queue whose Authentication an administrator sets to True after the creation still accepts unsigned messages."""

    def _change_attributes(self, queue: Queue, changes: dict[str, Any], token: int) -> Any:
        return super()._change_attributes(queue, {**changes, "Authentication": queue.Authentication}, token)


@fault("queue-manager-locked-messages-not-counted-against-queue-quota", breaks="MQDMPR-3.1.1.2-D03", blind=True)
class QueueManagerLockedMessagesNotCountedAgainstQueueQuota(QueueQuotas):
    """The queue manager does not count messages that an open transaction has received against the queue's Quota."""

    def check_room_for_message(self, queue: Queue, message: Message) -> EnqueueStatus:
        messages = queue.MessagePositionList
        locked = sum(
            one.size for one in messages if one.State is MessagePositionState.LOCKED and not one.is_disk_write_pending
        )
        messages.TotalBytes -= locked
        try:
            return super().check_room_for_message(queue, message)
        finally:
            messages.TotalBytes += locked


def _clear_stored_message_sizes(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        queue.MessagePositionList.TotalBytes = 0


add(
    "queue-manager-quota-without-messages-from-before-restart",
    "MQDMPR-3.1.1.2-D03",
    "After a restart, the queue manager does not count earlier messages of a queue against the Quota of the queue.",
    change_core_at_restart(_clear_stored_message_sizes),
    blind=True,
)


@fault("queue-quota-ignored-for-transactional-messages", breaks="MQDMPR-3.1.1.2-D03", blind=True)
class QueueQuotaIgnoredForTransactionalMessages(QueueQuotas):
    """A transactional queue stores messages beyond its Quota."""

    @faulty_only_if(
        lambda part, queue, message: message.TransactionIdentifier is not None and queue.Quota != UNLIMITED_QUOTA_KB
    )
    def check_room_for_message(self, queue: Queue, message: Message) -> EnqueueStatus:
        return EnqueueStatus.NO_ERROR


@fault("queue-quota-ignored-for-messages-of-local-applications", breaks="MQDMPR-3.1.1.2-D03", blind=True)
class QueueQuotaIgnoredForMessagesOfLocalApplications(QueueQuotas):
    """The queue manager stores messages of local applications beyond the Quota of a queue."""

    @faulty_only_if(
        lambda part, queue, message: (
            message.Identifier.QueueManagerGuid == part.qm.adm.Identifier and queue.Quota != UNLIMITED_QUOTA_KB
        )
    )
    def check_room_for_message(self, queue: Queue, message: Message) -> EnqueueStatus:
        return EnqueueStatus.NO_ERROR


@fault("queue-quota-admits-first-message-of-any-size", breaks="MQDMPR-3.1.1.2-D03", blind=True)
class QueueQuotaAdmitsFirstMessageOfAnySize(QueueQuotas):
    """An empty queue accepts a message that is larger than its Quota."""

    @faulty_only_if(lambda part, queue, message: not len(queue.MessagePositionList) and queue.parent is None)
    def check_room_for_message(self, queue: Queue, message: Message) -> EnqueueStatus:
        return EnqueueStatus.NO_ERROR


@fault("queue-journal-quota-ignored", breaks="MQDMPR-3.1.1.2-D04")
class QueueJournalQuotaIgnored(QueueQuotas):
    """The queue manager stores messages in the journal of a queue beyond the JournalQuota of the queue."""

    def check_room_for_message(self, queue: Queue, message: Message) -> EnqueueStatus:
        if queue.parent is not None and queue.QueueType is QueueType.SYSTEM:
            return EnqueueStatus.NO_ERROR
        return super().check_room_for_message(queue, message)


@fault("queue-journal-quota-shared-by-all-journals", breaks="MQDMPR-3.1.1.2-D04", blind=True)
class QueueJournalQuotaSharedByAllJournals(QueueQuotas):
    """The messages in the journals of all queues count against the JournalQuota of each queue."""

    @faulty_only_if(
        lambda part, queue, message: queue.parent is not None and queue.parent.JournalQuota != UNLIMITED_QUOTA_KB
    )
    def check_room_for_message(self, queue: Queue, message: Message) -> EnqueueStatus:
        status = super().check_room_for_message(queue, message)
        assert queue.parent is not None
        if self.qm.adm.journal_storage.used_bytes + 1 > queue.parent.JournalQuota * 1024:
            return EnqueueStatus.QUEUE_QUOTA_EXCEEDED
        return status


@fault("queue-journal-discards-oldest-message-when-full", breaks="MQDMPR-3.1.1.2-D04", blind=True)
class QueueJournalDiscardsOldestMessageWhenFull(MessageJournaling):
    """A full journal discards its oldest messages to store a new message that alone exceeds JournalQuota."""

    def journal_received_message(self, position: MessagePosition, reason: MessageClass) -> None:
        journal = position.QueueReference.JournalQueueReference
        received = reason is MessageClass.MQMSG_CLASS_ACK_RECEIVE
        if journal is not None and position.QueueReference.Journaling and received:
            for old in list(journal.MessagePositionList):
                if self.qm.queue_quotas.check_room_for_message(journal, position.MessageReference):
                    journal.MessagePositionList.remove(old)
        super().journal_received_message(position, reason)


@fault("journal-quota-check-ignores-size-of-new-message", breaks="MQDMPR-3.1.1.2-D04")
class JournalQuotaCheckIgnoresSizeOfNewMessage(QueueQuotas):
    """The journal of a queue accepts a message if the messages that are already in the journal do not exceed
    JournalQuota.
    """

    def check_room_for_message(self, queue: Queue, message: Message) -> EnqueueStatus:
        status = super().check_room_for_message(queue, message)
        if queue.QueueType is not QueueType.SYSTEM or queue.parent is None:
            return status
        if queue.TotalBytes and status is EnqueueStatus.QUEUE_QUOTA_EXCEEDED:
            return EnqueueStatus.NO_ERROR if queue.TotalBytes < queue.parent.JournalQuota * 1024 else status
        return status


@fault("journal-quota-shared-by-all-queues", breaks="MQDMPR-3.1.1.2-D04")
class JournalQuotaSharedByAllQueues(QueueQuotas):
    """The messages in the journals of all queues count towards the JournalQuota of each queue."""

    def check_room_for_message(self, queue: Queue, message: Message) -> EnqueueStatus:
        status = super().check_room_for_message(queue, message)
        if status or queue.QueueType is not QueueType.SYSTEM or queue.parent is None:
            return status
        quota = queue.parent.JournalQuota
        used = sum(
            one.JournalQueueReference.TotalBytes
            for one in self.qm.adm.QueueCollection.values()
            if one.JournalQueueReference is not None
        )
        full = quota != 0xFFFFFFFF and used + len(message.Body) > quota * 1024
        return EnqueueStatus.QUEUE_QUOTA_EXCEEDED if full else status


add(
    "queue-with-journaling-journals-nothing",
    "MQDMPR-3.1.1.2-D05",
    "When a message is received from a queue with Journaling, the queue manager does not copy it into the journal.",
    omit_step(MessageJournaling.journal_received_message),
)


@fault("queue-without-journaling-copies-messages-to-journal", breaks="MQDMPR-3.1.1.2-D05")
class QueueWithoutJournalingCopiesMessagesToJournal(MessageJournaling):
    """When a message is received from a queue without Journaling, the queue manager copies it into the journal."""

    def journal_received_message(self, position: MessagePosition, reason: MessageClass) -> None:
        queue = position.QueueReference
        before, queue.Journaling = queue.Journaling, True
        super().journal_received_message(position, reason)
        queue.Journaling = before


@fault("message-received-remotely-not-journaled", breaks="MQDMPR-3.1.1.2-D05")
class MessageReceivedRemotelyNotJournaled(MessageJournaling):
    """A message that is received while a remote reader has its queue open is not stored in the journal."""

    def journal_received_message(self, position: MessagePosition, reason: MessageClass) -> None:
        opened = [one for one in self.qm.descriptors.values() if one.QueueReference is position.QueueReference]
        if all(one.RemoteReadState is RemoteReadState.NONE for one in opened):
            super().journal_received_message(position, reason)


@fault("message-received-in-transaction-not-journaled", breaks="MQDMPR-3.1.1.2-D05")
class MessageReceivedInTransactionNotJournaled(TransactionEvents):
    """When a transaction commits, the queue manager does not journal the messages that the transaction received."""

    def commit_dequeue(self, operation: TransactionalOperation, now: Now) -> None:
        queue = operation.MessagePositionReference.QueueReference
        journaling, queue.Journaling = queue.Journaling, False
        super().commit_dequeue(operation, now)

        def restore_journaling() -> None:
            queue.Journaling = journaling

        call_after_posted_events(self.qm, restore_journaling)


@fault("queue-journals-purged-messages", breaks="MQDMPR-3.1.1.2-D05", blind=True)
class QueueJournalsPurgedMessages(MessageJournaling):
    """When a message is purged from a queue with Journaling, the queue manager copies it into the journal."""

    def journal_received_message(self, position: MessagePosition, reason: MessageClass) -> None:
        purged = reason is MessageClass.MQMSG_CLASS_NACK_Q_PURGED
        super().journal_received_message(position, MessageClass.MQMSG_CLASS_ACK_RECEIVE if purged else reason)


@fault("queue-journals-expired-messages", breaks="MQDMPR-3.1.1.2-D05", blind=True)
class QueueJournalsExpiredMessages(MessageJournaling):
    """The queue manager copies a message that expires in a queue with Journaling into the journal."""

    def journal_received_message(self, position: MessagePosition, reason: MessageClass) -> None:
        expired = reason is MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT
        super().journal_received_message(position, MessageClass.MQMSG_CLASS_ACK_RECEIVE if expired else reason)


@fault("queue-journals-messages-after-journaling-is-disabled", breaks="MQDMPR-3.1.1.2-D05", blind=True)
class QueueJournalsMessagesAfterJournalingIsDisabled(QueueCommands):
    """A queue whose Journaling an administrator sets to False still copies received messages into its journal."""

    def _change_attributes(self, queue: Queue, changes: dict[str, Any], token: int) -> Any:
        if changes.get("Journaling") is False:
            changes = {**changes, "Journaling": queue.Journaling}
        return super()._change_attributes(queue, changes, token)


@fault("queue-journal-copy-without-extension-and-application-tag", breaks="MQDMPR-3.1.1.2-D05", blind=True)
class QueueJournalCopyWithoutExtensionAndApplicationTag(MessageJournaling):
    """The copy of a message in a journal has neither the extension nor the application tag of the message."""

    def put_into_system_queue(self, queue: Queue, message: Message) -> None:
        if queue.parent is not None:
            message = replace(message, Extension=b"", AppSpecific=0)
        super().put_into_system_queue(queue, message)


@fault("queue-express-messages-not-journaled", breaks="MQDMPR-3.1.1.2-D05", blind=True)
class QueueExpressMessagesNotJournaled(MessageJournaling):
    """When an express message is received from a queue with Journaling, the queue manager does not copy it into the
    journal.
    """

    @faulty_only_if(
        lambda part, position, reason: position.MessageReference.DeliveryGuarantee is DeliveryGuarantee.EXPRESS
    )
    def journal_received_message(self, position: MessagePosition, reason: MessageClass) -> None:
        return


@fault("queue-manager-queue-active-false-while-open-to-peek", breaks="MQDMPR-3.1.1.2-D06", blind=True)
class QueueManagerQueueActiveFalseWhileOpenToPeek(DataModelInspection):
    """The queue manager computes Active as False for a queue that is open only to peek."""

    def inspect(self, now: Now) -> dict[str, Any]:
        tree = super().inspect(now)
        for queue in tree["QueueManager"]["QueueCollection"]:
            opened = [one["AccessType"] for one in queue["OpenQueueDescriptorCollection"]]
            queue["Active"] = any(access != QueueAccessType.PEEK.value for access in opened)
        return tree


@fault("queue-manager-queue-active-false-while-open-to-send", breaks="MQDMPR-3.1.1.2-D06", blind=True)
class QueueManagerQueueActiveFalseWhileOpenToSend(DataModelInspection):
    """A local queue that is open only for sending is inactive."""

    def inspect(self, now: Now) -> dict[str, Any]:
        shown = super().inspect(now)
        for queue in shown["QueueManager"]["QueueCollection"]:
            opened = [one["AccessType"] for one in queue["OpenQueueDescriptorCollection"]]
            queue["Active"] = any(access != QueueAccessType.SEND.value for access in opened)
        return shown


@fault("queue-active-false-after-first-of-two-handles-is-closed", breaks="MQDMPR-3.1.1.2-D06", blind=True)
class QueueActiveFalseAfterFirstOfTwoHandlesIsClosed(QueueOpening):
    """When one of several handles of a queue is closed, the queue becomes inactive."""

    def close_queue(self, queue_desc: OpenQueueDescriptor) -> None:
        queue = queue_desc.QueueReference
        super().close_queue(queue_desc)
        if queue is not None:
            queue.OpenQueueDescriptorCollection = {}
