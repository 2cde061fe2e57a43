"""Faults of round five that break rules of MS-MQQP 3.1.4.8 RemoteQMGetQMQMServerPort."""

from __future__ import annotations

from harness.faults.parts import replace_part
from harness.faults.primitives import combine_installers
from harness.faults.registry import add
from harness.faults.rpc_calls import serve_interfaces_at_separate_ports
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.remote.remote_queue_opening import RemoteQueueOpening
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now


class _FirstAnswerRepeater(RemoteQueueOpening):
    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self.port_by_association: dict[object, int] = {}

    def remote_qm_get_qmqm_server_port(self, call: Call, now: Now) -> None:
        asked = self.get_server_port(call.arguments["dwPortType"])
        port = self.port_by_association.setdefault(call.association, asked) if asked else asked
        self.qm.remote.carry_out_outputs(call.respond(Return=port))


add(
    "server-get-port-first-answer-of-connection-repeated",
    ("MQQP-3.1.4.8-D01", "MQQP-3.1.4.8-D02"),
    "The server, whose interfaces have separate ports, answers every RemoteQMGetQMQMServerPort on a connection with "
    "the port that it returned first on this connection.",
    combine_installers(serve_interfaces_at_separate_ports, replace_part(_FirstAnswerRepeater)),
)
