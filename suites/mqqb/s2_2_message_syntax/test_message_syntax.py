"""MS-MQQB 2.2 Message Syntax: the order of bytes."""

from __future__ import annotations

import textwrap

from harness.run.marks import covers

SENT_TIME_STAMP_MS, ACK_TIMEOUT_MS, RECOVERABLE_ACK_TIMEOUT_MS = 0x0102_0304, 0x0001_1170, 0x0000_0304
"""Numbers that change when their bytes are reversed. The timeouts are in the valid ranges (2.2.2.1)."""
PACKET_SIZE_FIELDS_HEX = ("3c020000", "20000000", "24000000")
"""PacketSize of EstablishConnection, ConnectionParameters and SessionAck: 572, 32, 36."""


def _format_packet_bytes_as_hex(frame, start, end):
    return frame.data[start:end].hex()


@covers("MQQB-2.2-D01")
def test_numbers_of_an_acceptor_are_little_endian(peer, sut, judge):
    """The peer opens a session, and sends an express and a recoverable message. The sizes, timeouts, time stamp, counts
    and flags in the SUT's four answers are little-endian.
    """
    timeouts = {"RecoverableAckTimeout": RECOVERABLE_ACK_TIMEOUT_MS, "AckTimeout": ACK_TIMEOUT_MS}
    connection = peer.open_raw({"TimeStamp": SENT_TIME_STAMP_MS}, **timeouts)
    established, agreed = connection.received[:2]
    acknowledged = connection.request_acknowledgment()
    connection.send(peer.recoverable_message())
    recoverable = connection.poll(
        "SessionAck", within_ms=sut.duration_ms(ACK_TIMEOUT_MS) + sut.slack_ms(ACK_TIMEOUT_MS)
    )
    frames = [established, agreed, acknowledged]
    numbers = [
        *(
            (due, _format_packet_bytes_as_hex(frame, 8, 12))
            for due, frame in zip(PACKET_SIZE_FIELDS_HEX, frames, strict=True)
            if frame is not None
        ),
        ("04030201", _format_packet_bytes_as_hex(established, 52, 56)),
        ("04030000", _format_packet_bytes_as_hex(agreed, 20, 24)),
        ("70110100", _format_packet_bytes_as_hex(agreed, 24, 28)),
        ("4000", _format_packet_bytes_as_hex(agreed, 30, 32)),
    ]
    if acknowledged is not None:
        numbers.append(("0100", _format_packet_bytes_as_hex(acknowledged, 20, 22)))
    if recoverable is not None:
        numbers += [
            ("0200", _format_packet_bytes_as_hex(recoverable, 20, 22)),
            ("0100", _format_packet_bytes_as_hex(recoverable, 22, 24)),
        ]
        numbers.append(("01000000", _format_packet_bytes_as_hex(recoverable, 24, 28)))
    frames.append(recoverable)
    # Other rules judge a number with other bytes; this rule judges the order of the bytes.
    known = [
        (due, found) for due, found in numbers if sorted(_split_hex_octets(due)) == sorted(_split_hex_octets(found))
    ]
    if not known:
        judge.mark_not_exercised(
            "MQQB-2.2-D01", reason="the SUT sent none of the numbers that show the byte order", evidence=frames
        )
        return
    expected, observed = (", ".join(each) for each in zip(*known, strict=True))
    judge(
        "MQQB-2.2-D01",
        expected=expected,
        observed=observed,
        case="bytes of the numbers in the SUT's packets",
        evidence=frames,
    )


def _split_hex_octets(text: str) -> list[str]:
    return textwrap.wrap(text, 2)
