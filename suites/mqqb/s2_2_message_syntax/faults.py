"""Faults of MS-MQQB 2.2 Message Syntax."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.fields import sent_as
from harness.faults.primitives import wrong_bytes
from harness.faults.registry import add
from reference_qm.codec import ConnectionParametersPacket, SessionAckPacket


def _reverse_byte_order(start: int, end: int) -> Callable[[bytes], bytes]:
    return lambda data: data[:start] + data[start:end][::-1] + data[end:]


add(
    "receiver-session-ack-sequence-number-big-endian",
    "MQQB-2.2-D01",
    "The receiver's SessionAck has AckSequenceNumber in big-endian order.",
    wrong_bytes(SessionAckPacket, _reverse_byte_order(20, 22)),
)
add(
    "acceptor-connection-parameters-ack-timeout-big-endian",
    "MQQB-2.2-D01",
    "The acceptor's ConnectionParameters has AckTimeout in big-endian order.",
    sent_as("acceptor", wrong_bytes(ConnectionParametersPacket, _reverse_byte_order(24, 28))),
)
