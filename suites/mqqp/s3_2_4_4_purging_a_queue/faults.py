"""Faults that break rules of MS-MQQP 3.2.4.4 Purging a Queue."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import omit_remote_call_sequence
from harness.faults.registry import add
from reference_qm.core.part import QM
from reference_qm.core.remote.client_model import RemoteQueue
from reference_qm.core.remote.client_queue_opening import ClientQueueOpening
from reference_qm.core.remote.client_steps import RemoteCallSequence

add(
    "client-purge-queue-not-called",
    "MQQP-3.2.4.4-D01",
    "The client does not call RemoteQMPurgeQueue.",
    omit_remote_call_sequence(ClientQueueOpening.purge_queue_at_server),
)


@fault("client-purge-queue-sends-dwp-queue-instead-of-ph-queue", breaks="MQQP-3.2.4.4-D01")
class ClientPurgeQueueSendsDwpQueueInsteadOfPhQueue(ClientQueueOpening):
    """The client calls RemoteQMPurgeQueue with dwpQueue instead of phQueue."""

    def purge_queue_at_server(self, queue: RemoteQueue) -> RemoteCallSequence:
        assert queue.binding is not None
        arguments = {"hQueue": queue.QueueDescriptor}
        yield from self.qm.server_bindings.call_method(queue.binding, "RemoteQMPurgeQueue", **arguments)


@fault("client-purges-last-opened-queue-instead-of-named-queue", breaks="MQQP-3.2.4.4-D01")
class ClientPurgesLastOpenedQueueInsteadOfNamedQueue(ClientQueueOpening):
    """The client purges the queue that it opened last instead of the queue that its application names."""

    def purge_queue_at_server(self, queue: RemoteQueue) -> RemoteCallSequence:
        *_, last = self.qm.remote_client.queues.values()
        yield from super().purge_queue_at_server(last)


@fault("client-purge-queue-purges-every-open-queue", breaks="MQQP-3.2.4.4-D01")
class ClientPurgeQueuePurgesEveryOpenQueue(ClientQueueOpening):
    """The client purges all its open queues when its application purges one of them."""

    def purge_queue_at_server(self, queue: RemoteQueue) -> RemoteCallSequence:
        for one in list(self.qm.remote_client.queues.values()):
            yield from super().purge_queue_at_server(one)


@fault("client-purge-queue-sends-h-queue-of-first-opened-queue", breaks="MQQP-3.2.4.4-D01")
class ClientPurgeQueueSendsHQueueOfFirstOpenedQueue(ClientQueueOpening):
    """The client calls RemoteQMPurgeQueue with the handle of the queue that it opened first."""

    def purge_queue_at_server(self, queue: RemoteQueue) -> RemoteCallSequence:
        assert queue.binding is not None
        first = next(iter(self.qm.remote_client.queues.values()))
        binding = queue.binding
        yield from self.qm.server_bindings.call_method(binding, "RemoteQMPurgeQueue", hQueue=first.QueueHandle)


@fault("client-purge-queue-sends-low-16-bits-of-h-queue", breaks="MQQP-3.2.4.4-D01")
class ClientPurgeQueueSendsLow16BitsOfHQueue(ClientQueueOpening):
    """The client sets hQueue of RemoteQMPurgeQueue to the low 16 bits of phQueue."""

    def purge_queue_at_server(self, queue: RemoteQueue) -> RemoteCallSequence:
        assert queue.binding is not None
        handle = queue.QueueHandle & 0xFFFF
        yield from self.qm.server_bindings.call_method(queue.binding, "RemoteQMPurgeQueue", hQueue=handle)


@fault("client-second-purge-of-queue-not-called", breaks="MQQP-3.2.4.4-D01")
class ClientSecondPurgeOfQueueNotCalled(ClientQueueOpening):
    """The client calls RemoteQMPurgeQueue only for the first purge of a queue."""

    purged_queue_numbers: frozenset[int] = frozenset()

    def purge_queue_at_server(self, queue: RemoteQueue) -> RemoteCallSequence:
        if queue.number not in self.purged_queue_numbers:
            self.purged_queue_numbers |= {queue.number}
            yield from super().purge_queue_at_server(queue)


@fault("client-h-queue-of-purge-queue-is-newest-queue", breaks="MQQP-3.2.4.4-D01")
class ClientHQueueOfPurgeQueueIsNewestQueue(ClientQueueOpening):
    """The client calls RemoteQMPurgeQueue with the handle of the queue that it opened last."""

    def purge_queue_at_server(self, queue: RemoteQueue) -> RemoteCallSequence:
        newest = list(self.qm.remote_client.queues.values())[-1]
        assert queue.binding is not None
        yield from self.qm.server_bindings.call_method(queue.binding, "RemoteQMPurgeQueue", hQueue=newest.QueueHandle)


@fault("client-omits-second-purge-queue-call-of-queue", breaks="MQQP-3.2.4.4-D01")
class ClientOmitsSecondPurgeQueueCallOfQueue(ClientQueueOpening):
    """The client does not call RemoteQMPurgeQueue when the same queue is purged again."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.purged_queue_numbers: set[int] = set()

    def purge_queue_at_server(self, queue: RemoteQueue) -> RemoteCallSequence:
        if queue.number not in self.purged_queue_numbers:
            self.purged_queue_numbers.add(queue.number)
            yield from super().purge_queue_at_server(queue)


@fault("client-h-queue-is-dwp-queue-in-purge-with-pending-read", breaks="MQQP-3.2.4.4-D01")
class ClientHQueueIsDwpQueueInPurgeWithPendingRead(ClientQueueOpening):
    """The client calls RemoteQMPurgeQueue with dwpQueue for a queue with pending reads."""

    def purge_queue_at_server(self, queue: RemoteQueue) -> RemoteCallSequence:
        pending = [one for one in self.qm.remote_client.PendingRemoteReadEntryCollection if one.queue is queue]
        assert queue.binding is not None
        handle = queue.QueueDescriptor if pending else queue.QueueHandle
        yield from self.qm.server_bindings.call_method(queue.binding, "RemoteQMPurgeQueue", hQueue=handle)


@fault("client-purge-queue-not-called-while-read-is-pending", breaks="MQQP-3.2.4.4-D01", blind=True)
class ClientPurgeQueueNotCalledWhileReadIsPending(ClientQueueOpening):
    """The client does not call RemoteQMPurgeQueue while a read of the queue waits."""

    def purge_queue_at_server(self, queue: RemoteQueue) -> RemoteCallSequence:
        if not any(one.queue is queue for one in self.qm.remote_client.PendingRemoteReadEntryCollection):
            yield from super().purge_queue_at_server(queue)


@fault("client-purge-queue-not-called-while-cursor-is-open", breaks="MQQP-3.2.4.4-D01", blind=True)
class ClientPurgeQueueNotCalledWhileCursorIsOpen(ClientQueueOpening):
    """The client does not call RemoteQMPurgeQueue while a cursor of the queue is open."""

    def purge_queue_at_server(self, queue: RemoteQueue) -> RemoteCallSequence:
        if not any(owner is queue for owner, _ in self.qm.remote_client.queue_and_handle_by_cursor.values()):
            yield from super().purge_queue_at_server(queue)
