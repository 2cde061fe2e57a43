"""The framer for packets of a SUT: it ends a malformed packet where the packet ends, and continues with the next
packet.
"""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.capture.sut_framer import SutFramer
from harness.wire import connection_parameters, establish_connection, session_ack, user_message
from reference_qm.codec import FramingError

ESTABLISH, PARAMETERS, ACK = (bytes(make()) for make in (establish_connection, connection_parameters, session_ack))
MESSAGE = bytes(user_message(body=b"x" * 301))
PACKETS = [ESTABLISH, PARAMETERS, ACK, MESSAGE, ACK]


def sized(data: bytes, by: int) -> bytes:
    return data[:8] + (int.from_bytes(data[8:12], "little") + by & 0xFFFF_FFFF).to_bytes(4, "little") + data[12:]


def version(data: bytes) -> bytes:
    return b"\x11" + data[1:]


def signature(data: bytes) -> bytes:
    return data[:4] + b"ROIL" + data[8:]


WRONG = {
    "version": version,
    "signature": signature,
    "size-more": lambda data: sized(data, 4),
    "size-less": lambda data: sized(data, -4),
    "size-without-header": lambda data: sized(data, -16),
    "size-twice-header": lambda data: sized(data, 16),
    "size-too-large": lambda data: sized(data, 0x0080_0000),
}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("kind", range(4), ids=["establish", "parameters", "ack", "message"])
def test_framer_ends_malformed_packet_at_its_own_end(wrong: str, kind: int) -> None:
    packets = [WRONG[wrong](data) if number == kind else data for number, data in enumerate(PACKETS)]
    assert SutFramer().feed(b"".join(packets)) == packets


@pytest.mark.parametrize("wrong", WRONG)
def test_framer_separates_consecutive_malformed_packets(wrong: str) -> None:
    packets = [WRONG[wrong](data) for data in PACKETS]
    framer = SutFramer()
    assert [found for data in packets for found in framer.feed(data)] == packets
    assert framer.pending_size == 0
    assert framer.get_remaining_bytes() == b""


@given(cuts=st.lists(st.integers(0, sum(map(len, PACKETS))), max_size=12))
def test_framer_finds_valid_packets_in_any_chunks(cuts: list[int]) -> None:
    data, framer = b"".join(PACKETS), SutFramer()
    edges = sorted([0, *cuts, len(data)])
    assert [found for start, end in pairwise(edges) for found in framer.feed(data[start:end])] == PACKETS


def test_framer_ends_short_packet_at_its_packet_size() -> None:
    short = sized(ESTABLISH[:60], -512)
    assert SutFramer().feed(short + ACK) == [short, ACK]


def test_framer_stops_at_bytes_that_start_no_packet() -> None:
    framer = SutFramer()
    with pytest.raises(FramingError) as caught:
        framer.feed(ACK + b"HTTP/1.1 400 Bad Request\r\n\r\n")
    assert caught.value.packets == [ACK]
    assert caught.value.field == "BaseHeader"


@pytest.mark.parametrize(("left", "rest"), [(b"HTTP", b"HTTP"), (ACK[:10], b""), (MESSAGE[:200], b""), (b"", b"")])
def test_framer_has_no_rest_after_complete_packets(left: bytes, rest: bytes) -> None:
    framer = SutFramer()
    assert framer.feed(left) == []
    assert framer.get_remaining_bytes() == rest
    assert framer.pending_size == 0


@given(st.binary(max_size=300), st.booleans())
def test_framer_accepts_arbitrary_bytes(data: bytes, begins: bool) -> None:
    framer = SutFramer()
    try:
        found = framer.feed((MESSAGE[:16] if begins else b"") + data)
    except FramingError as error:
        found = error.packets
    assert all(found)
    framer.get_remaining_bytes()
