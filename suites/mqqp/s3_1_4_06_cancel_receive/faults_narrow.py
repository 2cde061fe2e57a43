"""Faults of MS-MQQP 3.1.4.6 that affect only one cause, one state of a handle or one kind of read."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.enums import ReadAction
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_ending import CANCELED_STATUS, RemoteEnding
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now


@fault("server-cancel-receive-pqueue-0-accepted", breaks="MQQP-3.1.4.6-07", blind=True)
class ServerCancelReceivePqueue0Accepted(RemoteEnding):
    """RemoteQMCancelReceive accepts pQueue 0."""

    def check_cancel_queue(self, h_queue: int, p_queue: int) -> Status:
        return Status.MQ_OK if p_queue == 0 else super().check_cancel_queue(h_queue, p_queue)


@fault("server-cancel-receive-closed-queue-mq-error", breaks="MQQP-3.1.4.6-09", blind=True)
class ServerCancelReceiveClosedQueueMqError(RemoteEnding):
    """RemoteQMCancelReceive returns MQ_ERROR_INVALID_PARAMETER for an hQueue that is not an open queue."""

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        if self.qm.remote_starting.find_remote_descriptor(h_queue) is None:
            return Status.MQ_ERROR_INVALID_PARAMETER, None
        return super().find_read_to_cancel(h_queue, request_id)


@fault("server-cancel-receive-after-last-read-of-queue-mq-error", breaks="MQQP-3.1.4.6-09", blind=True)
class ServerCancelReceiveAfterLastReadOfQueueMqError(RemoteEnding):
    """RemoteQMCancelReceive returns MQ_ERROR for a queue that has no waiting read because its last waiting read was
    cancelled.
    """

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        status, entry = super().find_read_to_cancel(h_queue, request_id)
        seen = self.__dict__.setdefault("seen", set())
        if entry is not None:
            seen.add(h_queue)
        if status is Status.MQ_ERROR_INVALID_HANDLE and h_queue in seen:
            return Status.MQ_ERROR, None
        return status, entry


@fault("server-cancelled-receive-by-cursor-request-id-in-use", breaks="MQQP-3.1.4.6-19", blind=True)
class ServerCancelledReceiveByCursorRequestIdInUse(RemoteReads):
    """The server keeps the entry of a cancelled peek, so the dwRequestID stays in use."""

    def remove_remote_read_entry(self, entry: RemoteReadEntry) -> None:
        if entry not in self.__dict__.get("kept", ()):
            super().remove_remote_read_entry(entry)

    def complete_remote_read(self, entry, status, position):
        if status is CANCELED_STATUS and entry.Action is not ReadAction.MQ_ACTION_RECEIVE:
            self.__dict__.setdefault("kept", []).append(entry)
        super().complete_remote_read(entry, status, position)


@fault("server-cancel-receive-only-of-own-connection", breaks=("MQQP-3.1.4.6-10", "MQQP-3.1.1.3-01"), blind=True)
class ServerCancelReceiveOnlyOfOwnConnection(RemoteEnding):
    """RemoteQMCancelReceive finds only reads that were called on the same connection."""

    def remote_qm_cancel_receive(self, call: Call, now: Now) -> None:
        self.__dict__["by"] = call.association
        super().remote_qm_cancel_receive(call, now)

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        status, entry = super().find_read_to_cancel(h_queue, request_id)
        if entry is not None and entry.call.association is not self.__dict__["by"]:
            return Status.MQ_ERROR, None
        return status, entry
