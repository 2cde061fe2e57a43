"""Faults of MS-MQQP 3.2.4.9 Closing a Queue that only special cases reveal: pending reads, and several queues."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.client_cancelling import ClientCancelling
from reference_qm.core.remote.client_model import PendingRemoteReadEntry, RemoteOpenQueueEntry, RemoteQueue
from reference_qm.core.remote.client_opening import ClientOpening
from reference_qm.core.remote.client_steps import Binding, Sequence


@fault("client-close-queue-closes-first-opened-queue", breaks=("MQQP-3.2.4.9-02", "MQQP-3.2.4.9-06"))
class ClientCloseQueueClosesFirstOpenedQueue(ClientOpening):
    """The client closes the queue that it opened first, even if its application names another queue."""

    def find_remote_open_queue(self, queue: RemoteQueue) -> RemoteOpenQueueEntry:
        return self.qm.remote_client.RemoteOpenQueueEntryCollection[0]


@fault("client-close-queue-closes-last-opened-queue", breaks=("MQQP-3.2.4.9-02", "MQQP-3.2.4.9-06"))
class ClientCloseQueueClosesLastOpenedQueue(ClientOpening):
    """The client calls RemoteQMCloseQueue with the handle of the queue that it opened last."""

    def call_close_queue(self, binding: Binding, entry: RemoteOpenQueueEntry) -> Sequence:
        yield from super().call_close_queue(binding, self.qm.remote_client.RemoteOpenQueueEntryCollection[-1])


@fault("client-close-queue-cancels-reads-of-other-queue", breaks="MQQP-3.2.4.9-03")
class ClientCloseQueueCancelsReadsOfOtherQueue(ClientCancelling):
    """The client also cancels the pending reads of its other queues when it closes a queue."""

    def cancel_every_pending_read(self, queue: RemoteQueue) -> Sequence:
        yield from super().cancel_every_pending_read(queue)
        for entry in list(self.qm.remote_client.PendingRemoteReadEntryCollection):
            yield from self.call_cancel_receive(entry)


@fault("client-close-queue-cancels-with-request-id-of-first-read", breaks="MQQP-3.2.4.9-04")
class ClientCloseQueueCancelsWithRequestIdOfFirstRead(ClientCancelling):
    """The client cancels each pending read of a closed queue with the RequestId of the first pending read."""

    first = 0

    def cancel_every_pending_read(self, queue: RemoteQueue) -> Sequence:
        entries = [one for one in self.qm.remote_client.PendingRemoteReadEntryCollection if one.queue is queue]
        self.first = entries[0].RequestId if entries else 0
        yield from super().cancel_every_pending_read(queue)
        self.first = 0

    def call_cancel_receive(self, entry: PendingRemoteReadEntry) -> Sequence:
        if self.first:
            entry.RequestId = self.first
        yield from super().call_cancel_receive(entry)


@fault("client-close-queue-with-pending-read-not-called", breaks="MQQP-3.2.4.9-05")
class ClientCloseQueueWithPendingReadNotCalled(ClientOpening):
    """If a read of a queue is pending, the client closes the connection instead of calling RemoteQMCloseQueue."""

    def _close_open_queue(self, binding: Binding, entry: RemoteOpenQueueEntry) -> Sequence:
        pending = self.qm.remote_client.PendingRemoteReadEntryCollection
        if any(one.queue is entry.queue for one in pending):
            yield from self.qm.client_cancelling.cancel_every_pending_read(entry.queue)
            self.remove_remote_open_queue(entry)
        else:
            yield from super()._close_open_queue(binding, entry)


@fault("client-close-queue-not-called-while-other-queue-is-open", breaks="MQQP-3.2.4.9-05")
class ClientCloseQueueNotCalledWhileOtherQueueIsOpen(ClientOpening):
    """The client does not call RemoteQMCloseQueue for a queue while it has another queue open."""

    def call_close_queue(self, binding: Binding, entry: RemoteOpenQueueEntry) -> Sequence:
        if len(self.qm.remote_client.RemoteOpenQueueEntryCollection) == 1:
            yield from super().call_close_queue(binding, entry)


@fault("client-close-queue-called-twice", breaks="MQQP-3.2.4.9-05")
class ClientCloseQueueCalledTwice(ClientOpening):
    """The client calls RemoteQMCloseQueue twice with the same handle."""

    def call_close_queue(self, binding: Binding, entry: RemoteOpenQueueEntry) -> Sequence:
        yield from super().call_close_queue(binding, entry)
        yield from super().call_close_queue(binding, entry)


@fault("client-close-queue-removes-every-entry", breaks="MQQP-3.2.4.9-07")
class ClientCloseQueueRemovesEveryEntry(ClientOpening):
    """The client removes the RemoteOpenQueueEntries of all its queues when it closes one of them."""

    def remove_remote_open_queue(self, entry: RemoteOpenQueueEntry) -> None:
        self.qm.remote_client.RemoteOpenQueueEntryCollection.clear()


@fault("client-close-queue-removes-first-entry", breaks="MQQP-3.2.4.9-07")
class ClientCloseQueueRemovesFirstEntry(ClientOpening):
    """The client removes the RemoteOpenQueueEntry of the queue that it opened first when it closes another queue."""

    def remove_remote_open_queue(self, entry: RemoteOpenQueueEntry) -> None:
        del self.qm.remote_client.RemoteOpenQueueEntryCollection[0]
