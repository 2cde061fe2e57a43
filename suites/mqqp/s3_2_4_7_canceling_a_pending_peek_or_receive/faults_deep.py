"""Faults of MS-MQQP 3.2.4.7 Canceling a Pending Peek or Receive that only special cases reveal: several reads and
queues.
"""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from reference_qm.core.remote.client_cancelling import ClientCancelling
from reference_qm.core.remote.client_model import PendingRemoteReadEntry, RemoteQueue
from reference_qm.core.remote.client_steps import Sequence


@fault("client-cancel-finds-first-pending-read-of-queue", breaks=("MQQP-3.2.4.7-02", "MQQP-3.2.4.7-06"))
class ClientCancelFindsFirstPendingReadOfQueue(ClientCancelling):
    """The client cancels the first pending read of the queue, even if its application names another read."""

    def find_pending_read(self, queue: RemoteQueue, request_id: int) -> PendingRemoteReadEntry:
        entries = self.qm.remote_client.PendingRemoteReadEntryCollection
        return next(one for one in entries if one.queue is queue)


@fault("client-cancel-ends-all-pending-reads-of-queue", breaks="MQQP-3.2.4.7-02")
class ClientCancelEndsAllPendingReadsOfQueue(ClientCancelling):
    """When the client cancels a read, it also cancels the other pending reads of the queue."""

    def cancel_pending_read(self, queue: RemoteQueue, request_id: int) -> Sequence:
        yield from super().cancel_pending_read(queue, request_id)
        for one in list(self.qm.remote_client.PendingRemoteReadEntryCollection):
            if one.queue is queue and one.is_known:
                yield from super().cancel_pending_read(queue, one.RequestId)


@fault("client-cancel-not-sent-while-other-read-is-pending", breaks="MQQP-3.2.4.7-03")
class ClientCancelNotSentWhileOtherReadIsPending(ClientCancelling):
    """The client does not call RemoteQMCancelReceive while another read of the queue is pending."""

    def call_cancel_receive(self, entry: PendingRemoteReadEntry) -> Sequence:
        entries = self.qm.remote_client.PendingRemoteReadEntryCollection
        if sum(one.queue is entry.queue for one in entries) == 1:
            yield from super().call_cancel_receive(entry)


@fault("client-cancel-receive-called-twice", breaks="MQQP-3.2.4.7-03")
class ClientCancelReceiveCalledTwice(ClientCancelling):
    """The client calls RemoteQMCancelReceive twice for one cancellation."""

    def call_cancel_receive(self, entry: PendingRemoteReadEntry) -> Sequence:
        yield from super().call_cancel_receive(entry)
        yield from super().call_cancel_receive(entry)


@fault("client-cancel-receive-hqueue-of-last-opened-queue", breaks="MQQP-3.2.4.7-04")
class ClientCancelReceiveHqueueOfLastOpenedQueue(ClientCancelling):
    """The client sets hQueue of RemoteQMCancelReceive to the handle of the queue that it opened last."""

    def build_cancel_receive(self, entry: PendingRemoteReadEntry) -> dict[str, Any]:
        last = list(self.qm.remote_client.queues.values())[-1]
        return {**super().build_cancel_receive(entry), "hQueue": last.QueueHandle}


@fault("client-cancel-receive-hqueue-in-16-bits", breaks="MQQP-3.2.4.7-04")
class ClientCancelReceiveHqueueIn16Bits(ClientCancelling):
    """The client sets hQueue of RemoteQMCancelReceive to the low 16 bits of phQueue."""

    def build_cancel_receive(self, entry: PendingRemoteReadEntry) -> dict[str, Any]:
        given = super().build_cancel_receive(entry)
        return {**given, "hQueue": given["hQueue"] & 0xFFFF}


@fault("client-cancel-receive-pqueue-in-31-bits", breaks="MQQP-3.2.4.7-05")
class ClientCancelReceivePqueueIn31Bits(ClientCancelling):
    """The client sets pQueue of RemoteQMCancelReceive to the low 31 bits of dwpQueue."""

    def build_cancel_receive(self, entry: PendingRemoteReadEntry) -> dict[str, Any]:
        given = super().build_cancel_receive(entry)
        return {**given, "pQueue": given["pQueue"] & 0x7FFFFFFF}


@fault("client-cancel-receive-dwrequestid-of-last-read", breaks="MQQP-3.2.4.7-06")
class ClientCancelReceiveDwrequestidOfLastRead(ClientCancelling):
    """The client sets dwRequestID of RemoteQMCancelReceive to the RequestId that it assigned last."""

    def build_cancel_receive(self, entry: PendingRemoteReadEntry) -> dict[str, Any]:
        return {**super().build_cancel_receive(entry), "dwRequestID": self.qm.remote_client.last_request_id}


@fault("client-entry-of-cancelled-read-kept-while-others-wait", breaks="MQQP-3.2.4.7-07")
class ClientEntryOfCancelledReadKeptWhileOthersWait(ClientCancelling):
    """The client keeps the entry of a cancelled read while another read of the queue is pending."""

    def remove_cancelled_read(self, entry: PendingRemoteReadEntry) -> None:
        entries = self.qm.remote_client.PendingRemoteReadEntryCollection
        if sum(one.queue is entry.queue for one in entries) == 1:
            super().remove_cancelled_read(entry)


@fault("client-cancel-removes-entries-of-all-reads-of-queue", breaks="MQQP-3.2.4.7-07")
class ClientCancelRemovesEntriesOfAllReadsOfQueue(ClientCancelling):
    """When the client cancels one of several pending reads of a queue, it removes the entries of all of them."""

    def remove_cancelled_read(self, entry: PendingRemoteReadEntry) -> None:
        for one in list(self.qm.remote_client.PendingRemoteReadEntryCollection):
            if one.queue is entry.queue:
                super().remove_cancelled_read(one)
