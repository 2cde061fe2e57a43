"""Read the fields of packets and stubs with the scapy layers, and find the reason why the reference's strict codec
refuses a packet.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from harness.vectors.rpc_rows import OPERATIONS_WITH_VECTORS
from harness.vectors.vector import CodecRefusal, ReadField
from harness.wire import TreeLine, dissect, dissect_ping, list_dissection_lines
from harness.wire.rpc_qmcomm import DIRECT, SUBQUEUE
from harness.wire.rpc_stub import octets
from reference_qm.codec import FormatError, PingPacket, parse_packet

PING_LAYER = "ping"
_STRING_KINDS = (DIRECT, SUBQUEUE)
"""The types of QUEUE_FORMAT whose union member is a string."""


def read_packet_fields(kind: str, data: bytes) -> list[ReadField]:
    """Return the fields of a packet; raise WireError for malformed bytes. Structures and lists have no value in the
    result; only the fields in them do.
    """
    packet = dissect_ping(data) if kind == PING_LAYER else dissect(data)
    found: list[ReadField] = []
    counts: dict[str, int] = {}
    for line in list_dissection_lines(packet):
        value = _format_field_value(line)
        name = ".".join(line.path)
        if value is None:
            continue
        if "-" in line.path:
            counts[name] = counts.get(name, -1) + 1
            name = name.replace("-", str(counts[name]), 1)
        found.append(ReadField(name, value, line.start, line.end - line.start))
    return found


def _format_field_value(line: TreeLine) -> Any:
    value = line.value
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, UUID):
        return str(value)
    return value if isinstance(value, int | str) else None


def find_refusal_reason(kind: str, data: bytes) -> CodecRefusal | None:
    """Return the reason why the reference's strict codec refuses a packet, or None if it accepts the packet."""
    try:
        PingPacket.parse(data) if kind == PING_LAYER else parse_packet(data)
    except FormatError as error:
        return CodecRefusal(error.field, error.offset, error.section, error.message)
    return None


def read_stub(operation: str, name: str, data: bytes) -> list[ReadField]:
    """Return the parameters of a stub by dotted name, without offsets; raise WireError for malformed bytes."""
    known = OPERATIONS_WITH_VECTORS[operation]
    wide = "ndr64" in name
    packet = known.read_request(data, wide) if name.startswith("request") else known.read_response(data, wide)
    return list(_list_parameters(packet, ""))


def _list_parameters(packet: Any, prefix: str) -> Iterator[ReadField]:
    for field in packet.fields_desc:
        value, name = packet.getfieldval(field.name), f"{prefix}{field.name}"
        while hasattr(value, "referent_id"):
            value = value.value
        if hasattr(value, "fields_desc") and not hasattr(value, "max_count"):
            yield from _list_parameters(value, f"{name}.")
            continue
        if hasattr(value, "max_count"):
            value = octets(value)
        if isinstance(value, bytes):
            value = value.decode() if getattr(packet, "tag", None) in _STRING_KINDS else value.hex()
        yield ReadField(name, str(value) if isinstance(value, UUID) else value)
