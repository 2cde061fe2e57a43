"""Faults of MS-MQQB 2.2.2 ConnectionParameters Packet, 2.2.2.1 ConnectionParametersHeader."""

from __future__ import annotations

from harness.faults.fields import bit_clear, field_is, refused_unless_zero, sent_as
from harness.faults.primitives import wrong_bytes
from harness.faults.registry import add
from harness.faults.sent_messages import correct_packet_size
from reference_qm.codec import ConnectionParametersPacket

add(
    "any-connection-parameters-in-bit-clear",
    "MQQB-2.2.2-01",
    "A queue manager sends a ConnectionParameters packet with IN clear.",
    bit_clear(ConnectionParametersPacket, "BaseHeader.IN"),
)
add(
    "any-connection-parameters-pt-2",
    "MQQB-2.2.2-02",
    "A queue manager sends a ConnectionParameters packet with PT 2.",
    field_is(ConnectionParametersPacket, "InternalHeader.PT", 2),
)
add(
    "any-connection-parameters-reserved-not-zero",
    "MQQB-2.2.2.1-01",
    "A queue manager sends a ConnectionParameters packet with ConnectionParametersHeader.Reserved 0xBEEF.",
    field_is(ConnectionParametersPacket, "ConnectionParametersHeader.Reserved", 0xBEEF),
)
add(
    "receiver-connection-parameters-reserved-refused",
    "MQQB-2.2.2.1-01",
    "The receiver refuses a ConnectionParameters packet whose ConnectionParametersHeader.Reserved is not zero.",
    refused_unless_zero(ConnectionParametersPacket, "ConnectionParametersHeader.Reserved"),
)
add(
    "any-connection-parameters-8-bytes-too-long",
    "MQQB-2.2.2-D01",
    "A queue manager sends a ConnectionParameters packet with 8 bytes after its ConnectionParametersHeader.",
    wrong_bytes(ConnectionParametersPacket, lambda data: correct_packet_size(data + bytes(8))),
)
add(
    "any-connection-parameters-window-size-missing",
    "MQQB-2.2.2.1-D01",
    "A queue manager sends a ConnectionParameters packet without WindowSize, its last field.",
    wrong_bytes(ConnectionParametersPacket, lambda data: correct_packet_size(data[:-2])),
)
for _name, _rule, _field, _value in (
    ("initiator-connection-parameters-recoverable-timeout-499", "MQQB-2.2.2.1-D02", "RecoverableAckTimeout", 499),
    (
        "initiator-connection-parameters-recoverable-timeout-120001",
        "MQQB-2.2.2.1-D02",
        "RecoverableAckTimeout",
        120_001,
    ),
    ("initiator-connection-parameters-ack-timeout-19999", "MQQB-2.2.2.1-D03", "AckTimeout", 19_999),
    ("initiator-connection-parameters-ack-timeout-120001", "MQQB-2.2.2.1-D03", "AckTimeout", 120_001),
):
    add(
        _name,
        _rule,
        f"The initiator sends a ConnectionParameters packet with {_field} {_value}.",
        sent_as("initiator", field_is(ConnectionParametersPacket, f"ConnectionParametersHeader.{_field}", _value)),
    )
