"""Faults of MS-MQQB 2.2 Message Syntax."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.fields import sent_as
from harness.faults.primitives import wrong_bytes
from harness.faults.registry import add
from reference_qm.codec import ConnectionParametersPacket, SessionAckPacket


def _reversed(start: int, end: int) -> Callable[[bytes], bytes]:
    return lambda data: data[:start] + data[start:end][::-1] + data[end:]


add(
    "syntax-session-ack-big-endian",
    "MQQB-2.2-D01",
    "AckSequenceNumber of a SessionAck has its most significant byte first.",
    wrong_bytes(SessionAckPacket, _reversed(20, 22)),
)
add(
    "syntax-timeouts-big-endian",
    "MQQB-2.2-D01",
    "An acceptor's AckTimeout has its most significant byte first.",
    sent_as("acceptor", wrong_bytes(ConnectionParametersPacket, _reversed(24, 28))),
)
