"""MS-MQMQ 2.2.19.1, and the framing of a stream by this header."""

import pytest
from codec_frames import FRAMES

from reference_qm.codec import MAX_PACKET_SIZE, BaseHeader, FormatError, FramingError, StreamFramer, parse_packet

ACK = FRAMES[8]


def test_base_header_parses_and_builds_as_printed():
    wire = bytes.fromhex("10 C0 3B 81 4C 49 4F 52 3C 02 00 00 02 01 00 00")
    header = BaseHeader.parse(wire)
    assert header == BaseHeader(Reserved=0xC0, Flags=0x813B, PacketSize=572, TimeToReachQueue=258)
    assert (header.PR, header.IN, header.SH, header.DH, header.X9, header.X8, header.TR) == (3, 1, 1, 1, 0, 0, 1)
    assert (header.X6, header.X1, header.X0) == (0, 0, 1)
    assert (header.VersionNumber, header.Signature) == (0x10, 0x524F494C)
    assert header.build() == wire
    assert BaseHeader.flags(PR=3, IN=1, SH=1, DH=1, TR=1, X0=1) == 0x813B


def size(value: int) -> bytes:
    return ACK[:8] + value.to_bytes(4, "little")


MESSAGE = bytes.fromhex("10 00 03 00 4C 49 4F 52")
DEBUGGED = bytes.fromhex("10 00 23 00 4C 49 4F 52")
INTERNAL = bytes.fromhex("10 00 0B 00 4C 49 4F 52")


@pytest.mark.parametrize(
    ("stream", "field", "offset"),
    [
        (b"\x11", "BaseHeader.VersionNumber", 0),
        (bytes.fromhex("10 00 0B 00 52"), "BaseHeader.Signature", 4),
        (bytes.fromhex("10 00 0B 00 4C 49 4F 53"), "BaseHeader.Signature", 4),
        (size(0), "BaseHeader.PacketSize", 8),
        (size(15), "BaseHeader.PacketSize", 8),
        (size(0x23), "BaseHeader.PacketSize", 8),
        (size(0x34), "BaseHeader.PacketSize", 8),
        (INTERNAL + bytes.fromhex("13 00 00 00"), "BaseHeader.PacketSize", 8),
        (INTERNAL + bytes.fromhex("01 00 40 00"), "BaseHeader.PacketSize", 8),
        (MESSAGE + bytes.fromhex("77 00 00 00"), "BaseHeader.PacketSize", 8),
        (DEBUGGED + bytes.fromhex("7B 00 00 00"), "BaseHeader.PacketSize", 8),
        (MESSAGE + bytes.fromhex("01 00 40 00"), "BaseHeader.PacketSize", 8),
        (MESSAGE + bytes.fromhex("FF FF FF FF"), "BaseHeader.PacketSize", 8),
    ],
)
def test_framer_fails_at_first_impossible_byte(stream, field, offset):
    framer = StreamFramer()
    for byte in stream[:-1]:
        assert framer.feed(bytes([byte])) == []
    with pytest.raises(FormatError) as caught:
        framer.feed(stream[-1:])
    assert (caught.value.field, caught.value.offset, caught.value.section) == (field, offset, "MS-MQMQ 2.2.19.1")
    assert framer.unfinished_packet_bytes == 0


def test_failed_framer_raises_same_error_again():
    framer = StreamFramer()
    with pytest.raises(FramingError) as first:
        framer.feed(ACK + b"\x11" + ACK)
    assert first.value.packets == [ACK]
    with pytest.raises(FramingError) as again:
        framer.feed(ACK)
    assert str(again.value) == str(first.value)
    assert again.value.packets == []


def test_signature_inside_payload_does_not_start_a_packet():
    assert FRAMES[7][52:56] == b"LIOR"
    assert StreamFramer().feed(FRAMES[7] + ACK) == [FRAMES[7], ACK]


def test_packet_size_excludes_session_header():
    wire = FRAMES[7][:2] + b"\x13\x00" + FRAMES[7][4:] + ACK[20:]
    framer = StreamFramer()
    assert framer.feed(wire[:2224]) == []
    assert framer.unfinished_packet_bytes == 2224
    assert framer.feed(wire[2224:] + ACK) == [wire, ACK]
    packet = parse_packet(wire)
    assert packet.SessionHeader is not None
    assert packet.SessionHeader.WindowSize == 64
    assert packet.build() == wire


def test_both_session_ack_sizes_are_36_bytes():
    short = ACK[:8] + b"\x14" + ACK[9:]
    assert StreamFramer().feed(short + ACK + short) == [short, ACK, short]


def test_framer_holds_at_most_one_packet():
    head = bytes.fromhex("10 00 13 00 4C 49 4F 52 00 00 40 00")
    framer = StreamFramer()
    assert framer.feed(head) == []
    chunk = bytes(1 << 20)
    held = []
    while framer.unfinished_packet_bytes + len(chunk) < MAX_PACKET_SIZE + 16:
        assert framer.feed(chunk) == []
        held.append(framer.unfinished_packet_bytes)
    assert max(held) < MAX_PACKET_SIZE + 16
    with pytest.raises(FramingError) as caught:  # what follows the packet is zeros: no packet
        framer.feed(chunk)
    assert [len(packet) for packet in caught.value.packets] == [MAX_PACKET_SIZE + 16]
    assert framer.unfinished_packet_bytes == 0


@pytest.mark.parametrize("count", range(12))
def test_incomplete_packet_is_not_parsed(count):
    with pytest.raises(FormatError, match="BaseHeader"):
        parse_packet(ACK[:count])


@pytest.mark.parametrize("wire", [ACK[:-1], ACK + b"\0", ACK + ACK])
def test_parse_packet_takes_exactly_one_packet(wire):
    with pytest.raises(FormatError) as caught:
        parse_packet(wire)
    assert (caught.value.field, caught.value.offset) == ("BaseHeader.PacketSize", 8)
