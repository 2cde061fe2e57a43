"""Faults of MS-MQQP 2.2 and 1.8 that only special cases reveal."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.rpc_calls import change_answer_values
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_ending import RemoteEnding
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now

WITHOUT_SEVERITY = 0x7FFFFFFF


@fault("server-timeout-status-without-severity-bit", breaks="MQQP-2.2-D01")
class ServerTimeoutStatusWithoutSeverityBit(RemoteReads):
    """The server clears the S bit of the status of a read whose timeout expired after a wait."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        if status is Status.MQ_ERROR_IO_TIMEOUT and entry is not None and entry.Timeout:
            call = change_answer_values(call, Return=status & WITHOUT_SEVERITY)
        super().answer_read(call, status, entry)


@fault("server-already-received-status-without-severity-bit", breaks="MQQP-2.2-D01")
class ServerAlreadyReceivedStatusWithoutSeverityBit(RemoteReads):
    """The server clears the S bit of the status of a read by a cursor whose message was already received."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        if status is Status.MQ_ERROR_MESSAGE_ALREADY_RECEIVED:
            call = change_answer_values(call, Return=status & WITHOUT_SEVERITY)
        super().answer_read(call, status, entry)


@fault("server-unknown-request-id-status-without-severity-bit", breaks="MQQP-2.2-D01")
class ServerUnknownRequestIdStatusWithoutSeverityBit(RemoteEnding):
    """When RemoteQMCancelReceive names an unknown dwRequestID, the server returns a status without the S bit."""

    def remote_qm_cancel_receive(self, call: Call, now: Now) -> None:
        given = call.arguments
        status, _ = self.find_read_to_cancel(given["hQueue"], given["dwRequestID"])
        if status is Status.MQ_ERROR and given["pQueue"] == given["hQueue"]:
            call = change_answer_values(call, Return=status & WITHOUT_SEVERITY)
        super().remote_qm_cancel_receive(call, now)


@fault("server-own-status-of-closed-queue-without-c-bit", breaks="MQQP-1.8-D01")
class ServerOwnStatusOfClosedQueueWithoutCBit(RemoteEnding):
    """When the queue of a receive was closed, the server returns an HRESULT of its own without the C bit from
    RemoteQMEndReceive.
    """

    def remote_qm_end_receive(self, call: Call, now: Now) -> None:
        if call.handle is not None:
            handle = call.handle.state.OpenQueueDescriptorHandle
            if self.qm.remote_starting.find_remote_descriptor(handle) is None:
                call = change_answer_values(call, Return=0xC00EF00D)
        super().remote_qm_end_receive(call, now)


@fault("server-remote-read-handle-survives-rr-nack", breaks="MQQP-2.2.1.2-01")
class ServerRemoteReadHandleSurvivesRrNack(RemoteEnding):
    """When a receive ends with RR_NACK, the server does not end the context handle of the receive."""

    def remote_qm_end_receive(self, call: Call, now: Now) -> None:
        if call.handle is not None and call.arguments["dwAck"] == 1:
            call = change_answer_values(call, pphContext=call.handle)
        super().remote_qm_end_receive(call, now)
