"""Faults of MS-MQQP 3.2.4.9 Closing a Queue with several queues and reads, and after failures."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.remote.client_cancelling import ClientCancelling
from reference_qm.core.remote.client_model import PendingRemoteReadEntry, RemoteOpenQueueEntry, RemoteQueue
from reference_qm.core.remote.client_opening import ClientOpening
from reference_qm.core.remote.client_steps import Binding, Sequence


@fault("client-closes-oldest-open-queue", breaks="MQQP-3.2.4.9-02")
class ClientClosesOldestOpenQueue(ClientOpening):
    """The client closes the queue that it opened first."""

    def find_remote_open_queue(self, queue: RemoteQueue) -> RemoteOpenQueueEntry:
        return self.qm.remote_client.RemoteOpenQueueEntryCollection[0]


@fault("client-close-closes-every-queue", breaks="MQQP-3.2.4.9-02")
class ClientCloseClosesEveryQueue(ClientOpening):
    """The client closes all of its open queues when its application closes the newest queue."""

    def close_queue_at_server(self, queue: RemoteQueue) -> Sequence:
        entries = list(self.qm.remote_client.RemoteOpenQueueEntryCollection)
        newest = bool(entries) and entries[-1].queue is queue
        for entry in entries if newest else [self.find_remote_open_queue(queue)]:
            yield from super().close_queue_at_server(entry.queue)


class _Changing(ClientCancelling):
    """Change the parameters of the RemoteQMCancelReceive calls before a close."""

    def change(self, entry: PendingRemoteReadEntry, place: int) -> dict[str, Any]:
        raise NotImplementedError

    def build_cancel_receive(self, entry: PendingRemoteReadEntry) -> dict[str, Any]:
        described = super().build_cancel_receive(entry)
        if entry.queue.number in self.qm.remote_client.queues:
            return described
        self.place += 1
        return described | self.change(entry, self.place)

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.place = 0


@fault("client-closing-cancels-second-read-with-hqueue-of-open-queue", breaks="MQQP-3.2.4.9-03")
class ClientClosingCancelsSecondReadWithHqueueOfOpenQueue(_Changing):
    """A client that closes a queue with two pending reads sets hQueue of the second RemoteQMCancelReceive to the handle
    of a queue that is still open, or to dwpQueue.
    """

    def change(self, entry: PendingRemoteReadEntry, place: int) -> dict[str, Any]:
        others = list(self.qm.remote_client.queues.values())
        other = others[0].QueueHandle if others else entry.queue.QueueDescriptor
        return {"hQueue": other} if place > 1 else {}


@fault("client-closing-cancels-newest-read-of-other-queue", breaks="MQQP-3.2.4.9-04")
class ClientClosingCancelsNewestReadOfOtherQueue(_Changing):
    """A client that closes a queue sets dwRequestID of RemoteQMCancelReceive to the RequestId of its newest pending
    read of any queue.
    """

    def change(self, entry: PendingRemoteReadEntry, place: int) -> dict[str, Any]:
        return {"dwRequestID": self.qm.remote_client.PendingRemoteReadEntryCollection[-1].RequestId}


@fault("client-closing-cancels-reads-of-every-queue", breaks="MQQP-3.2.4.9-03")
class ClientClosingCancelsReadsOfEveryQueue(ClientCancelling):
    """A client that closes a queue cancels the pending reads of all its queues."""

    def cancel_every_pending_read(self, queue: RemoteQueue) -> Sequence:
        for one in {
            id(entry.queue): entry.queue for entry in self.qm.remote_client.PendingRemoteReadEntryCollection
        }.values():
            yield from super().cancel_every_pending_read(one)


class _Omitting(ClientOpening):
    """Do not call RemoteQMCloseQueue for some queues."""

    def is_omitted(self, entry: RemoteOpenQueueEntry) -> bool:
        raise NotImplementedError

    def call_close_queue(self, binding: Binding, entry: RemoteOpenQueueEntry) -> Sequence:
        if not self.is_omitted(entry):
            yield from super().call_close_queue(binding, entry)


@fault("client-close-queue-opened-to-peek-not-called", breaks="MQQP-3.2.4.9-05")
class ClientCloseQueueOpenedToPeekNotCalled(_Omitting):
    """The client does not call RemoteQMCloseQueue for a queue that it opened to peek."""

    def is_omitted(self, entry: RemoteOpenQueueEntry) -> bool:
        return not entry.queue.receives


@fault("client-close-of-second-queue-not-called", breaks="MQQP-3.2.4.9-05")
class ClientCloseOfSecondQueueNotCalled(_Omitting):
    """The client calls RemoteQMCloseQueue only for the first queue that it closes."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.count = 0

    def is_omitted(self, entry: RemoteOpenQueueEntry) -> bool:
        self.count += 1
        return self.count > 1


