"""Faults of MS-MQQP 3.2.4.9 Closing a Queue that affect only one state, or a second queue or read."""

from __future__ import annotations

from contextlib import suppress

from harness.faults.parts import fault
from reference_qm.core.remote.client_cancelling import ClientCancelling
from reference_qm.core.remote.client_model import RemoteOpenQueueEntry, RemoteQueue
from reference_qm.core.remote.client_opening import ClientOpening
from reference_qm.core.remote.client_steps import Binding, RemoteError, Sequence


@fault("client-close-queue-not-called-after-refused-cancel", breaks="MQQP-3.2.4.9-05", blind=True)
class ClientCloseQueueNotCalledAfterRefusedCancel(ClientOpening):
    """The client does not call RemoteQMCloseQueue if RemoteQMCancelReceive failed for a read of the queue."""

    def call_close_queue(self, binding: Binding, entry: RemoteOpenQueueEntry) -> Sequence:
        if entry.queue not in self.qm.client_cancelling.__dict__.get("refused", ()):
            yield from super().call_close_queue(binding, entry)

    def _close_open_queue(self, binding: Binding, entry: RemoteOpenQueueEntry) -> Sequence:
        cancelling = self.qm.client_cancelling
        for one in list(self.qm.remote_client.PendingRemoteReadEntryCollection):
            if one.queue is entry.queue:
                try:
                    yield from cancelling.cancel_pending_read(entry.queue, one.RequestId)
                except RemoteError:
                    self.remove_remote_open_queue(entry)
                    return
        yield from super()._close_open_queue(binding, entry)


@fault("client-close-queue-not-called-for-second-queue", breaks="MQQP-3.2.4.9-05", blind=True)
class ClientCloseQueueNotCalledForSecondQueue(ClientOpening):
    """The client calls RemoteQMCloseQueue only for the queue that it closes first."""

    def call_close_queue(self, binding: Binding, entry: RemoteOpenQueueEntry) -> Sequence:
        closed: set[RemoteQueue] = self.__dict__.setdefault("closed", set())
        closed.add(entry.queue)
        if len(closed) == 1:
            yield from super().call_close_queue(binding, entry)


@fault("client-close-queue-entry-kept-after-refusal", breaks="MQQP-3.2.4.9-07", blind=True)
class ClientCloseQueueEntryKeptAfterRefusal(ClientOpening):
    """The client keeps the RemoteOpenQueueEntry of a queue if RemoteQMCloseQueue returned a failure."""

    def call_close_queue(self, binding: Binding, entry: RemoteOpenQueueEntry) -> Sequence:
        try:
            yield from super().call_close_queue(binding, entry)
        except RemoteError:
            self.qm.remote_client.RemoteOpenQueueEntryCollection.append(entry)
            raise


@fault("client-close-queue-cancels-with-handle-of-first-queue", breaks="MQQP-3.2.4.9-03", blind=True)
class ClientCloseQueueCancelsWithHandleOfFirstQueue(ClientCancelling):
    """When the client closes a queue, it cancels the pending reads with the hQueue of the queue that it
    opened first.
    """

    def cancel_every_pending_read(self, queue: RemoteQueue) -> Sequence:
        first = next(iter(self.qm.remote_client.queues.values()))
        for entry in list(self.qm.remote_client.PendingRemoteReadEntryCollection):
            if entry.queue is queue:
                right = entry.OpenQueueDescriptorHandle
                entry.OpenQueueDescriptorHandle = first.QueueHandle
                with suppress(RemoteError):
                    yield from self.call_cancel_receive(entry)
                entry.OpenQueueDescriptorHandle = right
                self.remove_cancelled_read(entry)


@fault("client-close-queue-cancels-every-read-with-last-request-id", breaks="MQQP-3.2.4.9-04", blind=True)
class ClientCloseQueueCancelsEveryReadWithLastRequestId(ClientCancelling):
    """When the client closes a queue, it cancels every pending read with the RequestId of the last pending read."""

    def cancel_every_pending_read(self, queue: RemoteQueue) -> Sequence:
        entries = [one for one in self.qm.remote_client.PendingRemoteReadEntryCollection if one.queue is queue]
        for entry in entries:
            with suppress(RemoteError):
                yield from self.call_cancel_receive(entries[-1])
            self.remove_cancelled_read(entry)
