"""Further faults of MS-MQDMPR 3.1.7.1.5 Open Queue: access, sharing, several users, forms of names."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import FormatName
from reference_qm.codec.format_names import MultipleElementName
from reference_qm.core.names.queue_names import QueueNames
from reference_qm.core.queueing.queue_opening import DENY_RECEIVE, RECEIVE, SEND, Opened, QueueOpening
from reference_qm.model.adm import Queue
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.enums import QueueAccessType, QueueShareMode
from reference_qm.surface.clock import Now


@fault("several-queues-are-opened-for-peeking", breaks="MQDMPR-3.1.7.1.5-09")
class SeveralQueuesAreOpenedForPeeking(QueueOpening):
    """The queue manager opens several queues together with PeekAccess."""

    def _open_several(
        self, name: MultipleElementName, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> Opened:
        access = SEND if required_access is QueueAccessType.PEEK else required_access
        return super()._open_several(name, access, shared_mode, now)


@fault("third-of-several-queues-is-not-opened", breaks="MQDMPR-3.1.7.1.5-24")
class ThirdOfSeveralQueuesIsNotOpened(QueueOpening):
    """The queue manager opens only the first two queues of a format name with more than two elements."""

    def _open_several(
        self, name: MultipleElementName, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> Opened:
        kept = type(name)(name.Elements[:2])
        return super()._open_several(kept, required_access, shared_mode, now)


@fault("missing-local-queue-is-opened-for-sending-by-address", breaks="MQDMPR-3.1.7.1.5-61")
class MissingLocalQueueIsOpenedForSendingByAddress(QueueNames):
    """The queue manager opens an outgoing queue for a missing local queue that the format name gives by IP address."""

    def means_this_computer(self, name: FormatName) -> bool:
        return super().means_this_computer(name) and getattr(name, "Protocol", "") != "TCP"


@fault("peek-with-deny-receive-joins-exclusive-receiver", breaks="MQDMPR-3.1.7.1.5-103")
class PeekWithDenyReceiveJoinsExclusiveReceiver(QueueOpening):
    """An open with PeekAccess and DenyReceive succeeds although a receiver has the queue open with DenyReceive."""

    def is_shared(self, queue: Queue, required_access: QueueAccessType, shared_mode: QueueShareMode) -> bool:
        if required_access is QueueAccessType.PEEK and shared_mode is DENY_RECEIVE:
            return True
        return super().is_shared(queue, required_access, shared_mode)


@fault("only-last-user-of-queue-excludes-receiver", breaks="MQDMPR-3.1.7.1.5-106")
class OnlyLastUserOfQueueExcludesReceiver(QueueOpening):
    """A receiver with DenyReceive excludes other receivers only until a further reader peeks at the queue."""

    def is_shared(self, queue: Queue, required_access: QueueAccessType, shared_mode: QueueShareMode) -> bool:
        users = list(queue.OpenQueueDescriptorCollection.values())
        last = bool(users) and users[-1].AccessType is QueueAccessType.PEEK
        exclusive = any(one.ShareMode is DENY_RECEIVE and one.AccessType is RECEIVE for one in users)
        if exclusive and last and required_access is RECEIVE:
            return True
        return super().is_shared(queue, required_access, shared_mode)


@fault("exclusive-peek-among-other-peeks-admits-receiver", breaks="MQDMPR-3.1.7.1.5-110")
class ExclusivePeekAmongOtherPeeksAdmitsReceiver(QueueOpening):
    """A reader with PeekAccess and DenyReceive excludes no receiver while another reader peeks with DenyNone."""

    def is_shared(self, queue: Queue, required_access: QueueAccessType, shared_mode: QueueShareMode) -> bool:
        users = list(queue.OpenQueueDescriptorCollection.values())
        peeks = [one for one in users if one.AccessType is QueueAccessType.PEEK]
        if len(peeks) > 1 and required_access is RECEIVE and any(one.ShareMode is not DENY_RECEIVE for one in peeks):
            return all(one.AccessType is QueueAccessType.PEEK for one in users)
        return super().is_shared(queue, required_access, shared_mode)


@fault("close-of-one-receiver-ends-restriction-of-both", breaks="MQDMPR-3.1.7.1.5-114")
class CloseOfOneReceiverEndsRestrictionOfBoth(QueueOpening):
    """When one of two receivers closes the queue, the other receiver no longer prevents an open with DenyReceive."""

    def close_queue(self, queue_desc: OpenQueueDescriptor) -> None:
        queue = queue_desc.QueueReference
        super().close_queue(queue_desc)
        if queue is not None and queue_desc.AccessType is RECEIVE:
            for handle, one in list(queue.OpenQueueDescriptorCollection.items()):
                if one.AccessType is RECEIVE and not one.WaitingMessageReadOperationCollection:
                    del queue.OpenQueueDescriptorCollection[handle]


@fault("peek-access-prevents-exclusive-peek", breaks="MQDMPR-3.1.7.1.5-117")
class PeekAccessPreventsExclusivePeek(QueueOpening):
    """A reader with PeekAccess prevents another reader from opening the queue with PeekAccess and DenyReceive."""

    def is_shared(self, queue: Queue, required_access: QueueAccessType, shared_mode: QueueShareMode) -> bool:
        users = queue.OpenQueueDescriptorCollection.values()
        peeked = any(one.AccessType is QueueAccessType.PEEK for one in users)
        if peeked and shared_mode is DENY_RECEIVE and required_access is QueueAccessType.PEEK:
            return False
        return super().is_shared(queue, required_access, shared_mode)
