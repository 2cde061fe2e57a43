"""Define the look-up of endpoints: the operation ept_map, and its towers. Spec: C706 L, O; MS-RPCE 2.2.1.2."""

from __future__ import annotations

from ipaddress import IPv4Address
from typing import Any

from scapy.layers.msrpce.ept import prot_and_addr_t, protocol_tower_t
from scapy.layers.msrpce.raw.ept import ept_map_Request, ept_map_Response, twr_p_t

from harness.wire.rpc import EPT, NDR, Syntax
from harness.wire.rpc_stub import Operation, build_pointer
from harness.wire.wire_error import DISSECTION_ERRORS, WireError

EPT_OPERATIONS: dict[str, Operation] = {
    "ept_map": Operation(EPT, 3, "ept_map", "MS-RPCE 2.2.1.2.5", ept_map_Request, ept_map_Response)
}

_ZERO_ADDRESS = str(IPv4Address(0))
_UUID_FLOOR_ID, _CONNECTION_ORIENTED_FLOOR_ID, _TCP_FLOOR_ID, _IP_FLOOR_ID = 0x0D, 0x0B, 0x07, 0x09
_LENGTHS_OF_FLOORS = {
    _UUID_FLOOR_ID: (19, 2),
    _CONNECTION_ORIENTED_FLOOR_ID: (1, 2),
    _TCP_FLOOR_ID: (1, 2),
    _IP_FLOOR_ID: (1, 4),
}
"""For each protocol identifier, the lengths of both sides of a floor in bytes. scapy does not check these lengths.
"""


def _build_floors(interface: Syntax, transfer: Syntax) -> list[Any]:
    """Return the bytes of the floors of a tower, in order. The bytes include the lengths, which scapy does not
    compute.
    """
    named = [
        {
            "lhs_length": 19,
            "protocol_identifier": _UUID_FLOOR_ID,
            "uuid": one.uuid,
            "version": one.major_version,
            "rhs": one.minor_version,
        }
        for one in (interface, transfer)
    ]
    plain = [
        {"lhs_length": 1, "protocol_identifier": one, "rhs": 0}
        for one in (_CONNECTION_ORIENTED_FLOOR_ID, _TCP_FLOOR_ID)
    ]
    floors = [prot_and_addr_t(rhs_length=2, **fields) for fields in (*named, *plain)]
    return [*floors, prot_and_addr_t(lhs_length=1, protocol_identifier=_IP_FLOOR_ID, rhs_length=4, rhs=_ZERO_ADDRESS)]


def build_map_arguments(interface: Syntax, transfer: Syntax = NDR, max_towers: int = 4) -> dict[str, Any]:
    """Return the arguments of an ept_map that requests the TCP port of an interface."""
    tower = bytes(protocol_tower_t(floors=_build_floors(interface, transfer)))
    return {"obj": None, "map_tower": build_pointer(twr_p_t(tower_octet_string=tower)), "max_towers": max_towers}


def read_ports(response: Any) -> list[int]:
    """Return the TCP ports of the towers in the answer to an ept_map. Raise WireError if a tower is malformed."""
    found = []
    for each in response.valueof("ITowers") or []:
        try:
            tower = protocol_tower_t(each.tower_octet_string)
            ports = [floor.rhs for floor in tower.floors if floor.protocol_identifier == _TCP_FLOOR_ID]
        except DISSECTION_ERRORS as error:
            raise WireError(f"ept_map: a tower cannot be dissected: {type(error).__name__}") from error
        _check_floor_lengths(tower)
        found += ports
    return found


def _check_floor_lengths(tower: Any) -> None:
    for floor in tower.floors:
        lengths = (floor.lhs_length, floor.rhs_length)
        if _LENGTHS_OF_FLOORS.get(floor.protocol_identifier, lengths) != lengths:
            raise WireError(
                f"ept_map: a floor of a tower with protocol identifier {floor.protocol_identifier:#04x} "
                f"has sides of {lengths[0]} and {lengths[1]} bytes"
            )
