"""Faults of MS-MQDMPR 3.1.1.2 Queue."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.events import after_events
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import at_restart, skip
from harness.faults.registry import Install, add
from harness.faults.rpc_calls import change_answer
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.commands.inspection import Inspection
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.journaling import Journaling
from reference_qm.core.queueing.positions import Positions
from reference_qm.core.queueing.publishing import Publishing
from reference_qm.core.queueing.queue_opening import QueueOpening
from reference_qm.core.queueing.queues import Queues
from reference_qm.core.queueing.quotas import Quotas
from reference_qm.core.queueing.transaction_events import TransactionEvents
from reference_qm.core.remote.remote_starting import RemoteStarting
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.directory import objects
from reference_qm.directory.enums import DirectoryOperationResult, QueueType, Scope
from reference_qm.model.adm import Message, MessagePosition, Queue, Session
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.enums import RemoteReadState
from reference_qm.model.statuses import EnqueueStatus, Status
from reference_qm.model.transactions import TransactionalOperation
from reference_qm.security import EVERYONE, Ace, AceType, Acl
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import GetOutgoingQueue, Result

FIRST_FAILURE_STATUS = 0x8000_0000
ACTIVE_RULES = ("MQDMPR-3.1.1.2-12", "MQDMPR-3.1.1.2-D06")


def _reuse_private_queue_number(qm: QueueManager) -> None:
    qm.adm.last_private_queue_number -= 1


add(
    "private-queue-number-reused-after-restart",
    "MQDMPR-3.1.1.2-D01",
    "After a restart the queue manager assigns the number of an existing queue to a new private queue.",
    at_restart(_reuse_private_queue_number),
)


@fault("queue-lowest-priority-first", breaks="MQDMPR-3.1.1.2-20")
class QueueLowestPriorityFirst(Positions):
    """The queue manager orders the messages of a queue from the lowest priority to the highest."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        return super().insert_message(queue, replace(message, Priority=7 - message.Priority))


