"""MS-MQQB 2.2 Message Syntax: the order of bytes."""

from __future__ import annotations

from harness.run.marks import covers
from suites.mqqb.steps.opening import acknowledgment, opened_with

TIME_STAMP, ACK_MS, RECOVERABLE_ACK_MS = 0x0102_0304, 0x0001_1170, 0x0000_0304
"""Their bytes make other numbers in the other order, and the timeouts are in their ranges (2.2.2.1)."""
SIZES = "3c020000, 20000000, 24000000"
"""PacketSize of the three packets: 572, 32, 36."""


def _hex(frame, start, end):
    return frame.data[start:end].hex()


@covers("MQQB-2.2-D01")
def test_numbers_have_their_least_significant_byte_first(peer, judge):
    """The sizes of an acceptor's packets, numbers that it repeats and a count of its own, byte by byte."""
    timeouts = {"RecoverableAckTimeout": RECOVERABLE_ACK_MS, "AckTimeout": ACK_MS}
    connection = opened_with(peer, {"TimeStamp": TIME_STAMP}, timeouts)
    established, agreed = connection.received[:2]
    acknowledged = acknowledgment(connection)
    frames = [established, agreed, acknowledged]
    judge(
        "MQQB-2.2-D01",
        expected=f"{SIZES}; 04030201; 04030000 70110100; 0100",
        observed="; ".join(
            (
                ", ".join(_hex(frame, 8, 12) for frame in frames if frame is not None),
                _hex(established, 52, 56),
                f"{_hex(agreed, 20, 24)} {_hex(agreed, 24, 28)}",
                "no SessionAck" if acknowledged is None else _hex(acknowledged, 20, 22),
            )
        ),
        evidence=frames,
    )
