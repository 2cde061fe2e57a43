"""Faults that break the rules MQDMPR-3.1.7.1.5-103 to MQDMPR-3.1.7.1.5-125."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import FormatName
from reference_qm.core.names.queue_names import QueueNames
from reference_qm.core.queueing.queue_opening import (
    DENY_NONE,
    DENY_RECEIVE,
    RECEIVE_ACCESS,
    SEND_ACCESS,
    OpenQueueResult,
    QueueOpening,
)
from reference_qm.core.remote.qmcomm_methods import QmcommMethods
from reference_qm.model.adm import Queue
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.enums import QueueAccessType, QueueShareMode, RemoteReadState
from reference_qm.model.statuses import Status
from reference_qm.surface.clock import Now


def _get_open_modes(queue: Queue) -> set[tuple[QueueShareMode, QueueAccessType]]:
    return {(one.ShareMode, one.AccessType) for one in queue.OpenQueueDescriptorCollection.values()}


@fault("deny-receive-granted-beside-exclusive-receiver", breaks="MQDMPR-3.1.7.1.5-103")
class DenyReceiveGrantedBesideExclusiveReceiver(QueueOpening):
    """A reader with PeekAccess and DenyReceive can open a queue that another reader has open with ReceiveAccess and
    DenyReceive.
    """

    def may_share_queue(self, queue: Queue, required_access: QueueAccessType, shared_mode: QueueShareMode) -> bool:
        if (DENY_RECEIVE, RECEIVE_ACCESS) in _get_open_modes(queue):
            return required_access is not RECEIVE_ACCESS
        return super().may_share_queue(queue, required_access, shared_mode)


@fault(
    "sharing-mode-of-local-applications-ignored",
    breaks=("MQDMPR-3.1.7.1.5-103", "MQDMPR-3.1.7.1.5-106", "MQDMPR-3.1.7.1.5-110", "MQDMPR-3.1.7.1.5-114"),
)
class SharingModeOfLocalApplicationsIgnored(QueueOpening):
    """Only the modes of remote readers exclude a reader; the modes of the queue manager's own applications do not."""

    def may_share_queue(self, queue: Queue, required_access: QueueAccessType, shared_mode: QueueShareMode) -> bool:
        opened = queue.OpenQueueDescriptorCollection
        queue.OpenQueueDescriptorCollection = {
            handle: one for handle, one in opened.items() if one.RemoteReadState is not RemoteReadState.NONE
        }
        try:
            return bool(super().may_share_queue(queue, required_access, shared_mode))
        finally:
            queue.OpenQueueDescriptorCollection = opened


@fault("peek-with-deny-receive-admitted-beside-exclusive-receiver", breaks="MQDMPR-3.1.7.1.5-103")
class PeekWithDenyReceiveAdmittedBesideExclusiveReceiver(QueueOpening):
    """An open with PeekAccess and DenyReceive succeeds although a receiver has the queue open with DenyReceive."""

    def may_share_queue(self, queue: Queue, required_access: QueueAccessType, shared_mode: QueueShareMode) -> bool:
        if required_access is QueueAccessType.PEEK and shared_mode is DENY_RECEIVE:
            return True
        return super().may_share_queue(queue, required_access, shared_mode)


@fault("receive-access-granted-beside-exclusive-receiver", breaks="MQDMPR-3.1.7.1.5-106")
class ReceiveAccessGrantedBesideExclusiveReceiver(QueueOpening):
    """A reader with ReceiveAccess and DenyNone can open a queue that another reader has open with DenyReceive."""

    def may_share_queue(self, queue: Queue, required_access: QueueAccessType, shared_mode: QueueShareMode) -> bool:
        exclusive = (DENY_RECEIVE, RECEIVE_ACCESS) in _get_open_modes(queue)
        return (exclusive and shared_mode is DENY_NONE) or super().may_share_queue(queue, required_access, shared_mode)


@fault("queue-manager-open-queue-sharing-checked-against-newest-opening", breaks="MQDMPR-3.1.7.1.5-106", blind=True)
class QueueManagerOpenQueueSharingCheckedAgainstNewestOpening(QueueOpening):
    """When a queue is opened, the queue manager checks only the sharing mode of the newest handle of that queue, and
    ignores earlier handles.
    """

    def may_share_queue(self, queue: Queue, required_access: QueueAccessType, shared_mode: QueueShareMode) -> bool:
        opened = queue.OpenQueueDescriptorCollection
        queue.OpenQueueDescriptorCollection = dict(list(opened.items())[-1:])
        try:
            return super().may_share_queue(queue, required_access, shared_mode)
        finally:
            queue.OpenQueueDescriptorCollection = opened


