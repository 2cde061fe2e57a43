"""Measures how many packets per second the strict codec and the scapy layers parse, on the same bytes.

Target: the strict codec is at least 20 times as fast.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from harness.wire import dissect, establish_connection, session_ack, user_message
from reference_qm.codec import parse_packet

ROUND_S = 1.0
PACKETS = {
    "SessionAck": bytes(session_ack(AckSequenceNumber=1)),
    "EstablishConnection": bytes(establish_connection()),
    "UserMessage, 300 bytes": bytes(
        user_message(destination="TCP:127.0.0.1\\private$\\q", body=b"x" * 300, label="bench")
    ),
}


def measure_rate(parse: Callable[[bytes], object], data: bytes) -> float:
    """Parse packets for one second, and return the number of parsed packets per second."""
    done, began = 0, time.perf_counter()
    while (passed := time.perf_counter() - began) < ROUND_S:
        for _ in range(50):
            parse(data)
        done += 50
    return done / passed


def measure() -> Iterator[str]:
    """Compare the two codecs for each kind of packet."""
    for name, data in PACKETS.items():
        scapy, strict = measure_rate(dissect, data), measure_rate(parse_packet, data)
        yield f"{name}: strict {strict:,.0f}/s, scapy {scapy:,.0f}/s: {strict / scapy:.0f} times (target: 20)"
