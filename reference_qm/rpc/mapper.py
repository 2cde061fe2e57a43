"""Implements the endpoint mapper for the interfaces of this queue manager. Spec: C706 O; MS-RPCE 2.2.1.2.5."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address

from reference_qm.rpc.calls import Call
from reference_qm.rpc.contexts import TRANSFER_SYNTAXES
from reference_qm.rpc.events import CallReceived, RpcEvent, RpcOutput
from reference_qm.rpc.interfaces.method import Interface
from reference_qm.rpc.rpc_errors import StubError
from reference_qm.rpc.towers import ProtocolTower

EPT_S_NOT_REGISTERED = 0x16C9A0D6


@dataclass(frozen=True, slots=True)
class MappedEndpoint:
    """An interface and the TCP port on which it is available."""

    interface: Interface
    address: IPv4Address
    port: int


class EndpointMapper:
    """The dispatcher of the interface ept: it answers ept_map from a list of endpoints."""

    def __init__(self, endpoints: Sequence[MappedEndpoint]) -> None:
        self.endpoints = endpoints

    def __call__(self, event: RpcEvent) -> list[RpcOutput]:
        """Handle an event of the RPC runtime. Every call is answered immediately. Therefore no call can be cancelled or
        abandoned, and no context handle stays open.
        """
        if not isinstance(event, CallReceived):
            return []
        return _ANSWER_BY_METHOD[event.call.method.name](self, event.call)

    def _answer_ept_map(self, call: Call) -> list[RpcOutput]:
        found = self.find_towers(call.arguments["map_tower"])[: call.arguments["max_towers"]]
        towers = [{"tower_length": len(octets), "tower_octet_string": octets} for octets in found]
        status = 0 if towers else EPT_S_NOT_REGISTERED
        return call.respond(num_towers=len(towers), ITowers=towers, status=status, entry_handle=None)

    def _answer_handle_free(self, call: Call) -> list[RpcOutput]:
        return call.respond(entry_handle=None, status=0)

    def find_towers(self, map_tower: dict[str, bytes] | None) -> list[bytes]:
        """Return the towers that match a requested tower. A tower matches if it has the requested interface in a
        supported transfer syntax.
        """
        if map_tower is None:
            return []
        try:
            asked = ProtocolTower.parse(map_tower["tower_octet_string"])
        except StubError:
            return []
        if asked is None or asked.transfer_syntax not in TRANSFER_SYNTAXES:
            return []
        return [
            ProtocolTower(one.interface.syntax, asked.transfer_syntax, one.port, one.address).build()
            for one in self.endpoints
            if one.interface.syntax.serves_client_syntax(asked.interface)
        ]


_ANSWER_BY_METHOD = {
    "ept_map": EndpointMapper._answer_ept_map,
    "ept_lookup_handle_free": EndpointMapper._answer_handle_free,
}
