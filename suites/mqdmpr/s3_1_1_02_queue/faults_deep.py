"""Faults of MS-MQDMPR 3.1.1.2 Queue that only special cases reveal: attributes after a restart, other kinds of messages
and readers, several queues, and the computer name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from harness.faults.parts import fault, only_if
from harness.faults.primitives import at_restart
from harness.faults.registry import add
from reference_qm.codec import MessageClass
from reference_qm.core.commands.inspection import Inspection
from reference_qm.core.commands.queue_commands import QueueCommands
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.journaling import Journaling
from reference_qm.core.queueing.positions import Positions
from reference_qm.core.queueing.publishing import Publishing
from reference_qm.core.queueing.queue_opening import QueueOpening
from reference_qm.core.queueing.queues import Queues
from reference_qm.core.queueing.quotas import Quotas
from reference_qm.core.transfer.admission import Outcome
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.directory.enums import PrivacyLevel, QueueType
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.attributes import UNLIMITED
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.enums import QueueAccessType
from reference_qm.model.message import Message
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.model.statuses import EnqueueStatus, Status
from reference_qm.security import DEFAULT_QUEUE_SECURITY
from reference_qm.surface.clock import Now


def _forget_privacy(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        queue.PrivacyLevel = PrivacyLevel.OPTIONAL


add(
    "queue-manager-privacy-level-of-queue-lost-at-restart",
    "MQDMPR-3.1.1.2-01",
    "At a restart, the queue manager sets the PrivacyLevel of a queue to Optional.",
    at_restart(_forget_privacy),
)


@fault("queue-manager-qualified-path-name-with-short-computer-name", breaks="MQDMPR-3.1.1.2-03")
class QueueManagerQualifiedPathNameWithShortComputerName(Queues):
    """The QualifiedPathname of a queue begins with the name of the computer without the domain."""

    def create_here(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        status, created = super().create_here(queue, utc_s)
        if created is not None:
            computer = self.qm.config.host_name.partition(".")[0]
            created.QualifiedPathname = f"{computer}\\{created.Pathname}"
        return status, created


def _shorten_labels(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        queue.Label = queue.Label[:64]


def _forget_zero_quotas(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        queue.JournalQuota = queue.JournalQuota or UNLIMITED


def _forget_descriptors(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        queue.Security = DEFAULT_QUEUE_SECURITY


def _forget_stored_sizes(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        queue.MessagePositionList.TotalBytes = 0


add(
    "queue-manager-queue-label-cut-at-restart",
    "MQDMPR-3.1.1.2-01",
    "After a restart, the queue manager has only the first 64 characters of the label of a queue.",
    at_restart(_shorten_labels),
    blind=True,
)
add(
    "queue-manager-journal-quota-0-unlimited-after-restart",
    "MQDMPR-3.1.1.2-01",
    "After a restart, the queue manager applies no limit to the journal of a queue whose JournalQuota is 0.",
    at_restart(_forget_zero_quotas),
    blind=True,
)
add(
    "queue-manager-security-descriptor-of-queue-lost-at-restart",
    "MQDMPR-3.1.1.2-01",
    "At a restart, the queue manager replaces the security descriptor of every queue with the default.",
    at_restart(_forget_descriptors),
    blind=True,
)
add(
    "queue-manager-quota-without-messages-from-before-restart",
    "MQDMPR-3.1.1.2-D03",
    "After a restart, the queue manager does not count earlier messages of a queue against the Quota of the queue.",
    at_restart(_forget_stored_sizes),
    blind=True,
)


@fault("queue-manager-change-of-public-queue-not-in-directory", breaks="MQDMPR-3.1.1.2-01", blind=True)
class QueueManagerChangeOfPublicQueueNotInDirectory(Publishing):
    """When an attribute of a public queue is changed, the queue manager does not change the directory object."""

    def write(self, queue: Queue, values: Mapping[str, Any], written: Any) -> None:
        super().write(queue, {}, written)


@fault("queue-manager-second-queue-of-type-refused", breaks="MQDMPR-3.1.1.2-02", blind=True)
class QueueManagerSecondQueueOfTypeRefused(Queues):
    """The queue manager refuses to create a queue with the Type of another queue."""

    def create_here(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        if queue.Type.int and any(one.Type == queue.Type for one in self.qm.adm.QueueCollection.values()):
            return Status.MQ_ERROR_QUEUE_EXISTS, None
        return super().create_here(queue, utc_s)


@fault("queue-recoverable-messages-before-express-messages", breaks="MQDMPR-3.1.1.2-20", blind=True)
class QueueRecoverableMessagesBeforeExpressMessages(Positions):
    """The queue manager inserts a recoverable message before the express messages of the same priority."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        express = [
            one
            for one in queue.MessagePositionList
            if one.MessageReference.Priority == message.Priority
            and one.MessageReference.DeliveryGuarantee is DeliveryGuarantee.EXPRESS
        ]
        if message.DeliveryGuarantee is DeliveryGuarantee.EXPRESS or not express:
            return super().insert_message(queue, message)
        for one in express:
            queue.MessagePositionList.remove(one)
        position = super().insert_message(queue, message)
        for one in express:
            again = MessagePosition(one.MessageReference, queue, LookupIdentifier=one.LookupIdentifier)
            queue.MessagePositionList.insert(again)
            self.qm.positions.message_available(again)
        return position