@fault("queue-manager-deny-receive-ends-when-further-reader-peeks", breaks="MQDMPR-3.1.7.1.5-106")
class QueueManagerDenyReceiveEndsWhenFurtherReaderPeeks(QueueOpening):
    """A receiver with DenyReceive excludes other receivers only until a further reader peeks at the queue."""

    def may_share_queue(self, queue: Queue, required_access: QueueAccessType, shared_mode: QueueShareMode) -> bool:
        users = list(queue.OpenQueueDescriptorCollection.values())
        last = bool(users) and users[-1].AccessType is QueueAccessType.PEEK
        exclusive = any(one.ShareMode is DENY_RECEIVE and one.AccessType is RECEIVE_ACCESS for one in users)
        if exclusive and last and required_access is RECEIVE_ACCESS:
            return True
        return super().may_share_queue(queue, required_access, shared_mode)


@fault("open-queue-exclusive-receiver-of-subqueue-ignored", breaks="MQDMPR-3.1.7.1.5-106", blind=True)
class OpenQueueExclusiveReceiverOfSubqueueIgnored(QueueOpening):
    """The queue manager opens a subqueue with ReceiveAccess although another reader has the subqueue open with
    ReceiveAccess and DenyReceive.
    """

    def may_share_queue(self, queue: Queue, required_access: QueueAccessType, shared_mode: QueueShareMode) -> bool:
        subqueue = queue.parent is not None and not queue.Pathname.lower().endswith(";journal")
        return subqueue or super().may_share_queue(queue, required_access, shared_mode)


@fault("exclusive-receiver-blocks-only-first-further-reader", breaks="MQDMPR-3.1.7.1.5-106", blind=True)
class ExclusiveReceiverBlocksOnlyFirstFurtherReader(QueueOpening):
    """After the queue manager has refused one reader because of an exclusive reader, it admits the next reader."""

    def may_share_queue(self, queue: Queue, required_access: QueueAccessType, shared_mode: QueueShareMode) -> bool:
        shared = super().may_share_queue(queue, required_access, shared_mode)
        if not shared:
            for one in queue.OpenQueueDescriptorCollection.values():
                one.ShareMode = DENY_NONE
        return shared


@fault("receive-access-granted-beside-exclusive-peeker", breaks="MQDMPR-3.1.7.1.5-110")
class ReceiveAccessGrantedBesideExclusivePeeker(QueueOpening):
    """A reader with ReceiveAccess can open a queue that another reader has open with PeekAccess and DenyReceive."""

    def may_share_queue(self, queue: Queue, required_access: QueueAccessType, shared_mode: QueueShareMode) -> bool:
        peeked = any(
            (DENY_RECEIVE, one) in _get_open_modes(queue) for one in (QueueAccessType.PEEK, QueueAccessType.PEEK_ADMIN)
        )
        return peeked or super().may_share_queue(queue, required_access, shared_mode)


@fault("exclusive-peeker-admits-receiver-beside-shared-peeker", breaks="MQDMPR-3.1.7.1.5-110")
class ExclusivePeekerAdmitsReceiverBesideSharedPeeker(QueueOpening):
    """A reader with PeekAccess and DenyReceive excludes no receiver while another reader peeks with DenyNone."""

    def may_share_queue(self, queue: Queue, required_access: QueueAccessType, shared_mode: QueueShareMode) -> bool:
        users = list(queue.OpenQueueDescriptorCollection.values())
        peeks = [one for one in users if one.AccessType is QueueAccessType.PEEK]
        if (
            len(peeks) > 1
            and required_access is RECEIVE_ACCESS
            and any(one.ShareMode is not DENY_RECEIVE for one in peeks)
        ):
            return all(one.AccessType is QueueAccessType.PEEK for one in users)
        return super().may_share_queue(queue, required_access, shared_mode)


