"""Faults of MS-MQQP 3.1.4.8 and 3.1.4.9 that only special cases reveal."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.rpc_calls import change_answer_values
from reference_qm.core.remote.remote_opening import RemoteOpening
from reference_qm.model.enums import RemoteReadState
from reference_qm.rpc import Call, FaultStatus
from reference_qm.surface.clock import Now


@fault("server-port-0-after-third-call", breaks=("MQQP-3.1.4.8-D05", "MQQP-3.1.4.8-D06"))
class ServerPort0AfterThirdCall(RemoteOpening):
    """After three calls, RemoteQMGetQMQMServerPort returns 0."""

    calls = 0

    def remote_qm_get_qmqm_server_port(self, call: Call, now: Now) -> None:
        self.calls += 1
        if self.calls > 3:
            call = change_answer_values(call, Return=0)
        super().remote_qm_get_qmqm_server_port(call, now)


@fault("server-port-while-queue-is-open-0", breaks="MQQP-3.1.4.8-D06")
class ServerPortWhileQueueIsOpen0(RemoteOpening):
    """While a queue is open for remote reading, RemoteQMGetQMQMServerPort returns 0."""

    def get_server_port(self, port_type: int) -> int:
        return 0 if len(self.qm.remote.OpenQueueEntryCollection) else super().get_server_port(port_type)


@fault("server-version-differs-while-queue-is-open", breaks="MQQP-3.1.4.9-D02")
class ServerVersionDiffersWhileQueueIsOpen(RemoteOpening):
    """While a queue is open for remote reading, RemoteQmGetVersion returns a different build number."""

    def get_remote_version(self) -> tuple[int, int, int]:
        major, minor, build = super().get_remote_version()
        return major, minor, build + bool(len(self.qm.remote.OpenQueueEntryCollection))


@fault("server-version-call-between-both-opens-thrown", breaks=("MQQP-3.1.4.9-D02", "MQQP-3.1.4.9-D03"))
class ServerVersionCallBetweenBothOpensThrown(RemoteOpening):
    """After R_QMOpenRemoteQueue and before RemoteQMOpenQueue, RemoteQmGetVersion raises an RPC exception."""

    def remote_qm_get_version(self, call: Call, now: Now) -> None:
        if any(one.RemoteReadState is RemoteReadState.OPENED for one in self.qm.descriptors.values()):
            self.qm.remote.note(call.fault(FaultStatus.NCA_S_FAULT_UNSPEC))
        else:
            super().remote_qm_get_version(call, now)
