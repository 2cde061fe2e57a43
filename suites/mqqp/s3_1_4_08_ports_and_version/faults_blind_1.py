"""Violations of MS-MQQP 3.1.4.8 of round one, written without its checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.remote_opening import RemoteOpening
from reference_qm.rpc import Call, FaultStatus
from reference_qm.surface.clock import Now


@fault("server-port-type-truncated-to-16-bits", breaks="MQQP-3.1.4.8-03", blind=True)
class ShortPortType(RemoteOpening):
    """The server evaluates only the lower 16 bits of dwPortType, and so returns a port for the value 0x00010000."""

    def get_server_port(self, port_type: int) -> int:
        return super().get_server_port(port_type & 0xFFFF)


@fault("server-port-type-with-high-bit-answered-by-fault", breaks="MQQP-3.1.4.8-D07", blind=True)
class NegativePortType(RemoteOpening):
    """The server answers RemoteQMGetQMQMServerPort with an RPC fault if the highest bit of dwPortType is set."""

    def remote_qm_get_qmqm_server_port(self, call: Call, now: Now) -> None:
        if call.arguments["dwPortType"] & 0x80000000:
            self.qm.remote.note(call.fault(FaultStatus.NCA_S_FAULT_UNSPEC))
        else:
            super().remote_qm_get_qmqm_server_port(call, now)