@fault("open-queue-exclusive-peeker-of-journal-ignored", breaks="MQDMPR-3.1.7.1.5-110", blind=True)
class OpenQueueExclusivePeekerOfJournalIgnored(QueueOpening):
    """The queue manager opens a journal with ReceiveAccess although another reader has the journal open with PeekAccess
    and DenyReceive.
    """

    def may_share_queue(self, queue: Queue, required_access: QueueAccessType, shared_mode: QueueShareMode) -> bool:
        if required_access is RECEIVE_ACCESS and queue.Pathname.lower().endswith(";journal"):
            return True
        return super().may_share_queue(queue, required_access, shared_mode)


PEEK_ACCESS = QueueAccessType.PEEK


@fault("deny-receive-of-peeker-ignored-beside-shared-peeker", breaks="MQDMPR-3.1.7.1.5-110", blind=True)
class DenyReceiveOfPeekerIgnoredBesideSharedPeeker(QueueOpening):
    """While a queue is open with PeekAccess and DenyNone, the queue manager admits a reader with ReceiveAccess, even if
    another reader has the queue open with PeekAccess and DenyReceive.
    """

    def may_share_queue(self, queue: Queue, required_access: QueueAccessType, shared_mode: QueueShareMode) -> bool:
        modes = {(one.ShareMode, one.AccessType.name) for one in queue.OpenQueueDescriptorCollection.values()}
        if (
            (DENY_NONE, "PEEK") in modes
            and (DENY_RECEIVE, "RECEIVE") not in modes
            and required_access is RECEIVE_ACCESS
        ):
            return True
        return super().may_share_queue(queue, required_access, shared_mode)


@fault("deny-receive-granted-beside-shared-receiver", breaks="MQDMPR-3.1.7.1.5-114")
class DenyReceiveGrantedBesideSharedReceiver(QueueOpening):
    """A reader with DenyReceive can open a queue that another reader has open with ReceiveAccess and DenyNone."""

    def may_share_queue(self, queue: Queue, required_access: QueueAccessType, shared_mode: QueueShareMode) -> bool:
        return _get_open_modes(queue) == {(DENY_NONE, RECEIVE_ACCESS)} or super().may_share_queue(
            queue, required_access, shared_mode
        )


@fault("open-queue-descriptor-not-added-to-queue", breaks=("MQDMPR-3.1.7.1.5-123", "MQDMPR-3.1.7.1.5-114"))
class OpenQueueDescriptorNotAddedToQueue(QueueOpening):
    """The queue manager does not add a new OpenQueueDescriptor to its queue, so the descriptor restricts no other
    reader.
    """

    def open_found_queue(
        self,
        queue: Queue,
        format_name: str,
        required_access: QueueAccessType,
        shared_mode: QueueShareMode = DENY_NONE,
    ) -> OpenQueueResult:
        status, descriptor = super().open_found_queue(queue, format_name, required_access, shared_mode)
        if descriptor is not None:
            del queue.OpenQueueDescriptorCollection[descriptor.Handle]
        return status, descriptor


@fault("close-by-one-receiver-admits-deny-receive-beside-other-receiver", breaks="MQDMPR-3.1.7.1.5-114")
class CloseByOneReceiverAdmitsDenyReceiveBesideOtherReceiver(QueueOpening):
    """When one of two receivers closes the queue, the other receiver no longer prevents an open with DenyReceive."""

    def close_queue(self, queue_desc: OpenQueueDescriptor) -> None:
        queue = queue_desc.QueueReference
        super().close_queue(queue_desc)
        if queue is not None and queue_desc.AccessType is RECEIVE_ACCESS:
            for handle, one in list(queue.OpenQueueDescriptorCollection.items()):
                if one.AccessType is RECEIVE_ACCESS and not one.WaitingMessageReadOperationCollection:
                    del queue.OpenQueueDescriptorCollection[handle]


@fault("sharing-mode-compared-with-first-reader-only", breaks="MQDMPR-3.1.7.1.5-114", blind=True)
class SharingModeComparedWithFirstReaderOnly(QueueOpening):
    """The queue manager compares the sharing mode of a new reader only with that of the first reader of the queue."""

    def may_share_queue(self, queue: Queue, required_access: QueueAccessType, shared_mode: QueueShareMode) -> bool:
        every = queue.OpenQueueDescriptorCollection
        queue.OpenQueueDescriptorCollection = dict(list(every.items())[:1])
        try:
            return super().may_share_queue(queue, required_access, shared_mode)
        finally:
            queue.OpenQueueDescriptorCollection = every


