"""Faults that break rules of MS-MQQP 3.2.4.9 Closing a Queue."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.parts import fault
from harness.faults.primitives import omit_remote_call_sequence, omit_step
from harness.faults.registry import add
from reference_qm.core.part import QM
from reference_qm.core.remote.client_model import PendingRemoteReadEntry, RemoteOpenQueueEntry, RemoteQueue
from reference_qm.core.remote.client_queue_opening import ClientQueueOpening
from reference_qm.core.remote.client_read_cancelling import ClientReadCancelling
from reference_qm.core.remote.client_steps import RemoteCallSequence, RemoteError, RpcBindingHandle


@fault("client-closes-last-opened-queue-instead-of-named-queue", breaks="MQQP-3.2.4.9-02")
class ClientClosesLastOpenedQueueInsteadOfNamedQueue(ClientQueueOpening):
    """The client closes the queue that it opened last instead of the queue that its application names."""

    def find_remote_open_queue_entry(self, queue: RemoteQueue) -> RemoteOpenQueueEntry:
        return self.qm.remote_client.RemoteOpenQueueEntryCollection[-1]


@fault("client-close-queue-closes-first-opened-queue", breaks=("MQQP-3.2.4.9-02", "MQQP-3.2.4.9-06"))
class ClientCloseQueueClosesFirstOpenedQueue(ClientQueueOpening):
    """The client closes the queue that it opened first, even if its application names another queue."""

    def find_remote_open_queue_entry(self, queue: RemoteQueue) -> RemoteOpenQueueEntry:
        return self.qm.remote_client.RemoteOpenQueueEntryCollection[0]


@fault("client-close-queue-closes-last-opened-queue", breaks=("MQQP-3.2.4.9-02", "MQQP-3.2.4.9-06"))
class ClientCloseQueueClosesLastOpenedQueue(ClientQueueOpening):
    """The client calls RemoteQMCloseQueue with the handle of the queue that it opened last."""

    def call_close_queue(self, binding: RpcBindingHandle, entry: RemoteOpenQueueEntry) -> RemoteCallSequence:
        yield from super().call_close_queue(binding, self.qm.remote_client.RemoteOpenQueueEntryCollection[-1])


@fault("client-close-of-newest-queue-closes-every-queue", breaks="MQQP-3.2.4.9-02")
class ClientCloseOfNewestQueueClosesEveryQueue(ClientQueueOpening):
    """The client closes all of its open queues when its application closes the newest queue."""

    def close_queue_at_server(self, queue: RemoteQueue) -> RemoteCallSequence:
        entries = list(self.qm.remote_client.RemoteOpenQueueEntryCollection)
        newest = bool(entries) and entries[-1].queue is queue
        for entry in entries if newest else [self.find_remote_open_queue_entry(queue)]:
            yield from super().close_queue_at_server(entry.queue)


@fault("client-close-queue-cancels-reads-of-other-queue", breaks="MQQP-3.2.4.9-03")
class ClientCloseQueueCancelsReadsOfOtherQueue(ClientReadCancelling):
    """The client also cancels the pending reads of its other queues when it closes a queue."""

    def cancel_every_pending_read(self, queue: RemoteQueue) -> RemoteCallSequence:
        yield from super().cancel_every_pending_read(queue)
        for entry in list(self.qm.remote_client.PendingRemoteReadEntryCollection):
            yield from self.call_cancel_receive(entry)


class _CancelParameterChanger(ClientReadCancelling):
    """Change the parameters of the RemoteQMCancelReceive calls before a close."""

    def change(self, entry: PendingRemoteReadEntry, place: int) -> dict[str, Any]:
        raise NotImplementedError

    def build_cancel_receive_arguments(self, entry: PendingRemoteReadEntry) -> dict[str, Any]:
        described = super().build_cancel_receive_arguments(entry)
        if entry.queue.number in self.qm.remote_client.queues:
            return described
        self.place += 1
        return described | self.change(entry, self.place)

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.place = 0


@fault("client-close-cancels-second-read-with-h-queue-of-open-queue", breaks="MQQP-3.2.4.9-03")
class ClientCloseCancelsSecondReadWithHQueueOfOpenQueue(_CancelParameterChanger):
    """A client that closes a queue with two pending reads sets hQueue of the second RemoteQMCancelReceive to the handle
    of a queue that is still open, or to dwpQueue.
    """

    def change(self, entry: PendingRemoteReadEntry, place: int) -> dict[str, Any]:
        others = list(self.qm.remote_client.queues.values())
        other = others[0].QueueHandle if others else entry.queue.QueueDescriptor
        return {"hQueue": other} if place > 1 else {}


@fault("client-closing-cancels-reads-of-every-queue", breaks="MQQP-3.2.4.9-03")
class ClientClosingCancelsReadsOfEveryQueue(ClientReadCancelling):
    """A client that closes a queue cancels the pending reads of all its queues."""

    def cancel_every_pending_read(self, queue: RemoteQueue) -> RemoteCallSequence:
        for one in {
            id(entry.queue): entry.queue for entry in self.qm.remote_client.PendingRemoteReadEntryCollection
        }.values():
            yield from super().cancel_every_pending_read(one)


@fault("client-close-queue-cancels-with-handle-of-first-queue", breaks="MQQP-3.2.4.9-03", blind=True)
class ClientCloseQueueCancelsWithHandleOfFirstQueue(ClientReadCancelling):
    """When the client closes a queue, it cancels the pending reads with the hQueue of the queue that it
    opened first.
    """

    def cancel_every_pending_read(self, queue: RemoteQueue) -> RemoteCallSequence:
        first = next(iter(self.qm.remote_client.queues.values()))
        for entry in list(self.qm.remote_client.PendingRemoteReadEntryCollection):
            if entry.queue is queue:
                right = entry.OpenQueueDescriptorHandle
                entry.OpenQueueDescriptorHandle = first.QueueHandle
                with suppress(RemoteError):
                    yield from self.call_cancel_receive(entry)
                entry.OpenQueueDescriptorHandle = right
                self.remove_cancelled_read(entry)


@fault("client-cancels-only-first-read-of-closed-queue", breaks=("MQQP-3.2.4.9-04",), blind=True)
class ClientCancelsOnlyFirstReadOfClosedQueue(ClientReadCancelling):
    """When a client closes a queue with several pending reads, it cancels the first of these reads several times, and
    no other read.
    """

    def build_cancel_receive_arguments(self, entry: PendingRemoteReadEntry) -> dict[str, Any]:
        described = super().build_cancel_receive_arguments(entry)
        pending = self.qm.remote_client.PendingRemoteReadEntryCollection
        self.first = getattr(self, "first", next(one.RequestId for one in pending if one.queue is entry.queue))
        return described | {"dwRequestID": self.first}


@fault("client-close-queue-cancels-with-request-id-of-first-read", breaks="MQQP-3.2.4.9-04")
class ClientCloseQueueCancelsWithRequestIdOfFirstRead(ClientReadCancelling):
    """The client cancels each pending read of a closed queue with the RequestId of the first pending read."""

    first_request_id = 0

    def cancel_every_pending_read(self, queue: RemoteQueue) -> RemoteCallSequence:
        entries = [one for one in self.qm.remote_client.PendingRemoteReadEntryCollection if one.queue is queue]
        self.first_request_id = entries[0].RequestId if entries else 0
        yield from super().cancel_every_pending_read(queue)
        self.first_request_id = 0

    def call_cancel_receive(self, entry: PendingRemoteReadEntry) -> RemoteCallSequence:
        if self.first_request_id:
            entry.RequestId = self.first_request_id
        yield from super().call_cancel_receive(entry)


@fault("client-closing-cancels-newest-read-of-other-queue", breaks="MQQP-3.2.4.9-04")
class ClientClosingCancelsNewestReadOfOtherQueue(_CancelParameterChanger):
    """A client that closes a queue sets dwRequestID of RemoteQMCancelReceive to the RequestId of its newest pending
    read of any queue.
    """

    def change(self, entry: PendingRemoteReadEntry, place: int) -> dict[str, Any]:
        return {"dwRequestID": self.qm.remote_client.PendingRemoteReadEntryCollection[-1].RequestId}


@fault("client-close-queue-cancels-every-read-with-last-request-id", breaks="MQQP-3.2.4.9-04", blind=True)
class ClientCloseQueueCancelsEveryReadWithLastRequestId(ClientReadCancelling):
    """When the client closes a queue, it cancels every pending read with the RequestId of the last pending read."""

    def cancel_every_pending_read(self, queue: RemoteQueue) -> RemoteCallSequence:
        entries = [one for one in self.qm.remote_client.PendingRemoteReadEntryCollection if one.queue is queue]
        for entry in entries:
            with suppress(RemoteError):
                yield from self.call_cancel_receive(entries[-1])
            self.remove_cancelled_read(entry)


add(
    "client-close-queue-not-called",
    ("MQQP-3.2.4.9-05", "MQQP-2.2.1.1-01", "MQQP-3.1.4.4-01"),
    "The client does not call RemoteQMCloseQueue.",
    omit_remote_call_sequence(ClientQueueOpening.call_close_queue),
)


@fault("client-closes-connection-instead-of-queue-with-pending-read", breaks="MQQP-3.2.4.9-05")
class ClientClosesConnectionInsteadOfQueueWithPendingRead(ClientQueueOpening):
    """If a read of a queue is pending, the client closes the connection instead of calling RemoteQMCloseQueue."""

    def _close_open_queue(self, binding: RpcBindingHandle, entry: RemoteOpenQueueEntry) -> RemoteCallSequence:
        pending = self.qm.remote_client.PendingRemoteReadEntryCollection
        if any(one.queue is entry.queue for one in pending):
            yield from self.qm.client_read_cancelling.cancel_every_pending_read(entry.queue)
            self.remove_remote_open_queue_entry(entry)
        else:
            yield from super()._close_open_queue(binding, entry)


@fault("client-close-queue-not-called-while-other-queue-is-open", breaks="MQQP-3.2.4.9-05")
class ClientCloseQueueNotCalledWhileOtherQueueIsOpen(ClientQueueOpening):
    """The client does not call RemoteQMCloseQueue for a queue while it has another queue open."""

    def call_close_queue(self, binding: RpcBindingHandle, entry: RemoteOpenQueueEntry) -> RemoteCallSequence:
        if len(self.qm.remote_client.RemoteOpenQueueEntryCollection) == 1:
            yield from super().call_close_queue(binding, entry)


@fault("client-close-queue-called-twice", breaks="MQQP-3.2.4.9-05")
class ClientCloseQueueCalledTwice(ClientQueueOpening):
    """The client calls RemoteQMCloseQueue twice with the same handle."""

    def call_close_queue(self, binding: RpcBindingHandle, entry: RemoteOpenQueueEntry) -> RemoteCallSequence:
        yield from super().call_close_queue(binding, entry)
        yield from super().call_close_queue(binding, entry)


class _CloseCallOmitter(ClientQueueOpening):
    """Do not call RemoteQMCloseQueue for some queues; a subclass selects which."""

    def is_close_call_omitted(self, entry: RemoteOpenQueueEntry) -> bool:
        raise NotImplementedError

    def call_close_queue(self, binding: RpcBindingHandle, entry: RemoteOpenQueueEntry) -> RemoteCallSequence:
        if not self.is_close_call_omitted(entry):
            yield from super().call_close_queue(binding, entry)


@fault("client-omits-close-queue-call-for-queue-opened-to-peek", breaks="MQQP-3.2.4.9-05")
class ClientOmitsCloseQueueCallForQueueOpenedToPeek(_CloseCallOmitter):
    """The client does not call RemoteQMCloseQueue for a queue that it opened to peek."""

    def is_close_call_omitted(self, entry: RemoteOpenQueueEntry) -> bool:
        return not entry.queue.may_receive


@fault("client-omits-close-queue-for-second-closed-queue", breaks="MQQP-3.2.4.9-05")
class ClientOmitsCloseQueueForSecondClosedQueue(_CloseCallOmitter):
    """The client calls RemoteQMCloseQueue only for the first queue that it closes."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.count = 0

    def is_close_call_omitted(self, entry: RemoteOpenQueueEntry) -> bool:
        self.count += 1
        return self.count > 1