@fault("queue-own-messages-ordered-by-arrival-only", breaks="MQDMPR-3.1.1.2-20", blind=True)
class QueueOwnMessagesOrderedByArrivalOnly(Positions):
    """A message that a local application sends is the last message of its queue, regardless of its priority."""

    @only_if(lambda part, queue, message: message.Identifier.QueueManagerGuid == part.qm.adm.Identifier)
    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        position = super().insert_message(queue, replace(message, Priority=0))
        position.MessageReference = message
        return position


@fault("queue-with-authentication-accepts-unsigned-transactional-message", breaks="MQDMPR-3.1.1.2-D02", blind=True)
class QueueWithAuthenticationAcceptsUnsignedTransactionalMessage(SecurityOnReceipt):
    """A transactional queue with Authentication accepts an unsigned transactional message."""

    def check_queue_demands(self, session: Any, packet: Any, queue: Queue, now: Now) -> Outcome:
        if packet.TransactionHeader is not None and packet.SecurityHeader is None:
            return packet
        return super().check_queue_demands(session, packet, queue, now)


@fault("queue-with-authentication-accepts-unsigned-express-message", breaks="MQDMPR-3.1.1.2-D02", blind=True)
class QueueWithAuthenticationAcceptsUnsignedExpressMessage(SecurityOnReceipt):
    """A queue with Authentication accepts an unsigned express message."""

    def check_queue_demands(self, session: Any, packet: Any, queue: Queue, now: Now) -> Outcome:
        if not packet.UserHeader.DM:
            return packet
        return super().check_queue_demands(session, packet, queue, now)


@fault("queue-authentication-set-later-ignored", breaks="MQDMPR-3.1.1.2-D02", blind=True)
class QueueAuthenticationSetLaterIgnored(QueueCommands):
    """A queue whose Authentication an administrator sets to True after the creation still accepts unsigned messages."""

    def _change_attributes(self, queue: Queue, changes: dict[str, Any], token: int) -> Any:
        return super()._change_attributes(queue, {**changes, "Authentication": queue.Authentication}, token)


@fault("queue-quota-ignored-for-transactional-messages", breaks="MQDMPR-3.1.1.2-D03", blind=True)
class QueueQuotaIgnoredForTransactionalMessages(Quotas):
    """A transactional queue stores messages beyond its Quota."""

    @only_if(lambda part, queue, message: message.TransactionIdentifier is not None and queue.Quota != UNLIMITED)
    def check(self, queue: Queue, message: Message) -> EnqueueStatus:
        return EnqueueStatus.NO_ERROR


@fault("queue-quota-ignored-for-own-messages", breaks="MQDMPR-3.1.1.2-D03", blind=True)
class QueueQuotaIgnoredForOwnMessages(Quotas):
    """The queue manager stores messages of local applications beyond the Quota of a queue."""

    @only_if(
        lambda part, queue, message: (
            message.Identifier.QueueManagerGuid == part.qm.adm.Identifier and queue.Quota != UNLIMITED
        )
    )
    def check(self, queue: Queue, message: Message) -> EnqueueStatus:
        return EnqueueStatus.NO_ERROR


@fault("queue-quota-admits-first-message-of-any-size", breaks="MQDMPR-3.1.1.2-D03", blind=True)
class QueueQuotaAdmitsFirstMessageOfAnySize(Quotas):
    """An empty queue accepts a message that is larger than its Quota."""

    @only_if(lambda part, queue, message: not len(queue.MessagePositionList) and queue.parent is None)
    def check(self, queue: Queue, message: Message) -> EnqueueStatus:
        return EnqueueStatus.NO_ERROR


@fault("queue-journal-quota-shared-by-all-journals", breaks="MQDMPR-3.1.1.2-D04", blind=True)
class QueueJournalQuotaSharedByAllJournals(Quotas):
    """The messages in the journals of all queues count against the JournalQuota of each queue."""

    @only_if(lambda part, queue, message: queue.parent is not None and queue.parent.JournalQuota != UNLIMITED)
    def check(self, queue: Queue, message: Message) -> EnqueueStatus:
        status = super().check(queue, message)
        assert queue.parent is not None
        if self.qm.adm.journal_storage.used + 1 > queue.parent.JournalQuota * 1024:
            return EnqueueStatus.QUEUE_QUOTA_EXCEEDED
        return status