@fault(
    "second-open-of-queue-returns-first-handle",
    breaks=("MQDMPR-3.1.7.1.5-116", "MQDMPR-3.1.7.1.5-121", "MQDMPR-3.1.7.1.5-122"),
)
class SecondOpenOfQueueReturnsFirstHandle(QueueOpening):
    """When a reader opens an open queue again, the queue manager returns the handle of the first request."""

    def open_found_queue(
        self,
        queue: Queue,
        format_name: str,
        required_access: QueueAccessType,
        shared_mode: QueueShareMode = DENY_NONE,
    ) -> OpenQueueResult:
        if queue.OpenQueueDescriptorCollection and self.may_share_queue(queue, required_access, shared_mode):
            return Status.MQ_OK, next(iter(queue.OpenQueueDescriptorCollection.values()))
        return super().open_found_queue(queue, format_name, required_access, shared_mode)


@fault("peek-access-restricts-readers-like-receive-access", breaks="MQDMPR-3.1.7.1.5-117")
class PeekAccessRestrictsReadersLikeReceiveAccess(QueueOpening):
    """A handle with PeekAccess restricts other readers like a handle with ReceiveAccess."""

    def open_found_queue(
        self,
        queue: Queue,
        format_name: str,
        required_access: QueueAccessType,
        shared_mode: QueueShareMode = DENY_NONE,
    ) -> OpenQueueResult:
        access = RECEIVE_ACCESS if required_access is QueueAccessType.PEEK else required_access
        return super().open_found_queue(queue, format_name, access, shared_mode)


@fault("peek-access-prevents-exclusive-peek", breaks="MQDMPR-3.1.7.1.5-117")
class PeekAccessPreventsExclusivePeek(QueueOpening):
    """A reader with PeekAccess prevents another reader from opening the queue with PeekAccess and DenyReceive."""

    def may_share_queue(self, queue: Queue, required_access: QueueAccessType, shared_mode: QueueShareMode) -> bool:
        users = queue.OpenQueueDescriptorCollection.values()
        peeked = any(one.AccessType is QueueAccessType.PEEK for one in users)
        if peeked and shared_mode is DENY_RECEIVE and required_access is QueueAccessType.PEEK:
            return False
        return super().may_share_queue(queue, required_access, shared_mode)


@fault("queue-manager-open-subqueue-opens-queue", breaks="MQDMPR-3.1.7.1.5-118")
class QueueManagerOpenSubqueueOpensQueue(QueueNames):
    """The queue manager opens the main queue when a format name refers to one of its subqueues."""

    def find_queue_by_format_name(self, name: FormatName) -> Queue | None:
        found = super().find_queue_by_format_name(name)
        subqueue = found is not None and found.parent is not None and getattr(name, "Subqueue", None)
        return found.parent if found is not None and subqueue else found


@fault("second-receiver-of-shared-queue-refused", breaks="MQDMPR-3.1.7.1.5-124")
class SecondReceiverOfSharedQueueRefused(QueueOpening):
    """The queue manager opens a queue with ReceiveAccess for only one reader at a time."""

    def may_share_queue(self, queue: Queue, required_access: QueueAccessType, shared_mode: QueueShareMode) -> bool:
        received = (
            any(access is RECEIVE_ACCESS for _, access in _get_open_modes(queue)) and required_access is RECEIVE_ACCESS
        )
        return not received and super().may_share_queue(queue, required_access, shared_mode)


@fault("peek-beside-exclusive-remote-reader-refused", breaks="MQDMPR-3.1.7.1.5-124")
class PeekBesideExclusiveRemoteReaderRefused(QueueOpening):
    """The queue manager refuses a peek while a remote reader has the queue open with DenyReceive."""

    def may_share_queue(self, queue: Queue, required_access: QueueAccessType, shared_mode: QueueShareMode) -> bool:
        opened = queue.OpenQueueDescriptorCollection.values()
        remote = [one.ShareMode for one in opened if one.RemoteReadState is not RemoteReadState.NONE]
        excluded = required_access is QueueAccessType.PEEK and QueueShareMode.DENY_RECEIVE in remote
        return not excluded and super().may_share_queue(queue, required_access, shared_mode)