@fault("client-omits-close-queue-while-other-queue-of-server-is-open", breaks="MQQP-3.2.4.9-05")
class ClientOmitsCloseQueueWhileOtherQueueOfServerIsOpen(_CloseCallOmitter):
    """The client does not call RemoteQMCloseQueue while a different queue of the same server is open."""

    def is_close_call_omitted(self, entry: RemoteOpenQueueEntry) -> bool:
        return len(self.qm.remote_client.RemoteOpenQueueEntryCollection) > 1


@fault("client-omits-close-queue-after-refused-cancel", breaks="MQQP-3.2.4.9-05")
class ClientOmitsCloseQueueAfterRefusedCancel(ClientReadCancelling):
    """The client does not call RemoteQMCloseQueue if the server refused to cancel a pending read of the queue."""

    def cancel_every_pending_read(self, queue: RemoteQueue) -> RemoteCallSequence:
        for entry in list(self.qm.remote_client.PendingRemoteReadEntryCollection):
            if entry.queue is queue:
                yield from self.cancel_pending_read(queue, entry.RequestId)


@fault("client-close-queue-not-called-after-refused-cancel", breaks="MQQP-3.2.4.9-05", blind=True)
class ClientCloseQueueNotCalledAfterRefusedCancel(ClientQueueOpening):
    """The client does not call RemoteQMCloseQueue if RemoteQMCancelReceive failed for a read of the queue."""

    def call_close_queue(self, binding: RpcBindingHandle, entry: RemoteOpenQueueEntry) -> RemoteCallSequence:
        if entry.queue not in self.qm.client_read_cancelling.__dict__.get("refused", ()):
            yield from super().call_close_queue(binding, entry)

    def _close_open_queue(self, binding: RpcBindingHandle, entry: RemoteOpenQueueEntry) -> RemoteCallSequence:
        cancelling = self.qm.client_read_cancelling
        for one in list(self.qm.remote_client.PendingRemoteReadEntryCollection):
            if one.queue is entry.queue:
                try:
                    yield from cancelling.cancel_pending_read(entry.queue, one.RequestId)
                except RemoteError:
                    self.remove_remote_open_queue_entry(entry)
                    return
        yield from super()._close_open_queue(binding, entry)


