"""Faults of MS-MQQP 3.2.4.9 Closing a Queue."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.parts import fault
from harness.faults.primitives import skip, skip_sequence
from harness.faults.registry import add
from reference_qm.core.remote.client_cancelling import ClientCancelling
from reference_qm.core.remote.client_model import PendingRemoteReadEntry, RemoteOpenQueueEntry, RemoteQueue
from reference_qm.core.remote.client_opening import ClientOpening
from reference_qm.core.remote.client_steps import Binding, Sequence

WRONG_CONTEXT_HANDLE = UUID(int=0xBAD)


@fault("client-close-queue-of-last-opened-queue", breaks="MQQP-3.2.4.9-02")
class ClientCloseQueueOfLastOpenedQueue(ClientOpening):
    """The client closes the queue that it opened last instead of the queue that its application names."""

    def find_remote_open_queue(self, queue: RemoteQueue) -> RemoteOpenQueueEntry:
        return self.qm.remote_client.RemoteOpenQueueEntryCollection[-1]


add(
    "client-close-queue-not-called",
    ("MQQP-3.2.4.9-05", "MQQP-2.2.1.1-01", "MQQP-3.1.4.4-01"),
    "The client does not call RemoteQMCloseQueue.",
    skip_sequence(ClientOpening.call_close_queue),
)


@fault("client-close-queue-sends-wrong-context-handle", breaks="MQQP-3.2.4.9-06")
class ClientCloseQueueSendsWrongContextHandle(ClientOpening):
    """The client calls RemoteQMCloseQueue with a wrong context handle."""

    def call_close_queue(self, binding: Binding, entry: RemoteOpenQueueEntry) -> Sequence:
        yield from super().call_close_queue(binding, replace(entry, RRSessionHandle=WRONG_CONTEXT_HANDLE))


add(
    "client-closed-queue-entry-kept",
    "MQQP-3.2.4.9-07",
    "The client keeps the RemoteOpenQueueEntry of a closed queue.",
    skip(ClientOpening.remove_remote_open_queue),
)


@fault("client-cancels-only-first-read-of-closed-queue", breaks=("MQQP-3.2.4.9-04",), blind=True)
class ClientCancelsOnlyFirstReadOfClosedQueue(ClientCancelling):
    """When a client closes a queue with several pending reads, it cancels the first of these reads several times, and
    no other read.
    """

    def build_cancel_receive(self, entry: PendingRemoteReadEntry) -> dict[str, Any]:
        described = super().build_cancel_receive(entry)
        pending = self.qm.remote_client.PendingRemoteReadEntryCollection
        self.first = getattr(self, "first", next(one.RequestId for one in pending if one.queue is entry.queue))
        return described | {"dwRequestID": self.first}
