"""Faults of MS-MQSO 5.3.1 Member Protocol Roles: one method, one queue or one kind of access."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.queue_opening import OpenQueueResult
from reference_qm.core.remote.enums import DesiredAccess
from reference_qm.core.remote.qmcomm_methods import QmcommMethods
from reference_qm.core.remote.remote_queue_opening import RemoteQueueOpening
from reference_qm.model.enums import QueueAccessType, RemoteReadState
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now


@fault("server-queue-opened-to-peek-not-readable", breaks="MQSO-5.3.1-01", blind=True)
class ServerQueueOpenedToPeekNotReadable(RemoteQueueOpening):
    """RemoteQMOpenQueue refuses a queue that R_QMOpenRemoteQueue opened to peek."""

    def remote_qm_open_queue(self, call: Call, now: Now) -> None:
        descriptor = self.qm.descriptors.get(call.arguments["hQueue"])
        if descriptor is not None and descriptor.AccessType is QueueAccessType.PEEK:
            self.qm.remote.carry_out_outputs(call.respond(Return=Status.MQ_ERROR_INVALID_HANDLE, phContext=None))
        else:
            super().remote_qm_open_queue(call, now)


@fault("server-second-opened-queue-not-readable", breaks="MQSO-5.3.1-01", blind=True)
class ServerSecondOpenedQueueNotReadable(RemoteQueueOpening):
    """RemoteQMOpenQueue refuses a queue while another queue is open for remote reading."""

    def remote_qm_open_queue(self, call: Call, now: Now) -> None:
        if any(one.RemoteReadState is RemoteReadState.READY_FOR_READ for one in self.qm.descriptors.values()):
            self.qm.remote.carry_out_outputs(call.respond(Return=Status.MQ_ERROR_INVALID_HANDLE, phContext=None))
        else:
            super().remote_qm_open_queue(call, now)


@fault("server-implements-no-remote-cursors", breaks=("MQSO-5.3.1-01", "MQSO-5.3.1-02"), blind=True)
class ServerImplementsNoRemoteCursors(QmcommMethods):
    """R_QMCreateRemoteCursor fails for every queue, so that a queue cannot be read with a cursor."""

    def r_qm_create_remote_cursor(self, call: Call, now: Now) -> None:
        self.qm.remote.carry_out_outputs(call.respond(Return=Status.MQ_ERROR_UNSUPPORTED_OPERATION, phCursor=0))


@fault("server-implements-no-remote-purge", breaks="MQSO-5.3.1-02", blind=True)
class ServerImplementsNoRemotePurge(RemoteQueueOpening):
    """RemoteQMPurgeQueue fails for every queue."""

    def remote_qm_purge_queue(self, call: Call, now: Now) -> None:
        self.refuse_purge(call, Status.MQ_ERROR_UNSUPPORTED_OPERATION)


@fault("server-opens-queues-only-to-peek", breaks="MQSO-5.3.1-02", blind=True)
class ServerOpensQueuesOnlyToPeek(QmcommMethods):
    """R_QMOpenRemoteQueue opens queues to peek, but refuses to open them to receive."""

    def open_remote_queue(self, call: Call, now: Now) -> OpenQueueResult:
        if call.arguments["dwDesiredAccess"] == DesiredAccess.MQ_RECEIVE_ACCESS:
            return Status.MQ_ERROR_ACCESS_DENIED, None
        return super().open_remote_queue(call, now)
