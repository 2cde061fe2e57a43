"""Faults of MS-MQDMPR 3.1.7.1.5 Open Queue: sharing modes, and selection of the queue that a reader opens."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec.format_names import MultipleElementName
from reference_qm.core.names.queue_formats import QueueFormatType
from reference_qm.core.queueing.queue_opening import Opened, QueueOpening
from reference_qm.core.queueing.queues import set_queue_defaults
from reference_qm.core.remote.qmcomm import Qmcomm
from reference_qm.model.adm import Queue
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.enums import QueueAccessType, QueueShareMode, RemoteReadState
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now

SEND, RECEIVE = QueueAccessType.SEND, QueueAccessType.RECEIVE
DENY_NONE, DENY_RECEIVE = QueueShareMode.DENY_NONE, QueueShareMode.DENY_RECEIVE


def _get_open_modes(queue: Queue) -> set[tuple[QueueShareMode, QueueAccessType]]:
    return {(one.ShareMode, one.AccessType) for one in queue.OpenQueueDescriptorCollection.values()}


# -- sharing ----------------------------------------------------------------------------------------------------------


@fault("deny-receive-granted-beside-exclusive-receiver", breaks="MQDMPR-3.1.7.1.5-103")
class DenyReceiveGrantedBesideExclusiveReceiver(QueueOpening):
    """A reader with PeekAccess and DenyReceive can open a queue that another reader has open with ReceiveAccess and
    DenyReceive.
    """

    def is_shared(self, queue: Queue, required_access: QueueAccessType, shared_mode: QueueShareMode) -> bool:
        if (DENY_RECEIVE, RECEIVE) in _get_open_modes(queue):
            return required_access is not RECEIVE
        return super().is_shared(queue, required_access, shared_mode)


@fault("receive-access-granted-beside-exclusive-receiver", breaks="MQDMPR-3.1.7.1.5-106")
class ReceiveAccessGrantedBesideExclusiveReceiver(QueueOpening):
    """A reader with ReceiveAccess and DenyNone can open a queue that another reader has open with DenyReceive."""

    def is_shared(self, queue: Queue, required_access: QueueAccessType, shared_mode: QueueShareMode) -> bool:
        exclusive = (DENY_RECEIVE, RECEIVE) in _get_open_modes(queue)
        return (exclusive and shared_mode is DENY_NONE) or super().is_shared(queue, required_access, shared_mode)


@fault("receive-access-granted-beside-exclusive-peeker", breaks="MQDMPR-3.1.7.1.5-110")
class ReceiveAccessGrantedBesideExclusivePeeker(QueueOpening):
    """A reader with ReceiveAccess can open a queue that another reader has open with PeekAccess and DenyReceive."""

    def is_shared(self, queue: Queue, required_access: QueueAccessType, shared_mode: QueueShareMode) -> bool:
        peeked = any(
            (DENY_RECEIVE, one) in _get_open_modes(queue) for one in (QueueAccessType.PEEK, QueueAccessType.PEEK_ADMIN)
        )
        return peeked or super().is_shared(queue, required_access, shared_mode)


@fault("deny-receive-granted-beside-shared-receiver", breaks="MQDMPR-3.1.7.1.5-114")
class DenyReceiveGrantedBesideSharedReceiver(QueueOpening):
    """A reader with DenyReceive can open a queue that another reader has open with ReceiveAccess and DenyNone."""

    def is_shared(self, queue: Queue, required_access: QueueAccessType, shared_mode: QueueShareMode) -> bool:
        return _get_open_modes(queue) == {(DENY_NONE, RECEIVE)} or super().is_shared(
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
    ) -> Opened:
        status, descriptor = super().open_found_queue(queue, format_name, required_access, shared_mode)
        if descriptor is not None:
            del queue.OpenQueueDescriptorCollection[descriptor.Handle]
        return status, descriptor


@fault("second-open-with-receive-access-refused", breaks="MQDMPR-3.1.7.1.5-124")
class SecondOpenWithReceiveAccessRefused(QueueOpening):
    """The queue manager opens a queue with ReceiveAccess for only one reader at a time."""

    def is_shared(self, queue: Queue, required_access: QueueAccessType, shared_mode: QueueShareMode) -> bool:
        received = any(access is RECEIVE for _, access in _get_open_modes(queue)) and required_access is RECEIVE
        return not received and super().is_shared(queue, required_access, shared_mode)


@fault("peek-beside-exclusive-remote-reader-refused", breaks="MQDMPR-3.1.7.1.5-124")
class PeekBesideExclusiveRemoteReaderRefused(QueueOpening):
    """The queue manager refuses a peek while a remote reader has the queue open with DenyReceive."""

    def is_shared(self, queue: Queue, required_access: QueueAccessType, shared_mode: QueueShareMode) -> bool:
        opened = queue.OpenQueueDescriptorCollection.values()
        remote = [one.ShareMode for one in opened if one.RemoteReadState is not RemoteReadState.NONE]
        excluded = required_access is QueueAccessType.PEEK and QueueShareMode.DENY_RECEIVE in remote
        return not excluded and super().is_shared(queue, required_access, shared_mode)


# -- handles that a reader gets ---------------------------------------------------------------------------------------


@fault(
    "queue-names-compared-by-16-characters",
    breaks=("MQDMPR-3.1.7.1.5-48", "MQDMPR-3.1.7.1.5-118"),
)
class QueueNamesComparedBy16Characters(QueueOpening):
    """The queue manager compares only the first 16 characters of queue names."""

    def open_found_queue(
        self,
        queue: Queue,
        format_name: str,
        required_access: QueueAccessType,
        shared_mode: QueueShareMode = DENY_NONE,
    ) -> Opened:
        alike = (one for one in self.qm.adm.QueueCollection.values() if one.Pathname[:16] == queue.Pathname[:16])
        return super().open_found_queue(next(alike, queue), format_name, required_access, shared_mode)


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
    ) -> Opened:
        if queue.OpenQueueDescriptorCollection and self.is_shared(queue, required_access, shared_mode):
            return Status.MQ_OK, next(iter(queue.OpenQueueDescriptorCollection.values()))
        return super().open_found_queue(queue, format_name, required_access, shared_mode)


@fault("peek-access-granted-as-receive-access", breaks="MQDMPR-3.1.7.1.5-117")
class PeekAccessGrantedAsReceiveAccess(QueueOpening):
    """A handle with PeekAccess restricts other readers like a handle with ReceiveAccess."""

    def open_found_queue(
        self,
        queue: Queue,
        format_name: str,
        required_access: QueueAccessType,
        shared_mode: QueueShareMode = DENY_NONE,
    ) -> Opened:
        access = RECEIVE if required_access is QueueAccessType.PEEK else required_access
        return super().open_found_queue(queue, format_name, access, shared_mode)


@fault("open-of-queue-returns-previous-handle", breaks="MQDMPR-3.1.7.1.5-125")
class OpenOfQueueReturnsPreviousHandle(Qmcomm):
    """When a reader opens a queue, the queue manager returns the handle that the previous request returned."""

    def get_open_values(self, descriptor: OpenQueueDescriptor) -> dict[str, int]:
        values = super().get_open_values(descriptor)
        before = [handle for handle in self.qm.descriptors if handle < descriptor.Handle]
        return values | {"phQueue": max(before, default=descriptor.Handle)}


# -- queues that no reader can open -----------------------------------------------------------------------------------


@fault("several-queues-opened-to-read", breaks="MQDMPR-3.1.7.1.5-09")
class SeveralQueuesOpenedToRead(QueueOpening):
    """When a reader requests to open several queues for reading, the queue manager opens the first of these queues."""

    def _open_several(
        self, name: MultipleElementName, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> Opened:
        if required_access is not SEND:
            return self.open_queue(str(name.Elements[0]), required_access, shared_mode, now)
        return super()._open_several(name, required_access, shared_mode, now)


@fault("http-name-opened-to-read", breaks="MQDMPR-3.1.7.1.5-38")
class HttpNameOpenedToRead(QueueOpening):
    """The queue manager opens an HTTP format name of a local queue for reading."""

    def open_queue(
        self, format_name: str, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> Opened:
        protocol, separator, rest = format_name.partition("://")
        if separator and protocol.upper().startswith("DIRECT=HTTP"):
            address, _, path = rest.partition("/")
            format_name = f"DIRECT=TCP:{address}\\{path.partition(chr(92))[2]}"
        return super().open_queue(format_name, required_access, shared_mode, now)


@fault("multicast-name-opened-to-read", breaks="MQDMPR-3.1.7.1.5-46")
class MulticastNameOpenedToRead(Qmcomm):
    """When a reader opens a multicast format name, the queue manager opens the first of its queues."""

    def open_remote_queue(self, call: Call, now: Now) -> Opened:
        form = call.arguments["pQueueFormat"]
        if form is None or form["m_qft"] != QueueFormatType.MULTICAST:
            return super().open_remote_queue(call, now)
        first = next(iter(self.qm.adm.QueueCollection.values()))
        return self.qm.queue_opening.open_found_queue(first, first.Pathname, QueueAccessType.PEEK)


@fault("missing-queue-created-when-opened", breaks="MQDMPR-3.1.7.1.5-51")
class MissingQueueCreatedWhenOpened(QueueOpening):
    """The queue manager creates a missing queue when a reader opens it."""

    def open_queue(
        self, format_name: str, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> Opened:
        opened = super().open_queue(format_name, required_access, shared_mode, now)
        if opened[0] is Status.MQ_ERROR_QUEUE_NOT_FOUND and required_access is not SEND:
            self.qm.queues.create_here(set_queue_defaults(format_name.partition("\\")[2]), now.utc_s)
            return super().open_queue(format_name, required_access, shared_mode, now)
        return opened


@fault(
    "sharing-mode-of-application-ignored",
    breaks=("MQDMPR-3.1.7.1.5-103", "MQDMPR-3.1.7.1.5-106", "MQDMPR-3.1.7.1.5-110", "MQDMPR-3.1.7.1.5-114"),
)
class SharingModeOfApplicationIgnored(QueueOpening):
    """Only the modes of remote readers exclude a reader; the modes of the queue manager's own applications do not."""

    def is_shared(self, queue: Queue, required_access: QueueAccessType, shared_mode: QueueShareMode) -> bool:
        opened = queue.OpenQueueDescriptorCollection
        queue.OpenQueueDescriptorCollection = {
            handle: one for handle, one in opened.items() if one.RemoteReadState is not RemoteReadState.NONE
        }
        try:
            return bool(super().is_shared(queue, required_access, shared_mode))
        finally:
            queue.OpenQueueDescriptorCollection = opened
