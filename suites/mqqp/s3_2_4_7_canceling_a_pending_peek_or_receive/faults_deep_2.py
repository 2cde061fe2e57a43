"""Faults of MS-MQQP 3.2.4.7 Canceling a Pending Peek or Receive with several reads, queues and kinds of reads."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.remote.client_cancelling import ClientCancelling
from reference_qm.core.remote.client_model import PendingRemoteReadEntry, RemoteQueue, RemoteRead
from reference_qm.core.remote.client_reading import ClientReading
from reference_qm.core.remote.client_steps import Sequence


@fault("client-cancel-finds-newest-read-of-queue", breaks=("MQQP-3.2.4.7-02", "MQQP-3.2.4.7-06"))
class ClientCancelFindsNewestReadOfQueue(ClientCancelling):
    """The client cancels the newest pending read of the queue when its application cancels any read of the queue."""

    def find_pending_read(self, queue: RemoteQueue, request_id: int) -> PendingRemoteReadEntry:
        pending = self.qm.remote_client.PendingRemoteReadEntryCollection
        return [one for one in pending if one.queue is queue][-1]


@fault("client-cancel-finds-oldest-read-of-several-queues", breaks="MQQP-3.2.4.7-02")
class ClientCancelFindsOldestReadOfSeveralQueues(ClientCancelling):
    """The client cancels the oldest pending read of the client, if reads of several queues are pending."""

    def find_pending_read(self, queue: RemoteQueue, request_id: int) -> PendingRemoteReadEntry:
        pending = self.qm.remote_client.PendingRemoteReadEntryCollection
        several = len({one.OpenQueueDescriptorHandle for one in pending}) > 1
        return pending[0] if several else super().find_pending_read(queue, request_id)


class _Omitting(ClientCancelling):
    """Do not call RemoteQMCancelReceive for some reads."""

    def is_omitted(self, entry: PendingRemoteReadEntry) -> bool:
        raise NotImplementedError

    def call_cancel_receive(self, entry: PendingRemoteReadEntry) -> Sequence:
        if not self.is_omitted(entry):
            yield from super().call_cancel_receive(entry)


@fault("client-second-cancel-of-queue-not-called", breaks="MQQP-3.2.4.7-03")
class ClientSecondCancelOfQueueNotCalled(_Omitting):
    """The client does not call RemoteQMCancelReceive for the second read of a queue that it cancels."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.seen: set[int] = set()

    def is_omitted(self, entry: PendingRemoteReadEntry) -> bool:
        again = entry.queue.number in self.seen
        self.seen.add(entry.queue.number)
        return again


@fault("client-cancel-not-called-while-other-reads-wait", breaks="MQQP-3.2.4.7-03")
class ClientCancelNotCalledWhileOtherReadsWait(_Omitting):
    """The client does not call RemoteQMCancelReceive while more than one read of the queue waits."""

    def is_omitted(self, entry: PendingRemoteReadEntry) -> bool:
        pending = self.qm.remote_client.PendingRemoteReadEntryCollection
        return sum(one.queue is entry.queue for one in pending) > 1


@fault("client-cancel-of-start-receive-not-called", breaks="MQQP-3.2.4.7-03")
class ClientCancelOfStartReceiveNotCalled(ClientReading):
    """The client does not call RemoteQMCancelReceive for a RemoteQMStartReceive."""

    def start_receive(self, read: RemoteRead) -> Sequence:
        assert read.entry is not None
        read.entry.is_known = False
        return (yield from super().start_receive(read))


class _Changing(ClientCancelling):
    """Change the parameters of RemoteQMCancelReceive."""

    def change(self, entry: PendingRemoteReadEntry) -> dict[str, Any]:
        raise NotImplementedError

    def build_cancel_receive(self, entry: PendingRemoteReadEntry) -> dict[str, Any]:
        return super().build_cancel_receive(entry) | self.change(entry)