@fault("queue-manager-open-of-queue-restricts-its-subqueues", breaks="MQDMPR-3.1.7.1.5-124")
class QueueManagerOpenOfQueueRestrictsItsSubqueues(QueueOpening):
    """The sharing mode of a reader of a queue also restricts readers of the subqueues of this queue."""

    def may_share_queue(self, queue: Queue, required_access: QueueAccessType, shared_mode: QueueShareMode) -> bool:
        parent = queue.parent is None or super().may_share_queue(queue.parent, required_access, shared_mode)
        return parent and super().may_share_queue(queue, required_access, shared_mode)


@fault("second-peeker-with-deny-receive-refused", breaks="MQDMPR-3.1.7.1.5-124", blind=True)
class SecondPeekerWithDenyReceiveRefused(QueueOpening):
    """The queue manager refuses a second reader with PeekAccess and DenyReceive."""

    def may_share_queue(self, queue: Queue, required_access: QueueAccessType, shared_mode: QueueShareMode) -> bool:
        exclusive = any(one.ShareMode is DENY_RECEIVE for one in queue.OpenQueueDescriptorCollection.values())
        if exclusive and shared_mode is DENY_RECEIVE:
            return False
        return super().may_share_queue(queue, required_access, shared_mode)


@fault("sender-excluded-by-exclusive-receiver", breaks="MQDMPR-3.1.7.1.5-124", blind=True)
class SenderExcludedByExclusiveReceiver(QueueOpening):
    """The queue manager does not open a local queue for sending while a reader has it open with DenyReceive."""

    def may_share_queue(self, queue: Queue, required_access: QueueAccessType, shared_mode: QueueShareMode) -> bool:
        exclusive = any(one.ShareMode is DENY_RECEIVE for one in queue.OpenQueueDescriptorCollection.values())
        return not (exclusive and required_access is SEND_ACCESS) and super().may_share_queue(
            queue, required_access, shared_mode
        )


@fault("sender-prevents-opening-with-deny-receive", breaks="MQDMPR-3.1.7.1.5-124", blind=True)
class SenderPreventsOpeningWithDenyReceive(QueueOpening):
    """The queue manager refuses a reader with DenyReceive while an application has the queue open for sending."""

    def may_share_queue(self, queue: Queue, required_access: QueueAccessType, shared_mode: QueueShareMode) -> bool:
        sending = any(one.AccessType is SEND_ACCESS for one in queue.OpenQueueDescriptorCollection.values())
        return not (sending and shared_mode is DENY_RECEIVE) and super().may_share_queue(
            queue, required_access, shared_mode
        )


@fault("exclusive-receiver-of-journal-excludes-readers-of-queue", breaks="MQDMPR-3.1.7.1.5-124", blind=True)
class ExclusiveReceiverOfJournalExcludesReadersOfQueue(QueueOpening):
    """The sharing mode of a reader of a queue's journal also restricts the readers of the queue."""

    def may_share_queue(self, queue: Queue, required_access: QueueAccessType, shared_mode: QueueShareMode) -> bool:
        journal = queue.JournalQueueReference
        if journal is not None and not super().may_share_queue(journal, required_access, shared_mode):
            return False
        return super().may_share_queue(queue, required_access, shared_mode)


@fault("open-of-queue-returns-previous-handle", breaks="MQDMPR-3.1.7.1.5-125")
class OpenOfQueueReturnsPreviousHandle(QmcommMethods):
    """When a reader opens a queue, the queue manager returns the handle that the previous request returned."""

    def get_open_handle_values(self, descriptor: OpenQueueDescriptor) -> dict[str, int]:
        values = super().get_open_handle_values(descriptor)
        before = [handle for handle in self.qm.descriptors if handle < descriptor.Handle]
        return values | {"phQueue": max(before, default=descriptor.Handle)}


@fault("server-second-open-to-peek-returns-descriptor-of-first", breaks="MQDMPR-3.1.7.1.5-116", blind=True)
class ServerSecondOpenToPeekReturnsDescriptorOfFirst(QueueOpening):
    """The server returns the existing OpenQueueDescriptor when a queue is opened to peek a second time."""

    def open_queue(
        self, format_name: str, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> OpenQueueResult:
        wanted = (format_name, QueueAccessType.PEEK, QueueShareMode.DENY_NONE)
        if (format_name, required_access, shared_mode) == wanted:
            for one in self.qm.descriptors.values():
                if one.QueueReference is not None and (one.FormatName, one.AccessType, one.ShareMode) == wanted:
                    return Status.MQ_OK, one
        return super().open_queue(format_name, required_access, shared_mode, now)