@fault("client-close-queue-not-called-for-second-queue", breaks="MQQP-3.2.4.9-05", blind=True)
class ClientCloseQueueNotCalledForSecondQueue(ClientQueueOpening):
    """The client calls RemoteQMCloseQueue only for the queue that it closes first."""

    def call_close_queue(self, binding: RpcBindingHandle, entry: RemoteOpenQueueEntry) -> RemoteCallSequence:
        closed: set[RemoteQueue] = self.__dict__.setdefault("closed", set())
        closed.add(entry.queue)
        if len(closed) == 1:
            yield from super().call_close_queue(binding, entry)


WRONG_CONTEXT_HANDLE = UUID(int=0xBAD)


@fault("client-close-queue-sends-wrong-context-handle", breaks="MQQP-3.2.4.9-06")
class ClientCloseQueueSendsWrongContextHandle(ClientQueueOpening):
    """The client calls RemoteQMCloseQueue with a wrong context handle."""

    def call_close_queue(self, binding: RpcBindingHandle, entry: RemoteOpenQueueEntry) -> RemoteCallSequence:
        yield from super().call_close_queue(binding, replace(entry, RRSessionHandle=WRONG_CONTEXT_HANDLE))


@fault("client-close-queue-sends-context-handle-of-newest-queue", breaks="MQQP-3.2.4.9-06")
class ClientCloseQueueSendsContextHandleOfNewestQueue(ClientQueueOpening):
    """The client calls RemoteQMCloseQueue with the phContext of the queue that it opened last."""

    def call_close_queue(self, binding: RpcBindingHandle, entry: RemoteOpenQueueEntry) -> RemoteCallSequence:
        newest = self.qm.remote_client.RemoteOpenQueueEntryCollection[-1]
        yield from self.qm.server_bindings.call_method(binding, "RemoteQMCloseQueue", pphContext=newest.RRSessionHandle)