@fault("client-cancel-hqueue-of-newest-queue", breaks="MQQP-3.2.4.7-04")
class ClientCancelHqueueOfNewestQueue(_Changing):
    """The client sets hQueue of RemoteQMCancelReceive to the phQueue of the queue that it opened last."""

    def change(self, entry: PendingRemoteReadEntry) -> dict[str, Any]:
        return {"hQueue": list(self.qm.remote_client.queues.values())[-1].QueueHandle}


@fault("client-second-cancel-hqueue-is-dwpqueue", breaks="MQQP-3.2.4.7-04")
class ClientSecondCancelHqueueIsDwpqueue(_Changing):
    """The client sets hQueue of every second RemoteQMCancelReceive to dwpQueue."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.count = 0

    def change(self, entry: PendingRemoteReadEntry) -> dict[str, Any]:
        self.count += 1
        return {} if self.count % 2 else {"hQueue": entry.queue.QueueDescriptor}


@fault("client-second-cancel-pqueue-is-phqueue", breaks="MQQP-3.2.4.7-05")
class ClientSecondCancelPqueueIsPhqueue(_Changing):
    """The client sets pQueue of every second RemoteQMCancelReceive to phQueue."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.count = 0

    def change(self, entry: PendingRemoteReadEntry) -> dict[str, Any]:
        self.count += 1
        return {} if self.count % 2 else {"pQueue": entry.queue.QueueHandle}


@fault("client-cancel-pqueue-of-first-queue", breaks="MQQP-3.2.4.7-05")
class ClientCancelPqueueOfFirstQueue(_Changing):
    """The client sets pQueue of RemoteQMCancelReceive to the dwpQueue of the queue that it opened first."""

    def change(self, entry: PendingRemoteReadEntry) -> dict[str, Any]:
        return {"pQueue": next(iter(self.qm.remote_client.queues.values())).QueueDescriptor}


@fault("client-cancel-request-id-of-newest-read", breaks="MQQP-3.2.4.7-06")
class ClientCancelRequestIdOfNewestRead(_Changing):
    """The client sets dwRequestID of RemoteQMCancelReceive to the RequestId of its newest pending read."""

    def change(self, entry: PendingRemoteReadEntry) -> dict[str, Any]:
        return {"dwRequestID": self.qm.remote_client.PendingRemoteReadEntryCollection[-1].RequestId}


@fault("client-cancel-request-id-is-number-of-read-in-queue", breaks="MQQP-3.2.4.7-06")
class ClientCancelRequestIdIsNumberOfReadInQueue(_Changing):
    """The client sets dwRequestID of RemoteQMCancelReceive to the place of the read among all pending reads."""

    def change(self, entry: PendingRemoteReadEntry) -> dict[str, Any]:
        return {"dwRequestID": 1 + self.qm.remote_client.PendingRemoteReadEntryCollection.index(entry)}


@fault("client-entry-of-cancelled-read-kept-until-answer", breaks="MQQP-3.2.4.7-07")
class ClientEntryOfCancelledReadKeptUntilAnswer(ClientCancelling):
    """The client keeps the PendingRemoteReadEntry of a cancelled read while the server has not answered the read."""

    def remove_cancelled_read(self, entry: PendingRemoteReadEntry) -> None:
        pass


@fault("client-cancel-removes-oldest-entry", breaks="MQQP-3.2.4.7-07")
class ClientCancelRemovesOldestEntry(ClientCancelling):
    """The client removes the oldest PendingRemoteReadEntry when it cancels a read."""

    def remove_cancelled_read(self, entry: PendingRemoteReadEntry) -> None:
        pending = self.qm.remote_client.PendingRemoteReadEntryCollection
        if entry in pending:
            del pending[0]


@fault("client-entry-of-second-cancelled-read-kept", breaks="MQQP-3.2.4.7-07")
class ClientEntryOfSecondCancelledReadKept(ClientCancelling):
    """The client keeps the PendingRemoteReadEntry of every second cancelled read."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.count = 0

    def remove_cancelled_read(self, entry: PendingRemoteReadEntry) -> None:
        self.count += 1
        if self.count % 2:
            super().remove_cancelled_read(entry)