@fault("queue-priority-ignored", breaks="MQDMPR-3.1.1.2-20")
class QueuePriorityIgnored(Positions):
    """The queue manager orders the messages of a queue by arrival, regardless of their priorities."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        return super().insert_message(queue, replace(message, Priority=3))


add(
    "empty-queue-read-succeeds",
    "MQDMPR-3.1.1.2-21",
    "The queue manager returns success without a message for a read of an empty queue.",
    change_answer(
        RemoteStarting.remote_qm_start_receive2, Return=lambda status: status if status < FIRST_FAILURE_STATUS else 0
    ),
)


@fault("queue-journal-quota-ignored", breaks="MQDMPR-3.1.1.2-D04")
class QueueJournalQuotaIgnored(Quotas):
    """The queue manager stores messages in the journal of a queue beyond the JournalQuota of the queue."""

    def check(self, queue: Queue, message: Message) -> EnqueueStatus:
        if queue.parent is not None and queue.QueueType is QueueType.SYSTEM:
            return EnqueueStatus.NO_ERROR
        return super().check(queue, message)


add(
    "queue-with-journaling-journals-nothing",
    "MQDMPR-3.1.1.2-D05",
    "The queue manager does not copy a message that is received from a queue with Journaling into the journal.",
    skip(Journaling.journal_received),
)


@fault("queue-without-journaling-journals", breaks="MQDMPR-3.1.1.2-D05")
class QueueWithoutJournalingJournals(Journaling):
    """The queue manager copies a message that is received from a queue without Journaling into the journal."""

    def journal_received(self, position: MessagePosition, reason: MessageClass) -> None:
        queue = position.QueueReference
        before, queue.Journaling = queue.Journaling, True
        super().journal_received(position, reason)
        queue.Journaling = before


@fault("queue-with-authentication-accepts-unsigned-message", breaks="MQDMPR-3.1.1.2-D02")
class QueueWithAuthenticationAcceptsUnsignedMessage(SecurityOnReceipt):
    """A queue with Authentication accepts an unsigned message."""

    def check_queue_demands(
        self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now
    ) -> UserMessagePacket | MessageClass:
        return packet


@fault("queue-with-authentication-refuses-signed-message", breaks="MQDMPR-3.1.1.2-D02")
class QueueWithAuthenticationRefusesSignedMessage(SecurityOnReceipt):
    """A queue with Authentication refuses every message, even a signed message."""

    def check_queue_demands(
        self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now
    ) -> UserMessagePacket | MessageClass:
        if queue.Authentication:
            return MessageClass.MQMSG_CLASS_NACK_BAD_SIGNATURE
        return super().check_queue_demands(session, packet, queue, now)


@fault("queue-without-authentication-refuses-unsigned-message", breaks="MQDMPR-3.1.1.2-D02")
class QueueWithoutAuthenticationRefusesUnsignedMessage(SecurityOnReceipt):
    """A queue without Authentication refuses an unsigned message."""

    def check_queue_demands(
        self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now
    ) -> UserMessagePacket | MessageClass:
        before, queue.Authentication = queue.Authentication, True
        checked = super().check_queue_demands(session, packet, queue, now)
        queue.Authentication = before
        return checked


def _change_created_queue(spoil: Callable[[Queue], None]) -> Install:
    """Build a fault that changes each queue when the queue manager creates it."""

    class Created(Queues):
        def create_here(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
            status, created = super().create_here(queue, utc_s)
            if created is not None:
                spoil(created)
            return status, created

    return replace_part(Created)


def _set_product_type(queue: Queue) -> None:
    queue.Type = UUID("55ee8f32-cce9-11cf-b108-0020afd61ce9") if queue.Type.int == 0 else queue.Type


def _use_netbios_name(queue: Queue) -> None:
    computer, _, rest = queue.QualifiedPathname.partition("\\")
    queue.QualifiedPathname = f"{computer.partition('.')[0]}\\{rest}"


def _grant_file_rights(queue: Queue) -> None:
    queue.Security = replace(queue.Security, Dacl=Acl((Ace(AceType.ACCESS_ALLOWED, 0x001F_01FF, EVERYONE),)))


def _set_site_scope(queue: Queue) -> None:
    queue.Scope = Scope.SITE


for _name, _rule, _says, _spoil in (
    (
        "queue-without-type-gets-one",
        "MQDMPR-3.1.1.2-02",
        ("The queue manager generates a Type for a queue that is created without a Type."),
        _set_product_type,
    ),
    (
        "queue-qualified-path-netbios-name",
        "MQDMPR-3.1.1.2-03",
        ("The QualifiedPathname of a queue begins with the NetBIOS name of the computer."),
        _use_netbios_name,
    ),
    (
        "queue-security-has-file-rights",
        "MQDMPR-3.1.1.2-08",
        "The security descriptor of a queue has access masks for files instead of MQQUEUEACCESSMASK.",
        _grant_file_rights,
    ),
    ("queue-scope-site", "MQDMPR-3.1.1.2-09", "The queue manager sets the Scope of a queue to Site.", _set_site_scope),
):
    add(_name, _rule, _says, _change_created_queue(_spoil))


@fault("closed-queue-stays-active", breaks=ACTIVE_RULES)
class ClosedQueueStaysActive(QueueOpening):
    """A queue stays active after its last handle is closed."""

    def close_queue(self, queue_desc: OpenQueueDescriptor) -> None:
        queue = queue_desc.QueueReference
        super().close_queue(queue_desc)
        if queue is not None:
            queue.OpenQueueDescriptorCollection[queue_desc.Handle] = queue_desc


@fault("outgoing-queue-with-message-inactive", breaks=ACTIVE_RULES)
class OutgoingQueueWithMessageInactive(Inspection):
    """An outgoing queue with an unsent message is inactive unless it is open."""

    def inspect(self, now: Now) -> dict[str, Any]:
        shown = super().inspect(now)
        return shown | {"OutgoingQueues": [one | {"Active": False} for one in shown["OutgoingQueues"]]}

    def get_outgoing_queue(self, request: GetOutgoingQueue, token: int, now: Now) -> Result:
        told = super().get_outgoing_queue(request, token, now)
        return Result({"outgoing": [one | {"Active": False} for one in told.values["outgoing"]]})


@fault("system-queue-in-directory", breaks="MQDMPR-3.1.1.2-18")
class SystemQueueInDirectory(DirectoryClient):
    """A system queue has an object in the directory."""

    def synchronize(self, now: Now) -> DirectoryOperationResult:
        status = super().synchronize(now)
        self.qm.publishing.publish(Queue(Pathname="system$;journal", QueueType=QueueType.SYSTEM), lambda status: None)
        return status


@fault("public-queue-object-without-attributes", breaks="MQDMPR-3.1.1.2-01")
class PublicQueueObjectWithoutAttributes(Publishing):
    """The directory object of a public queue contains only the queue's name."""

    def _build_element(self, queue: Queue) -> objects.Queue:
        element = super()._build_element(queue)
        return objects.Queue(Identifier=element.Identifier, Pathname=element.Pathname)


@fault("message-received-remotely-not-journaled", breaks="MQDMPR-3.1.1.2-D05")
class MessageReceivedRemotelyNotJournaled(Journaling):
    """A message that is received while a remote reader has its queue open is not stored in the journal."""

    def journal_received(self, position: MessagePosition, reason: MessageClass) -> None:
        opened = [one for one in self.qm.descriptors.values() if one.QueueReference is position.QueueReference]
        if all(one.RemoteReadState is RemoteReadState.NONE for one in opened):
            super().journal_received(position, reason)


@fault("message-received-in-transaction-not-journaled", breaks="MQDMPR-3.1.1.2-D05")
class MessageReceivedInTransactionNotJournaled(TransactionEvents):
    """When a transaction commits, the queue manager does not store the messages that the transaction received in the
    journal.
    """

    def commit_dequeue(self, operation: TransactionalOperation, now: Now) -> None:
        queue = operation.MessagePositionReference.QueueReference
        journaling, queue.Journaling = queue.Journaling, False
        super().commit_dequeue(operation, now)

        def restore() -> None:
            queue.Journaling = journaling

        after_events(self.qm, restore)
