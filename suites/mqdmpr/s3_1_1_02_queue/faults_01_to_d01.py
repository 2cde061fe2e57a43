"""Faults that break the rules MQDMPR-3.1.1.2-01 to MQDMPR-3.1.1.2-D01."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.parts import fault, faulty_only_if, replace_part
from harness.faults.primitives import change_core_at_restart, combine_installers
from harness.faults.registry import Install, add
from harness.faults.rpc_calls import change_rpc_answer
from reference_qm.core.commands.data_model_inspection import DataModelInspection
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.queueing.message_reading import MessageReading
from reference_qm.core.queueing.public_queue_publishing import PublicQueuePublishing
from reference_qm.core.queueing.queue_lifecycle import QueueLifecycle
from reference_qm.core.queueing.queue_opening import QueueOpening
from reference_qm.core.remote.remote_read_starting import RemoteReadStarting
from reference_qm.directory import objects
from reference_qm.directory.enums import DirectoryOperationResult, PrivacyLevel, QueueType, Scope
from reference_qm.model.adm import Message, MessagePosition, Queue
from reference_qm.model.attributes import UNLIMITED_QUOTA_KB
from reference_qm.model.elements import Cursor, OnReadAnswered, OpenQueueDescriptor
from reference_qm.model.position_list import Entry
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.model.statuses import Status
from reference_qm.security import DEFAULT_QUEUE_SECURITY, EVERYONE_SID, Ace, AceType, Acl
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import GetOutgoingQueue, Result


@fault("public-queue-object-without-attributes", breaks="MQDMPR-3.1.1.2-01")
class PublicQueueObjectWithoutAttributes(PublicQueuePublishing):
    """The directory object of a public queue contains only the queue's name."""

    def _build_element(self, queue: Queue) -> objects.Queue:
        element = super()._build_element(queue)
        return objects.Queue(Identifier=element.Identifier, Pathname=element.Pathname)


