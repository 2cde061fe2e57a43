"""Faults of MS-MQQP 3.1.4.3 that affect only one cause, one state of a handle or one kind of read."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.remote_opening import RemoteOpening
from reference_qm.core.remote.remote_starting import Desc, RemoteStarting
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call, FaultStatus
from reference_qm.surface.clock import Now


@fault("server-open-queue-read-only-over-own-connection", breaks=("MQQP-3.1.4.3-19", "MQQP-3.1.1.5-01"), blind=True)
class ServerOpenQueueReadOnlyOverOwnConnection(RemoteStarting):
    """The server removes the entry of an open queue when a read of the queue times out."""

    def check_open_queue(self, desc: Desc) -> Status:
        status = super().check_open_queue(desc)
        if not status and self.__dict__.setdefault("failed", {}).get(desc["hRemoteQueue"]):
            return Status.MQ_ERROR_INVALID_PARAMETER
        return status

    def create_remote_read_entry(self, call: Call, desc: Desc):
        entry = super().create_remote_read_entry(call, desc)
        descriptor = self.find_remote_descriptor(desc["hRemoteQueue"])
        queue = None if descriptor is None else descriptor.QueueReference
        if desc["ulTimeout"] == 0 and queue is not None and not list(queue.MessagePositionList):
            self.__dict__["failed"][desc["hRemoteQueue"]] = True
        return entry


@fault("server-open-queue-entry-removed-by-cancel", breaks=("MQQP-3.1.4.3-19", "MQQP-3.1.1.5-01"), blind=True)
class ServerOpenQueueEntryRemovedByCancel(RemoteOpening):
    """The server removes the entry of an open queue when a cursor of the handle is closed."""

    def remote_qm_close_cursor(self, call: Call, now: Now) -> None:
        super().remote_qm_close_cursor(call, now)
        for entry in self.qm.remote.OpenQueueEntryCollection.of(call.arguments["hQueue"]):
            self.qm.remote.OpenQueueEntryCollection.remove(entry)


@fault("server-open-queue-ignores-hqueue-only-if-nonzero", breaks="MQQP-3.1.4.3-11", blind=True)
class ServerOpenQueueIgnoresHqueueOnlyIfNonzero(RemoteOpening):
    """RemoteQMOpenQueue refuses an hQueue that is the handle of an open queue other than dwpContext."""

    def remote_qm_open_queue(self, call: Call, now: Now) -> None:
        given = call.arguments
        if given["hQueue"] != given["dwpContext"] and self.qm.remote_starting.find_remote_descriptor(given["hQueue"]):
            self.qm.remote.note(call.respond(Return=Status.MQ_ERROR_INVALID_PARAMETER, phContext=None))
        else:
            super().remote_qm_open_queue(call, now)


@fault("server-open-queue-zero-context-thrown", breaks="MQQP-3.1.4.3-D02", blind=True)
class ServerOpenQueueZeroContextThrown(RemoteOpening):
    """The server raises an RPC exception when pQueue and dwpContext are 0."""

    def remote_qm_open_queue(self, call: Call, now: Now) -> None:
        if not call.arguments["dwpContext"]:
            self.qm.remote.note(call.fault(FaultStatus.NCA_S_FAULT_CONTEXT_MISMATCH))
        else:
            super().remote_qm_open_queue(call, now)
