"""For any bytes, the scapy layers make a complete dissection or raise WireError; they make no Raw layer and raise no
other exception.
"""

from __future__ import annotations

import pytest
from budgets import MANY, SOME, budget
from hypothesis import example, given
from hypothesis import strategies as st
from scapy.packet import Padding, Raw
from test_wire_round_trips import elements, packets, padded

from harness.wire import MQFAddressHeader, WireError, dissect, dissect_ping, format_dissection, kind, session_ack
from harness.wire.layer import Layer
from harness.wire.mqf import LONGEST_FIXED_ELEMENT

EXAMPLES = budget(SOME)
BASE_SIZE = 16


def check(data: bytes, *, ping: bool = False) -> None:
    """Check that the bytes become one packet that consists only of the project's layers, or that they cause a WireError
    of one line.
    """
    text = format_dissection(data, ping=ping)
    try:
        packet = (dissect_ping if ping else dissect)(data)
    except WireError as error:
        assert "\n" not in str(error)
        assert text == f"cannot be dissected: {error}"
        with pytest.raises(WireError):
            kind(data, ping=ping)
        return
    assert all(isinstance(layer, Layer) and not isinstance(layer, Raw | Padding) for layer in padded(packet))
    assert bytes(packet) == data
    assert kind(data, ping=ping) in {
        "EstablishConnection",
        "ConnectionParameters",
        "SessionAck",
        "UserMessage",
        "Ping",
        "unknown internal",
    }
    assert text.startswith("PingPacket\n" if ping else "BaseHeader\n")


@EXAMPLES
@given(st.binary(max_size=200), st.booleans())
@example(b"", True)
@example(b"", False)
def test_any_bytes_are_dissected_or_refused(data, ping):
    check(data, ping=ping)


@EXAMPLES
@given(st.integers(0, 0xFFFF), st.binary(max_size=300))
def test_any_bytes_after_valid_start_are_dissected_or_refused(flags, rest):
    size = BASE_SIZE + len(rest)
    for counted in (size, max(size - 16, 16)):
        check(b"\x10\0" + flags.to_bytes(2, "little") + b"LIOR" + counted.to_bytes(4, "little") + bytes(4) + rest)


@budget(MANY)
@given(packets, st.data())
def test_damaged_packets_are_dissected_or_refused(packet, data):
    changed = bytearray(bytes(packet))
    for _ in range(data.draw(st.integers(1, 4))):
        changed[data.draw(st.integers(0, len(changed) - 1))] = data.draw(st.integers(0, 255))
    check(bytes(changed))
    cut = bytes(changed[: data.draw(st.integers(0, len(changed)))]) + data.draw(st.binary(max_size=8))
    check(cut)
    check(cut[:8] + len(cut).to_bytes(4, "little") + cut[12:])


@given(st.lists(elements, min_size=1, max_size=20))
def test_name_in_list_is_dissected_without_following_bytes(names):
    """Each name of a list is dissected without the bytes that follow it; copying them for each of many names would take
    quadratic time.
    """
    read = MQFAddressHeader(bytes(MQFAddressHeader(FormatNameList=names)))
    for element in read.FormatNameList:
        assert len(element.original) <= max(LONGEST_FIXED_ELEMENT, len(bytes(element)))


def test_a_session_ack_of_either_size_is_one_packet():
    for size in (0x14, 0x24):
        check(bytes(session_ack(base={"PacketSize": size})))
