"""Faults of MS-MQDMPR 3.1.7.1.5 Open Queue with several readers, several names, and different times."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import MultipleElementName
from reference_qm.codec.format_names import PrivateName
from reference_qm.core.errors import CommandError
from reference_qm.core.names.destinations import Destinations, parse_name
from reference_qm.core.queueing.queue_opening import DENY_NONE, DENY_RECEIVE, RECEIVE, SEND, Opened, QueueOpening
from reference_qm.model.adm import Queue
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.enums import QueueAccessType, QueueShareMode
from reference_qm.model.statuses import Status
from reference_qm.surface.clock import Now


@fault("exclusive-receiver-does-not-exclude-after-failed-opening", breaks="MQDMPR-3.1.7.1.5-106", blind=True)
class ExclusiveReceiverDoesNotExcludeAfterFailedOpening(QueueOpening):
    """After the queue manager has refused one reader because of an exclusive reader, it admits the next reader."""

    def is_shared(self, queue: Queue, required_access: QueueAccessType, shared_mode: QueueShareMode) -> bool:
        shared = super().is_shared(queue, required_access, shared_mode)
        if not shared:
            for one in queue.OpenQueueDescriptorCollection.values():
                one.ShareMode = DENY_NONE
        return shared


@fault("exclusive-peeker-excludes-peekers", breaks="MQDMPR-3.1.7.1.5-124", blind=True)
class ExclusivePeekerExcludesPeekers(QueueOpening):
    """The queue manager refuses a second reader with PeekAccess and DenyReceive."""

    def is_shared(self, queue: Queue, required_access: QueueAccessType, shared_mode: QueueShareMode) -> bool:
        exclusive = any(one.ShareMode is DENY_RECEIVE for one in queue.OpenQueueDescriptorCollection.values())
        if exclusive and shared_mode is DENY_RECEIVE:
            return False
        return super().is_shared(queue, required_access, shared_mode)


@fault("sender-excluded-by-exclusive-receiver", breaks="MQDMPR-3.1.7.1.5-124", blind=True)
class SenderExcludedByExclusiveReceiver(QueueOpening):
    """The queue manager does not open a local queue for sending while a reader has it open with DenyReceive."""

    def is_shared(self, queue: Queue, required_access: QueueAccessType, shared_mode: QueueShareMode) -> bool:
        exclusive = any(one.ShareMode is DENY_RECEIVE for one in queue.OpenQueueDescriptorCollection.values())
        return not (exclusive and required_access is SEND) and super().is_shared(queue, required_access, shared_mode)


@fault("sender-counts-as-receiver", breaks="MQDMPR-3.1.7.1.5-124", blind=True)
class SenderCountsAsReceiver(QueueOpening):
    """The queue manager refuses a reader with DenyReceive while an application has the queue open for sending."""

    def is_shared(self, queue: Queue, required_access: QueueAccessType, shared_mode: QueueShareMode) -> bool:
        sending = any(one.AccessType is SEND for one in queue.OpenQueueDescriptorCollection.values())
        return not (sending and shared_mode is DENY_RECEIVE) and super().is_shared(queue, required_access, shared_mode)


@fault("peeker-before-receiver-hides-receiver", breaks="MQDMPR-3.1.7.1.5-114", blind=True)
class PeekerBeforeReceiverHidesReceiver(QueueOpening):
    """The queue manager compares the sharing mode of a new reader only with that of the first reader of the queue."""

    def is_shared(self, queue: Queue, required_access: QueueAccessType, shared_mode: QueueShareMode) -> bool:
        every = queue.OpenQueueDescriptorCollection
        queue.OpenQueueDescriptorCollection = dict(list(every.items())[:1])
        try:
            return super().is_shared(queue, required_access, shared_mode)
        finally:
            queue.OpenQueueDescriptorCollection = every


@fault("deny-receive-of-peeker-ignored-beside-receivers-peek", breaks="MQDMPR-3.1.7.1.5-110", blind=True)
class DenyReceiveOfPeekerIgnoredBesideReceiversPeek(QueueOpening):
    """While a queue is open with PeekAccess and DenyNone, the queue manager admits a reader with ReceiveAccess, even if
    another reader has the queue open with PeekAccess and DenyReceive.
    """

    def is_shared(self, queue: Queue, required_access: QueueAccessType, shared_mode: QueueShareMode) -> bool:
        modes = {(one.ShareMode, one.AccessType.name) for one in queue.OpenQueueDescriptorCollection.values()}
        if (DENY_NONE, "PEEK") in modes and (DENY_RECEIVE, "RECEIVE") not in modes and required_access is RECEIVE:
            return True
        return super().is_shared(queue, required_access, shared_mode)


@fault("exclusive-receiver-of-journal-excludes-readers-of-queue", breaks="MQDMPR-3.1.7.1.5-124", blind=True)
class ExclusiveReceiverOfJournalExcludesReadersOfQueue(QueueOpening):
    """The sharing mode of a reader of a queue's journal also restricts the readers of the queue."""

    def is_shared(self, queue: Queue, required_access: QueueAccessType, shared_mode: QueueShareMode) -> bool:
        journal = queue.JournalQueueReference
        if journal is not None and not super().is_shared(journal, required_access, shared_mode):
            return False
        return super().is_shared(queue, required_access, shared_mode)


