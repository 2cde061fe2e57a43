"""For any bytes, the strict codec either raises FormatError or returns a record that builds to the same bytes."""

from itertools import pairwise

import pytest
from budgets import FEW, MANY, SOME, budget
from hypothesis import given
from hypothesis import strategies as st
from test_codec_round_trips import packets

from reference_qm.codec import (
    DirectQueueFormatName,
    FinalAckBody,
    FormatError,
    FramingError,
    MessagePropertiesHeader,
    MQFAddressHeader,
    MultiQueueFormatHeader,
    OrderAckBody,
    ProviderInfo,
    PublicKeyBlob,
    SecurityHeader,
    SimpleBlob,
    SoapHeader,
    StreamFramer,
    TransactionHeader,
    UserHeader,
    parse_format_name,
    parse_packet,
    parse_ping,
)

RECORDS = [
    DirectQueueFormatName,
    FinalAckBody,
    MessagePropertiesHeader,
    MQFAddressHeader,
    MultiQueueFormatHeader,
    OrderAckBody,
    ProviderInfo,
    PublicKeyBlob,
    SecurityHeader,
    SimpleBlob,
    SoapHeader,
    TransactionHeader,
    UserHeader,
]


def survives(parse, data):
    """Parse hostile bytes: the result must be a FormatError, or a record that builds to the same bytes."""
    try:
        record = parse(data)
    except FormatError as error:
        assert error.field
        assert error.section.startswith("MS-")
        assert 0 <= error.offset <= len(data)
        assert error.message
        assert "\n" not in str(error)
        return False
    assert record.build() == data
    return True


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.__name__)
@budget(FEW)
@given(data=st.binary(max_size=300))
def test_arbitrary_bytes_parse_or_raise_format_error(record, data):
    survives(record.parse, data)


@given(st.binary(max_size=40))
def test_arbitrary_datagrams_parse_or_raise_format_error(data):
    survives(parse_ping, data)
    survives(parse_ping, b"\0\0HU" + data)


@budget(MANY)
@given(st.binary(max_size=300), st.integers(0, 0xFFFF))
def test_arbitrary_bytes_after_valid_start_parse_or_raise_format_error(data, flags):
    survives(parse_packet, data)
    session = 16 if flags & 0x10 else 0
    size = max(0, 12 + len(data) - session)
    head = b"\x10\x00" + flags.to_bytes(2, "little") + b"LIOR" + size.to_bytes(4, "little")
    survives(parse_packet, head + data)


@st.composite
def mutated(draw):
    """Draw a valid packet with changed, removed or inserted bytes; often PacketSize is then corrected."""
    wire = bytearray(draw(packets).build())
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(wire) - 1))
        wire[at : at + draw(st.integers(0, 4))] = draw(st.binary(max_size=4))
        if not wire:
            return b""
    if len(wire) >= 12 and draw(st.booleans()):
        size = len(wire) - (16 if wire[2] & 0x10 and not wire[2] & 0x08 else 0)
        wire[8:12] = max(0, size).to_bytes(4, "little")
    return bytes(wire)


@budget(MANY)
@given(mutated())
def test_mutated_packets_parse_or_raise_format_error(wire):
    survives(parse_packet, wire)


@given(
    st.text(max_size=80),
    st.sampled_from(["", "DIRECT=", "DIRECT=OS:h\\", "PRIVATE=", "DL=", "MULTICAST=224.", "PUBLIC="]),
)
def test_arbitrary_format_name_text_parses_or_raises_format_error(text, start):
    try:
        name = parse_format_name(start + text)
    except FormatError as error:
        assert "\n" not in str(error)
        return
    assert parse_format_name(str(name)) == name


def pieces(stream, cuts):
    """Cut a stream at the given places."""
    edges = [0, *sorted(cut % (len(stream) + 1) for cut in cuts), len(stream)]
    return [stream[start:stop] for start, stop in pairwise(edges)]


def framed(parts):
    """Feed parts of a stream to a framer; return the packets, the error that ended the stream or None, and the unread
    bytes.
    """
    framer = StreamFramer()
    found = []
    for part in parts:
        try:
            found += framer.feed(part)
        except FramingError as error:
            return found + error.packets, str(error), framer.unfinished_packet_bytes
        assert framer.unfinished_packet_bytes <= 0x00400010
    return found, None, framer.unfinished_packet_bytes


tails = st.one_of(
    st.binary(max_size=30),
    st.builds(
        bytes.__add__,
        st.sampled_from([b"\x10\0\0\0ROIL", b"\x10\0\x18\0LIOR", b"\x10\0\0\0LIOr"]),
        st.binary(max_size=8),
    ),
)


@budget(SOME)
@given(st.lists(packets, max_size=4), tails, st.lists(st.integers(0, 10_000), max_size=12))
def test_framing_does_not_depend_on_stream_chunks(sent, tail, cuts):
    wires = [packet.build() for packet in sent]
    stream = b"".join(wires) + tail
    whole = framed([stream])
    assert framed(pieces(stream, cuts)) == whole
    assert framed([stream[i : i + 1] for i in range(len(stream))]) == whole
    assert whole[0][: len(wires)] == wires


@budget(SOME)
@given(mutated())
def test_framer_and_parser_agree_about_sizes(wire):
    found, error, pending = framed([wire])
    try:
        parse_packet(wire)
    except FormatError as refusal:
        if refusal.field == "BaseHeader.PacketSize":
            assert error or pending or found != [wire]
    else:
        assert (found, error, pending) == ([wire], None, 0)
