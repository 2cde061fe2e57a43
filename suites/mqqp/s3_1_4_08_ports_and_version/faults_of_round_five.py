"""Faults of round five that break rules of MS-MQQP 3.1.4.8 RemoteQMGetQMQMServerPort."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.remote.remote_opening import RemoteOpening
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now


@fault("server-get-qmqm-server-port-first-answer-of-connection-repeated", breaks="MQQP-3.1.4.8-D01", blind=True)
class ServerGetQmqmServerPortFirstAnswerOfConnectionRepeated(RemoteOpening):
    """The server answers every RemoteQMGetQMQMServerPort on a connection with the port of its first answer there, also
    with the port of qm2qm for IP_HANDSHAKE.
    """

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self.port_by_association: dict[object, int] = {}

    def remote_qm_get_qmqm_server_port(self, call: Call, now: Now) -> None:
        asked = self.get_server_port(call.arguments["dwPortType"])
        port = self.port_by_association.setdefault(call.association, asked) if asked else asked
        self.qm.remote.carry_out_outputs(call.respond(Return=port))
