"""Parses and builds protocol towers, which requests to the endpoint mapper and its answers contain.

Spec: C706 L; MS-RPCE 2.2.1.2.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Address
from typing import Self
from uuid import UUID

from reference_qm.rpc.octets import OctetReader
from reference_qm.rpc.rpc_errors import StubError
from reference_qm.rpc.syntaxes import SyntaxId

SPEC_SECTION = "C706 L"
_UUID_PROTOCOL, _CONNECTION_ORIENTED_PROTOCOL, _TCP_PROTOCOL, _IP_PROTOCOL = 0x0D, 0x0B, 0x07, 0x09
_ZERO_ADDRESS = IPv4Address(0)
_TRANSPORT_FLOOR_PROTOCOLS = (_CONNECTION_ORIENTED_PROTOCOL, _TCP_PROTOCOL, _IP_PROTOCOL)


class TowerReader(OctetReader):
    """Reads protocol towers, which are always little-endian and never aligned."""

    ERROR = StubError

    __slots__ = ()

    def read_counted_bytes(self) -> bytes:
        """Read a u16 count, and then as many bytes as the count states."""
        return self.read_bytes(int.from_bytes(self.read_bytes(2), "little"))


@dataclass(frozen=True, slots=True)
class ProtocolTower:
    """A protocol tower: an interface in a transfer syntax at a TCP port (ncacn_ip_tcp).

    A tower has five floors: interface, transfer syntax, connection-oriented RPC, TCP port (u16 BE), and IPv4
    address.
    """

    interface: SyntaxId
    transfer_syntax: SyntaxId
    port: int = 0
    address: IPv4Address = _ZERO_ADDRESS

    @classmethod
    def parse(cls, octets: bytes) -> Self | None:
        """Read a tower, or return None if the tower is for a different protocol. Raise StubError for a malformed
        tower.
        """
        reader = TowerReader(octets, "<", SPEC_SECTION)
        reader.where = "tower_octet_string"
        floors = [
            (reader.read_counted_bytes(), reader.read_counted_bytes())
            for _ in range(int.from_bytes(reader.read_bytes(2), "little"))
        ]
        reader.require_end("tower_octet_string")
        protocols = tuple(left[0] if left else None for left, _ in floors[2:])
        if (
            len(floors) != 5
            or protocols != _TRANSPORT_FLOOR_PROTOCOLS
            or len(floors[3][1]) != 2
            or len(floors[4][1]) != 4
        ):
            return None
        syntaxes = [_read_floor_syntax(*floor) for floor in floors[:2]]
        if syntaxes[0] is None or syntaxes[1] is None:
            return None
        port = int.from_bytes(floors[3][1], "big")
        return cls(syntaxes[0], syntaxes[1], port, IPv4Address(floors[4][1]))

    def build(self) -> bytes:
        """Return the octets of the tower."""
        floors = [
            *(
                (
                    bytes([_UUID_PROTOCOL]) + one.uuid.bytes_le + one.major.to_bytes(2, "little"),
                    one.minor.to_bytes(2, "little"),
                )
                for one in (self.interface, self.transfer_syntax)
            ),
            (bytes([_CONNECTION_ORIENTED_PROTOCOL]), bytes(2)),
            (bytes([_TCP_PROTOCOL]), self.port.to_bytes(2, "big")),
            (bytes([_IP_PROTOCOL]), self.address.packed),
        ]
        parts = [len(floors).to_bytes(2, "little")]
        for side in (side for floor in floors for side in floor):
            parts += [len(side).to_bytes(2, "little"), side]
        return b"".join(parts)


def _read_floor_syntax(left: bytes, right: bytes) -> SyntaxId | None:
    """Return the abstract or transfer syntax that a floor of the tower identifies by its UUID."""
    if len(left) != 19 or left[0] != _UUID_PROTOCOL or len(right) != 2:
        return None
    major, minor = int.from_bytes(left[17:], "little"), int.from_bytes(right, "little")
    return SyntaxId(UUID(bytes_le=left[1:17]), major | minor << 16)