@fault("client-close-queue-sends-context-handle-of-first-queue", breaks="MQQP-3.2.4.9-06")
class ClientCloseQueueSendsContextHandleOfFirstQueue(ClientQueueOpening):
    """The client calls RemoteQMCloseQueue with the phContext of the queue that it opened first."""

    def call_close_queue(self, binding: RpcBindingHandle, entry: RemoteOpenQueueEntry) -> RemoteCallSequence:
        first = self.qm.remote_client.RemoteOpenQueueEntryCollection[0]
        yield from self.qm.server_bindings.call_method(binding, "RemoteQMCloseQueue", pphContext=first.RRSessionHandle)


add(
    "client-closed-queue-entry-kept",
    "MQQP-3.2.4.9-07",
    "The client keeps the RemoteOpenQueueEntry of a closed queue.",
    omit_step(ClientQueueOpening.remove_remote_open_queue_entry),
)


@fault("client-close-queue-removes-every-open-queue-entry", breaks="MQQP-3.2.4.9-07")
class ClientCloseQueueRemovesEveryOpenQueueEntry(ClientQueueOpening):
    """The client removes the RemoteOpenQueueEntries of all its queues when it closes one of them."""

    def remove_remote_open_queue_entry(self, entry: RemoteOpenQueueEntry) -> None:
        self.qm.remote_client.RemoteOpenQueueEntryCollection.clear()


