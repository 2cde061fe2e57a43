"""Faults that break rules of MS-MQQP 3.1.4.8 RemoteQMGetQMQMServerPort."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.enums import PortType
from reference_qm.core.remote.remote_opening import RemoteOpening
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now


@fault("server-ip-handshake-at-read-port-returns-0", breaks="MQQP-3.1.4.8-D05", blind=True)
class ServerIpHandshakeAtReadPortReturns0(RemoteOpening):
    """RemoteQMGetQMQMServerPort returns 0 for IP_HANDSHAKE if the client calls it at the port of qm2qm."""

    def remote_qm_get_qmqm_server_port(self, call: Call, now: Now) -> None:
        listening = self.qm.rpc_listening
        at_read_port = listening is not None and call.association.sec_addr == str(listening.read.port)
        if at_read_port and call.arguments["dwPortType"] == PortType.IP_HANDSHAKE:
            self.qm.remote.note(call.respond(Return=0))
        else:
            super().remote_qm_get_qmqm_server_port(call, now)