@fault("client-close-not-called-while-other-queue-is-open", breaks="MQQP-3.2.4.9-05")
class ClientCloseNotCalledWhileOtherQueueIsOpen(_Omitting):
    """The client does not call RemoteQMCloseQueue while a different queue of the same server is open."""

    def is_omitted(self, entry: RemoteOpenQueueEntry) -> bool:
        return len(self.qm.remote_client.RemoteOpenQueueEntryCollection) > 1


@fault("client-close-after-refused-cancel-not-called", breaks="MQQP-3.2.4.9-05")
class ClientCloseAfterRefusedCancelNotCalled(ClientCancelling):
    """The client does not call RemoteQMCloseQueue, if the server refused the cancel of a pending read."""

    def cancel_every_pending_read(self, queue: RemoteQueue) -> Sequence:
        for entry in list(self.qm.remote_client.PendingRemoteReadEntryCollection):
            if entry.queue is queue:
                yield from self.cancel_pending_read(queue, entry.RequestId)


@fault("client-close-queue-context-handle-of-newest-queue", breaks="MQQP-3.2.4.9-06")
class ClientCloseQueueContextHandleOfNewestQueue(ClientOpening):
    """The client calls RemoteQMCloseQueue with the phContext of the queue that it opened last."""

    def call_close_queue(self, binding: Binding, entry: RemoteOpenQueueEntry) -> Sequence:
        newest = self.qm.remote_client.RemoteOpenQueueEntryCollection[-1]
        yield from self.qm.server_bindings.call_method(binding, "RemoteQMCloseQueue", pphContext=newest.RRSessionHandle)


@fault("client-close-queue-context-handle-of-first-queue", breaks="MQQP-3.2.4.9-06")
class ClientCloseQueueContextHandleOfFirstQueue(ClientOpening):
    """The client calls RemoteQMCloseQueue with the phContext of the queue that it opened first."""

    def call_close_queue(self, binding: Binding, entry: RemoteOpenQueueEntry) -> Sequence:
        first = self.qm.remote_client.RemoteOpenQueueEntryCollection[0]
        yield from self.qm.server_bindings.call_method(binding, "RemoteQMCloseQueue", pphContext=first.RRSessionHandle)


@fault("client-entry-of-queue-kept-after-refused-close", breaks="MQQP-3.2.4.9-07")
class ClientEntryOfQueueKeptAfterRefusedClose(ClientOpening):
    """The client keeps the RemoteOpenQueueEntry of a queue, if RemoteQMCloseQueue returned an error."""

    def _close_open_queue(self, binding: Binding, entry: RemoteOpenQueueEntry) -> Sequence:
        yield from self.qm.client_cancelling.cancel_every_pending_read(entry.queue)
        yield from self.call_close_queue(binding, entry)
        self.remove_remote_open_queue(entry)


@fault("client-close-removes-oldest-open-queue-entry", breaks="MQQP-3.2.4.9-07")
class ClientCloseRemovesOldestOpenQueueEntry(ClientOpening):
    """The client removes the oldest RemoteOpenQueueEntry when it closes a queue."""

    def remove_remote_open_queue(self, entry: RemoteOpenQueueEntry) -> None:
        del self.qm.remote_client.RemoteOpenQueueEntryCollection[0]


@fault("client-close-removes-every-open-queue-entry", breaks="MQQP-3.2.4.9-07")
class ClientCloseRemovesEveryOpenQueueEntry(ClientOpening):
    """The client removes all RemoteOpenQueueEntry elements when it closes a queue."""

    def remove_remote_open_queue(self, entry: RemoteOpenQueueEntry) -> None:
        self.qm.remote_client.RemoteOpenQueueEntryCollection.clear()
