"""Faults of round five that break rules of MS-MQQP 3.1.4.8 RemoteQMGetQMQMServerPort."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.enums import PortType
from reference_qm.core.remote.remote_opening import RemoteOpening
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now

DEFAULT_HANDSHAKE_PORT = 2103


@fault("server-get-qmqm-server-port-default-handshake-port", breaks="MQQP-3.1.4.8-D01", blind=True)
class ServerGetQmqmServerPortDefaultHandshakePort(RemoteOpening):
    """The server answers RemoteQMGetQMQMServerPort with IP_HANDSHAKE with the default port 2103, even if qmcomm has
    another port.
    """

    def remote_qm_get_qmqm_server_port(self, call: Call, now: Now) -> None:
        if call.arguments["dwPortType"] == PortType.IP_HANDSHAKE:
            self.qm.remote.carry_out_outputs(call.respond(Return=DEFAULT_HANDSHAKE_PORT))
        else:
            super().remote_qm_get_qmqm_server_port(call, now)