@fault("queue-journal-discards-oldest-message-when-full", breaks="MQDMPR-3.1.1.2-D04", blind=True)
class QueueJournalDiscardsOldestMessageWhenFull(Journaling):
    """A full journal discards its oldest messages to store a new message that alone exceeds JournalQuota."""

    def journal_received(self, position: MessagePosition, reason: MessageClass) -> None:
        journal = position.QueueReference.JournalQueueReference
        received = reason is MessageClass.MQMSG_CLASS_ACK_RECEIVE
        if journal is not None and position.QueueReference.Journaling and received:
            for old in list(journal.MessagePositionList):
                if self.qm.quotas.check(journal, position.MessageReference):
                    journal.MessagePositionList.remove(old)
        super().journal_received(position, reason)


@fault("queue-journals-purged-messages", breaks="MQDMPR-3.1.1.2-D05", blind=True)
class QueueJournalsPurgedMessages(Journaling):
    """The queue manager copies a message that is purged from a queue with Journaling into the journal."""

    def journal_received(self, position: MessagePosition, reason: MessageClass) -> None:
        purged = reason is MessageClass.MQMSG_CLASS_NACK_Q_PURGED
        super().journal_received(position, MessageClass.MQMSG_CLASS_ACK_RECEIVE if purged else reason)


@fault("queue-journals-expired-messages", breaks="MQDMPR-3.1.1.2-D05", blind=True)
class QueueJournalsExpiredMessages(Journaling):
    """The queue manager copies a message that expires in a queue with Journaling into the journal."""

    def journal_received(self, position: MessagePosition, reason: MessageClass) -> None:
        expired = reason is MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT
        super().journal_received(position, MessageClass.MQMSG_CLASS_ACK_RECEIVE if expired else reason)


@fault("queue-journaling-disabled-later-still-journals", breaks="MQDMPR-3.1.1.2-D05", blind=True)
class QueueJournalingDisabledLaterStillJournals(QueueCommands):
    """A queue whose Journaling an administrator sets to False still copies received messages into its journal."""

    def _change_attributes(self, queue: Queue, changes: dict[str, Any], token: int) -> Any:
        if changes.get("Journaling") is False:
            changes = {**changes, "Journaling": queue.Journaling}
        return super()._change_attributes(queue, changes, token)


@fault("queue-journal-copy-without-extension-and-tag", breaks="MQDMPR-3.1.1.2-D05", blind=True)
class QueueJournalCopyWithoutExtensionAndTag(Journaling):
    """The copy of a message in a journal has neither the extension nor the application tag of the message."""

    def keep_message(self, queue: Queue, message: Message) -> None:
        if queue.parent is not None:
            message = replace(message, Extension=b"", AppSpecific=0)
        super().keep_message(queue, message)


@fault("queue-express-messages-not-journaled", breaks="MQDMPR-3.1.1.2-D05", blind=True)
class QueueExpressMessagesNotJournaled(Journaling):
    """The queue manager does not copy an express message that is received from a queue with Journaling into the
    journal.
    """

    @only_if(lambda part, position, reason: position.MessageReference.DeliveryGuarantee is DeliveryGuarantee.EXPRESS)
    def journal_received(self, position: MessagePosition, reason: MessageClass) -> None:
        return


@fault("queue-manager-queue-active-false-while-open-to-send", breaks="MQDMPR-3.1.1.2-D06", blind=True)
class QueueManagerQueueActiveFalseWhileOpenToSend(Inspection):
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


@fault("journal-quota-checked-without-new-message", breaks="MQDMPR-3.1.1.2-D04")
class JournalQuotaCheckedWithoutNewMessage(Quotas):
    """The journal of a queue accepts a message if the messages that are already in the journal do not exceed
    JournalQuota.
    """

    def check(self, queue: Queue, message: Message) -> EnqueueStatus:
        status = super().check(queue, message)
        if queue.QueueType is not QueueType.SYSTEM or queue.parent is None:
            return status
        if queue.TotalBytes and status is EnqueueStatus.QUEUE_QUOTA_EXCEEDED:
            return EnqueueStatus.NO_ERROR if queue.TotalBytes < queue.parent.JournalQuota * 1024 else status
        return status


@fault("journal-quota-shared-by-all-queues", breaks="MQDMPR-3.1.1.2-D04")
class JournalQuotaSharedByAllQueues(Quotas):
    """The messages in the journals of all queues count towards the JournalQuota of each queue."""

    def check(self, queue: Queue, message: Message) -> EnqueueStatus:
        status = super().check(queue, message)
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