def _set_modify_times_to_create_times(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        queue.ModifyTime = queue.CreateTime


add(
    "queue-manager-queue-modify-time-reset-at-restart",
    "MQDMPR-3.1.1.2-01",
    "At a restart, the queue manager sets ModifyTime of a queue to CreateTime.",
    change_core_at_restart(_set_modify_times_to_create_times),
    blind=True,
)


def _set_privacy_levels_to_optional(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        queue.PrivacyLevel = PrivacyLevel.OPTIONAL


add(
    "queue-manager-privacy-level-of-queue-lost-at-restart",
    "MQDMPR-3.1.1.2-01",
    "At a restart, the queue manager sets the PrivacyLevel of a queue to Optional.",
    change_core_at_restart(_set_privacy_levels_to_optional),
)


def _truncate_queue_labels(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        queue.Label = queue.Label[:64]


add(
    "queue-manager-queue-label-cut-at-restart",
    "MQDMPR-3.1.1.2-01",
    "After a restart, the queue manager has only the first 64 characters of the label of a queue.",
    change_core_at_restart(_truncate_queue_labels),
    blind=True,
)


def _make_zero_journal_quotas_unlimited(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        queue.JournalQuota = queue.JournalQuota or UNLIMITED_QUOTA_KB


add(
    "queue-manager-journal-quota-0-unlimited-after-restart",
    "MQDMPR-3.1.1.2-01",
    "After a restart, the queue manager applies no limit to the journal of a queue whose JournalQuota is 0.",
    change_core_at_restart(_make_zero_journal_quotas_unlimited),
    blind=True,
)


def _set_default_queue_descriptors(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        queue.Security = DEFAULT_QUEUE_SECURITY


add(
    "queue-manager-security-descriptor-of-queue-lost-at-restart",
    "MQDMPR-3.1.1.2-01",
    "At a restart, the queue manager replaces the security descriptor of every queue with the default.",
    change_core_at_restart(_set_default_queue_descriptors),
    blind=True,
)


@fault("queue-manager-change-of-public-queue-not-written-to-directory", breaks="MQDMPR-3.1.1.2-01", blind=True)
class QueueManagerChangeOfPublicQueueNotWrittenToDirectory(PublicQueuePublishing):
    """When an attribute of a public queue is changed, the queue manager does not change the directory object."""

    def write(self, queue: Queue, values: Mapping[str, Any], written: Any) -> None:
        super().write(queue, {}, written)


def _make_fault_in_created_queues(spoil: Callable[[Queue], None]) -> Install:
    """Build a fault that changes each queue when the queue manager creates it."""

    class CreatedQueueChanger(QueueLifecycle):
        def create_without_directory(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
            status, created = super().create_without_directory(queue, utc_s)
            if created is not None:
                spoil(created)
            return status, created

    return replace_part(CreatedQueueChanger)


def _give_queue_without_type_the_product_type(queue: Queue) -> None:
    queue.Type = UUID("55ee8f32-cce9-11cf-b108-0020afd61ce9") if queue.Type.int == 0 else queue.Type


def _set_netbios_name_in_pathname(queue: Queue) -> None:
    computer, _, rest = queue.QualifiedPathname.partition("\\")
    queue.QualifiedPathname = f"{computer.partition('.')[0]}\\{rest}"


def _grant_file_rights_to_everyone(queue: Queue) -> None:
    queue.Security = replace(queue.Security, Dacl=Acl((Ace(AceType.ACCESS_ALLOWED, 0x001F_01FF, EVERYONE_SID),)))


def _set_queue_scope_to_site(queue: Queue) -> None:
    queue.Scope = Scope.SITE


for _name, _rule, _says, _spoil in (
    (
        "queue-without-type-gets-one",
        "MQDMPR-3.1.1.2-02",
        ("The queue manager generates a Type for a queue that is created without a Type."),
        _give_queue_without_type_the_product_type,
    ),
    (
        "queue-qualified-path-netbios-name",
        "MQDMPR-3.1.1.2-03",
        ("The QualifiedPathname of a queue begins with the NetBIOS name of the computer."),
        _set_netbios_name_in_pathname,
    ),
    (
        "queue-security-has-file-rights",
        "MQDMPR-3.1.1.2-08",
        "The security descriptor of a queue has access masks for files instead of MQQUEUEACCESSMASK.",
        _grant_file_rights_to_everyone,
    ),
    (
        "queue-scope-site",
        "MQDMPR-3.1.1.2-09",
        "The queue manager sets the Scope of a queue to Site.",
        _set_queue_scope_to_site,
    ),
):
    add(_name, _rule, _says, _make_fault_in_created_queues(_spoil))


@fault("queue-manager-creation-of-second-queue-with-same-type-refused", breaks="MQDMPR-3.1.1.2-02", blind=True)
class QueueManagerCreationOfSecondQueueWithSameTypeRefused(QueueLifecycle):
    """The queue manager refuses to create a queue with the Type of another queue."""

    def create_without_directory(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        if queue.Type.int and any(one.Type == queue.Type for one in self.qm.adm.QueueCollection.values()):
            return Status.MQ_ERROR_QUEUE_EXISTS, None
        return super().create_without_directory(queue, utc_s)


@fault("queue-manager-qualified-path-name-with-short-computer-name", breaks="MQDMPR-3.1.1.2-03")
class QueueManagerQualifiedPathNameWithShortComputerName(QueueLifecycle):
    """The QualifiedPathname of a queue begins with the name of the computer without the domain."""

    def create_without_directory(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        status, created = super().create_without_directory(queue, utc_s)
        if created is not None:
            computer = self.qm.config.host_name.partition(".")[0]
            created.QualifiedPathname = f"{computer}\\{created.Pathname}"
        return status, created


ACTIVE_ATTRIBUTE_RULES = ("MQDMPR-3.1.1.2-12", "MQDMPR-3.1.1.2-D06")


@fault("closed-queue-stays-active", breaks=("MQDMPR-3.1.1.2-12", "MQDMPR-3.1.1.2-D06", "MQDMPR-3.1.7.1.6-17"))
class ClosedQueueStaysActive(QueueOpening):
    """A queue stays active after its last handle is closed."""

    def close_queue(self, queue_desc: OpenQueueDescriptor) -> None:
        queue = queue_desc.QueueReference
        super().close_queue(queue_desc)
        if queue is not None:
            queue.OpenQueueDescriptorCollection[queue_desc.Handle] = queue_desc


@fault("outgoing-queue-with-message-inactive", breaks=ACTIVE_ATTRIBUTE_RULES)
class OutgoingQueueWithMessageInactive(DataModelInspection):
    """An outgoing queue with an unsent message is inactive unless it is open."""

    def inspect(self, now: Now) -> dict[str, Any]:
        shown = super().inspect(now)
        return shown | {"OutgoingQueues": [one | {"Active": False} for one in shown["OutgoingQueues"]]}

    def get_outgoing_queue(self, request: GetOutgoingQueue, token: int, now: Now) -> Result:
        told = super().get_outgoing_queue(request, token, now)
        return Result({"outgoing": [one | {"Active": False} for one in told.values["outgoing"]]})


@fault("system-queue-published-in-directory", breaks="MQDMPR-3.1.1.2-18")
class SystemQueuePublishedInDirectory(DirectoryClient):
    """A system queue has an object in the directory."""

    def synchronize_with_directory(self, now: Now) -> DirectoryOperationResult:
        status = super().synchronize_with_directory(now)
        self.qm.public_queue_publishing.publish(
            Queue(Pathname="system$;journal", QueueType=QueueType.SYSTEM), lambda status: None
        )
        return status


@fault("queue-messages-ordered-from-lowest-priority", breaks="MQDMPR-3.1.1.2-20")
class QueueMessagesOrderedFromLowestPriority(MessagePositions):
    """The queue manager orders the messages of a queue from the lowest priority to the highest."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        return super().insert_message(queue, replace(message, Priority=7 - message.Priority))


@fault("queue-priority-ignored", breaks="MQDMPR-3.1.1.2-20")
class QueuePriorityIgnored(MessagePositions):
    """The queue manager orders the messages of a queue by arrival, regardless of their priorities."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        return super().insert_message(queue, replace(message, Priority=3))


@fault("queue-recoverable-messages-before-express-messages", breaks="MQDMPR-3.1.1.2-20", blind=True)
class QueueRecoverableMessagesBeforeExpressMessages(MessagePositions):
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
            self.qm.message_positions.on_message_available(again)
        return position


@fault("queue-messages-of-local-applications-ordered-by-arrival-only", breaks="MQDMPR-3.1.1.2-20", blind=True)
class QueueMessagesOfLocalApplicationsOrderedByArrivalOnly(MessagePositions):
    """A message that a local application sends is the last message of its queue, regardless of its priority."""

    @faulty_only_if(lambda part, queue, message: message.Identifier.QueueManagerGuid == part.qm.adm.Identifier)
    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        position = super().insert_message(queue, replace(message, Priority=0))
        position.MessageReference = message
        return position


LOWEST_FAILURE_STATUS = 0x8000_0000


add(
    "empty-queue-read-succeeds",
    "MQDMPR-3.1.1.2-21",
    "The queue manager returns success without a message for a read of an empty queue.",
    change_rpc_answer(
        RemoteReadStarting.remote_qm_start_receive2,
        Return=lambda status: status if status < LOWEST_FAILURE_STATUS else 0,
    ),
)


class PurgedFirstMessageReturner(MessageReading):
    """After a purge, a peek at the empty queue returns the message that was the first of the queue before the purge."""

    first_entries_before_purge: tuple[tuple[Entry, MessagePosition], ...] = ()

    def peek_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: OnReadAnswered,
        now: Now,
        timeout_ms: int | None = None,
        cursor: Cursor | None = None,
        tag: Hashable | None = None,
    ) -> None:
        if queue_desc.QueueReference is not None and cursor is None:
            start = queue_desc.QueueReference.MessagePositionList.Start
            head = next((head for one, head in self.first_entries_before_purge if one is start), None)
            if head is not None and self.qm.message_search.seek_available(start, True) is None:
                answered(Status.MQ_OK, head)
                return
        super().peek_message(queue_desc, answered, now, timeout_ms, cursor, tag)


class PurgedFirstMessagePositionKeeper(QueueLifecycle):
    """A purge does not reset the position of the first message of the queue, so a later peek at the empty queue returns
    the purged message.
    """

    def purge(
        self,
        queue: Queue,
        token: int | None,
        done: Callable[[int], Result],
        failed: Callable[[], None] | None = None,
    ) -> Result | None:
        start = queue.MessagePositionList.Start
        head = self.qm.message_search.seek_available(start, True)
        if head is not None:
            self.qm.message_reading.first_entries_before_purge += ((start, head),)  # type: ignore[attr-defined]
        return super().purge(queue, token, done, failed)


add(
    "queue-manager-head-of-purged-queue-not-end",
    "MQDMPR-3.1.1.2-21",
    "After a purge, the Head of the queue still refers to a purged message, which a peek then returns.",
    combine_installers(replace_part(PurgedFirstMessageReturner), replace_part(PurgedFirstMessagePositionKeeper)),
    blind=True,
)


def _reuse_private_queue_number(qm: QueueManager) -> None:
    qm.adm.last_private_queue_number -= 1


add(
    "private-queue-number-reused-after-restart",
    "MQDMPR-3.1.1.2-D01",
    "After a restart the queue manager assigns the number of an existing queue to a new private queue.",
    change_core_at_restart(_reuse_private_queue_number),
)