@fault("missing-second-queue-of-several-skipped", breaks="MQDMPR-3.1.7.1.5-30", blind=True)
class MissingSecondQueueOfSeveralSkipped(QueueOpening):
    """If a queue other than the first of several queues is missing, the queue manager opens the other queues."""

    def _open_several(
        self, name: MultipleElementName, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> Opened:
        found = [
            one
            for number, one in enumerate(name.Elements)
            if not number
            or self.qm.queue_names.find_by_format_name(one) is not None
            or not self.qm.queue_names.means_this_computer(one)
        ]
        return super()._open_several(MultipleElementName(tuple(found)), required_access, shared_mode, now)


@fault("failed-opening-of-several-leaves-first-open", breaks="MQDMPR-3.1.7.1.5-30", blind=True)
class FailedOpeningOfSeveralLeavesFirstOpen(QueueOpening):
    """When the queue manager cannot open one of several queues, the queues before it stay open."""

    def close_queue(self, queue_desc: OpenQueueDescriptor) -> None:
        if queue_desc.Multiple and queue_desc.Handle == max(self.qm.descriptors, default=0) - len(
            queue_desc.OpenQueueDescriptorCollection
        ):
            self.qm.descriptors.pop(queue_desc.Handle, None)
            return
        super().close_queue(queue_desc)


@fault("several-queues-with-one-remote-name-refused", breaks="MQDMPR-3.1.7.1.5-33", blind=True)
class SeveralQueuesWithOneRemoteNameRefused(QueueOpening):
    """The queue manager does not open local and remote queues together."""

    def _open_several(
        self, name: MultipleElementName, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> Opened:
        here = {self.qm.queue_names.means_this_computer(one) for one in name.Elements}
        if len(here) > 1:
            return Status.MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION, None
        return super()._open_several(name, required_access, shared_mode, now)


@fault("deleted-queue-found-by-private-name", breaks="MQDMPR-3.1.7.1.5-77", blind=True)
class DeletedQueueFoundByPrivateName(Destinations):
    """A private format name with the number of a deleted queue refers to the queue with the next lower number."""

    def find_local(self, text: str) -> Queue | None:
        try:
            return super().find_local(text)
        except CommandError:
            name = parse_name(text)
            neighbour = None
            if isinstance(name, PrivateName):
                neighbour = self.qm.adm.QueueCollection.find_private(name.QueueIdentifier - 1)
            if neighbour is None:
                raise
            return neighbour
