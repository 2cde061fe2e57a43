"""MS-MQQB 2.2 Message Syntax: the order of bytes."""

from __future__ import annotations

import textwrap

from harness.run.marks import covers

TIME_STAMP, ACK_MS, RECOVERABLE_ACK_MS = 0x0102_0304, 0x0001_1170, 0x0000_0304
"""Their bytes make other numbers in the other order, and the timeouts are in their ranges (2.2.2.1)."""
SIZES = ("3c020000", "20000000", "24000000")
"""PacketSize of EstablishConnection, ConnectionParameters and SessionAck: 572, 32, 36."""


def _hex(frame, start, end):
    return frame.data[start:end].hex()


@covers("MQQB-2.2-D01")
def test_numbers_have_their_least_significant_byte_first(peer, judge):
    """The sizes of an acceptor's packets, numbers that it repeats and a count of its own, byte by byte."""
    timeouts = {"RecoverableAckTimeout": RECOVERABLE_ACK_MS, "AckTimeout": ACK_MS}
    connection = peer.open_raw({"TimeStamp": TIME_STAMP}, **timeouts)
    established, agreed = connection.received[:2]
    acknowledged = connection.acknowledgment()
    frames = [established, agreed, acknowledged]
    numbers = [
        *((due, _hex(frame, 8, 12)) for due, frame in zip(SIZES, frames, strict=True) if frame is not None),
        ("04030201", _hex(established, 52, 56)),
        ("04030000", _hex(agreed, 20, 24)),
        ("70110100", _hex(agreed, 24, 28)),
    ]
    if acknowledged is not None:
        numbers.append(("0100", _hex(acknowledged, 20, 22)))
    # Other bytes are another number, which other rules judge; in another order they are this rule's.
    known = [(due, found) for due, found in numbers if sorted(_octets(due)) == sorted(_octets(found))]
    if not known:
        judge.mark_not_exercised(
            "MQQB-2.2-D01", reason="none of its numbers is as it is to be, in whatever order", evidence=frames
        )
        return
    expected, observed = (", ".join(each) for each in zip(*known, strict=True))
    judge("MQQB-2.2-D01", expected=expected, observed=observed, evidence=frames)


def _octets(text: str) -> list[str]:
    return textwrap.wrap(text, 2)
