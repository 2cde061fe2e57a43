"""Faults that break rules of MS-MQDMPR 3.1.1.16 OpenQueueDescriptor when a queue is opened again or in a rare way."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.queue_opening import OpenQueueResult, QueueOpening
from reference_qm.core.remote.qmcomm_methods import QmcommMethods
from reference_qm.model.adm import Queue
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.enums import QueueAccessType, QueueShareMode
from reference_qm.surface.clock import Now


@fault("queue-manager-remote-peek-open-returns-handle-of-receive-open", breaks="MQDMPR-3.1.1.16-02", blind=True)
class QueueManagerRemotePeekOpenReturnsHandleOfReceiveOpen(QmcommMethods):
    """A remote client that opens a queue to peek gets the Handle with which it has opened the queue to receive."""

    def get_open_handle_values(self, descriptor: OpenQueueDescriptor) -> dict[str, int]:
        queue = descriptor.QueueReference
        assert queue is not None
        receiving = [
            one.Handle
            for one in queue.OpenQueueDescriptorCollection.values()
            if one.AccessType is QueueAccessType.RECEIVE
        ]
        if descriptor.AccessType is QueueAccessType.PEEK and receiving:
            return dict.fromkeys(("pdwContext", "dwpQueue", "phQueue"), receiving[0])
        return super().get_open_handle_values(descriptor)


@fault("queue-manager-descriptors-of-listed-queues-have-handle-of-list", breaks="MQDMPR-3.1.1.16-02", blind=True)
class QueueManagerDescriptorsOfListedQueuesHaveHandleOfList(QueueOpening):
    """The descriptors of the queues of a multiple-element format name have the Handle of the descriptor of the list."""

    def open_queue(
        self, format_name: str, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> OpenQueueResult:
        status, descriptor = super().open_queue(format_name, required_access, shared_mode, now)
        if descriptor is not None:
            for one in descriptor.OpenQueueDescriptorCollection:
                queue = one.QueueReference
                assert queue is not None
                del queue.OpenQueueDescriptorCollection[one.Handle]
                one.Handle = descriptor.Handle
                queue.OpenQueueDescriptorCollection[one.Handle] = one
        return status, descriptor


@fault("queue-manager-second-queue-of-client-has-context-value-of-first", breaks="MQDMPR-3.1.1.16-03", blind=True)
class QueueManagerSecondQueueOfClientHasContextValueOfFirst(QmcommMethods):
    """A remote client that opens another queue gets the context value of the first queue that is still open."""

    def get_open_handle_values(self, descriptor: OpenQueueDescriptor) -> dict[str, int]:
        first = next(iter(self.qm.remote.RemoteQueueOpenContextHandleTable)).OpenQueueDescriptorReference
        return super().get_open_handle_values(descriptor) | {"pdwContext": first.Handle}


@fault("queue-manager-remote-clients-of-same-queue-get-same-context-value", breaks="MQDMPR-3.1.1.16-03", blind=True)
class QueueManagerRemoteClientsOfSameQueueGetSameContextValue(QmcommMethods):
    """Two remote clients that open the same queue get the same context value."""

    def get_open_handle_values(self, descriptor: OpenQueueDescriptor) -> dict[str, int]:
        queue = descriptor.QueueReference
        assert queue is not None
        first = next(iter(queue.OpenQueueDescriptorCollection))
        return super().get_open_handle_values(descriptor) | {"pdwContext": first}


@fault("queue-manager-descriptor-of-exclusive-peeker-has-receive-access", breaks="MQDMPR-3.1.1.16-04", blind=True)
class QueueManagerDescriptorOfExclusivePeekerHasReceiveAccess(QueueOpening):
    """The descriptor of a queue that is opened for peeking without sharing has the AccessType ReceiveAccess."""

    def open_found_queue(
        self,
        queue: Queue,
        format_name: str,
        required_access: QueueAccessType,
        shared_mode: QueueShareMode = QueueShareMode.DENY_NONE,
    ) -> OpenQueueResult:
        status, descriptor = super().open_found_queue(queue, format_name, required_access, shared_mode)
        if descriptor is not None and shared_mode is QueueShareMode.DENY_RECEIVE:
            descriptor.AccessType = QueueAccessType.RECEIVE
        return status, descriptor


@fault("queue-manager-second-descriptor-has-access-type-of-first", breaks="MQDMPR-3.1.1.16-04", blind=True)
class QueueManagerSecondDescriptorHasAccessTypeOfFirst(QueueOpening):
    """A second descriptor of a queue has the AccessType of the first descriptor of the queue."""

    def open_found_queue(
        self,
        queue: Queue,
        format_name: str,
        required_access: QueueAccessType,
        shared_mode: QueueShareMode = QueueShareMode.DENY_NONE,
    ) -> OpenQueueResult:
        status, descriptor = super().open_found_queue(queue, format_name, required_access, shared_mode)
        if descriptor is not None:
            descriptor.AccessType = next(iter(queue.OpenQueueDescriptorCollection.values())).AccessType
        return status, descriptor
