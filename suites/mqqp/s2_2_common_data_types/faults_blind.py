"""Faults of MS-MQQP 2.2 Common Data Types, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.remote_ending import RemoteEnding
from reference_qm.core.remote.remote_opening import RemoteOpening
from reference_qm.core.remote.remote_starting import LOOKUP_ACTIONS
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now


@fault("server-handle-of-lookup-read-survives-end-receive", breaks="MQQP-2.2.1.2-01", blind=True)
class ServerHandleOfLookupReadSurvivesEndReceive(RemoteEnding):
    """RemoteQMEndReceive does not end the context handle that RemoteQMStartReceiveByLookupId created."""

    def remote_qm_end_receive(self, call: Call, now: Now) -> None:
        handle = call.handle
        if handle is None or handle.state.Action not in LOOKUP_ACTIONS:
            super().remote_qm_end_receive(call, now)
            return

        def answer_end(status: Status) -> None:
            self.qm.remote.note(call.respond(Return=status, pphContext=handle))

        if handle.state.ended:
            answer_end(Status.MQ_OK)
        else:
            self.end_remote_read(handle.state, self.is_delivered(call.arguments["dwAck"]), answer_end)


@fault("server-purge-through-peek-handle-refused-without-severity-bit", breaks="MQQP-2.2-D01", blind=True)
class ServerPurgeThroughPeekHandleRefusedWithoutSeverityBit(RemoteOpening):
    """When the server refuses a purge through a handle that was opened for peeking, the server returns an HRESULT
    without the S bit.
    """

    def refuse_purge(self, call: Call, status: Status) -> None:
        if status is Status.MQ_ERROR_ACCESS_DENIED:
            self.qm.remote.note(call.respond(Return=status & 0x7FFFFFFF))
        else:
            super().refuse_purge(call, status)