@fault("client-close-queue-removes-open-queue-entry-of-first-queue", breaks="MQQP-3.2.4.9-07")
class ClientCloseQueueRemovesOpenQueueEntryOfFirstQueue(ClientQueueOpening):
    """The client removes the RemoteOpenQueueEntry of the queue that it opened first when it closes another queue."""

    def remove_remote_open_queue_entry(self, entry: RemoteOpenQueueEntry) -> None:
        del self.qm.remote_client.RemoteOpenQueueEntryCollection[0]


@fault("client-keeps-open-queue-entry-after-refused-close-queue", breaks="MQQP-3.2.4.9-07")
class ClientKeepsOpenQueueEntryAfterRefusedCloseQueue(ClientQueueOpening):
    """The client keeps the RemoteOpenQueueEntry of a queue, if RemoteQMCloseQueue returned an error."""

    def _close_open_queue(self, binding: RpcBindingHandle, entry: RemoteOpenQueueEntry) -> RemoteCallSequence:
        yield from self.qm.client_read_cancelling.cancel_every_pending_read(entry.queue)
        yield from self.call_close_queue(binding, entry)
        self.remove_remote_open_queue_entry(entry)


@fault("client-keeps-open-queue-entry-after-close-queue-failure", breaks="MQQP-3.2.4.9-07", blind=True)
class ClientKeepsOpenQueueEntryAfterCloseQueueFailure(ClientQueueOpening):
    """The client keeps the RemoteOpenQueueEntry of a queue if RemoteQMCloseQueue returned a failure."""

    def call_close_queue(self, binding: RpcBindingHandle, entry: RemoteOpenQueueEntry) -> RemoteCallSequence:
        try:
            yield from super().call_close_queue(binding, entry)
        except RemoteError:
            self.qm.remote_client.RemoteOpenQueueEntryCollection.append(entry)
            raise
