"""Faults of MS-MQQB 2.2.2 ConnectionParameters Packet, 2.2.2.1 ConnectionParametersHeader."""

from __future__ import annotations

from harness.faults.fields import bit_clear, field_is, refused_unless_zero, sent_as
from harness.faults.primitives import wrong_bytes
from harness.faults.registry import add
from harness.faults.sent_messages import correct_packet_size
from reference_qm.codec import ConnectionParametersPacket

add(
    "header-parameters-in-clear",
    "MQQB-2.2.2-01",
    "A ConnectionParameters has IN clear.",
    bit_clear(ConnectionParametersPacket, "BaseHeader.IN"),
)
add(
    "header-parameters-packet-type",
    "MQQB-2.2.2-02",
    "A ConnectionParameters has PT 2.",
    field_is(ConnectionParametersPacket, "InternalHeader.PT", 2),
)
add(
    "header-parameters-reserved-sent",
    "MQQB-2.2.2.1-01",
    "ConnectionParametersHeader.Reserved is sent as 0xBEEF.",
    field_is(ConnectionParametersPacket, "ConnectionParametersHeader.Reserved", 0xBEEF),
)
add(
    "header-parameters-reserved-refused",
    "MQQB-2.2.2.1-01",
    "A packet whose ConnectionParametersHeader.Reserved is not zero is refused.",
    refused_unless_zero(ConnectionParametersPacket, "ConnectionParametersHeader.Reserved"),
)
add(
    "header-parameters-longer",
    "MQQB-2.2.2-D01",
    "A ConnectionParameters has 8 bytes more behind its header.",
    wrong_bytes(ConnectionParametersPacket, lambda data: correct_packet_size(data + bytes(8))),
)
add(
    "header-parameters-shorter",
    "MQQB-2.2.2.1-D01",
    "A ConnectionParametersHeader ends before WindowSize.",
    wrong_bytes(ConnectionParametersPacket, lambda data: correct_packet_size(data[:-2])),
)
for _name, _rule, _field, _value in (
    ("parameters-recoverable-timeout-too-short", "MQQB-2.2.2.1-D02", "RecoverableAckTimeout", 499),
    ("parameters-recoverable-timeout-too-long", "MQQB-2.2.2.1-D02", "RecoverableAckTimeout", 120_001),
    ("parameters-timeout-too-short", "MQQB-2.2.2.1-D03", "AckTimeout", 19_999),
    ("parameters-timeout-too-long", "MQQB-2.2.2.1-D03", "AckTimeout", 120_001),
):
    add(
        _name,
        _rule,
        f"An initiator asks for an {_field} of {_value}.",
        sent_as("initiator", field_is(ConnectionParametersPacket, f"ConnectionParametersHeader.{_field}", _value)),
    )
