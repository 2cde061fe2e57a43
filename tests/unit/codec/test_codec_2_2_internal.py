"""MS-MQQB 2.2.1 to 2.2.3, 2.2.6, 2.2.7: internal packets and pings, from bytes written out by hand."""

from dataclasses import is_dataclass
from uuid import UUID

import pytest

from reference_qm import codec
from reference_qm.codec import (
    BaseHeader,
    ConnectionParametersHeader,
    EstablishConnectionHeader,
    EstablishConnectionPacket,
    FormatError,
    InternalHeader,
    MisuseError,
    PingPacket,
    SessionAckPacket,
    SessionHeader,
    UnknownInternalPacket,
    parse_packet,
    parse_ping,
)

BASE = "10 00 0B 00 4C 49 4F 52 {size} FF FF FF FF"
ACK_HEADER = "01 00 02 00 03 00 00 00 04 00 05 00 40 00 07 00"
GUID_BYTES = "00 11 22 33 44 55 66 77 88 99 AA BB CC DD EE FF"
GUID = UUID("33221100-5544-7766-8899-aabbccddeeff")


def base(size: str, flags: str = "0B 00") -> str:
    return BASE.format(size=size).replace("0B 00", flags)


def test_internal_header_parses_and_builds_as_printed():
    header = InternalHeader.parse(bytes.fromhex("34 12 12 80"))
    assert header == InternalHeader(Reserved=0x1234, Flags=0x8012)
    assert (header.PT, header.CS, header.X5, header.X15) == (2, 1, 0, 1)
    assert header.build() == bytes.fromhex("34 12 12 80")


def test_connection_parameters_header_parses_and_builds_as_printed():
    wire = bytes.fromhex("F4 01 00 00 20 4E 00 00 0D F0 40 00")
    header = ConnectionParametersHeader.parse(wire)
    assert header == ConnectionParametersHeader(
        RecoverableAckTimeout=500, AckTimeout=20000, Reserved=0xF00D, WindowSize=64
    )
    assert header.build() == wire


def test_establish_connection_header_keeps_its_padding():
    padding = bytes(range(256)) * 2
    wire = bytes.fromhex(GUID_BYTES + "00" * 16 + "78 56 34 12 10 07 01 00") + padding
    header = EstablishConnectionHeader.parse(wire)
    assert header == EstablishConnectionHeader(GUID, UUID(int=0), 0x12345678, 0x0710, 1, padding)
    assert (header.RE, header.SE, header.OS, header.QS, header.X11) == (0x10, 1, 1, 1, 0)
    assert header.build() == wire


def test_establish_connection_padding_of_wrong_length_is_not_built():
    with pytest.raises(MisuseError, match=r"EstablishConnectionHeader.Padding takes 512 bytes, not 511"):
        EstablishConnectionHeader(Padding=bytes(511)).build()


@pytest.mark.parametrize("size", ["24 00 00 00", "14 00 00 00"])
def test_session_ack_with_either_packet_size_is_parsed(size):
    wire = bytes.fromhex(base(size, "1B 00") + "00 00 01 00" + ACK_HEADER)
    packet = parse_packet(wire)
    assert isinstance(packet, SessionAckPacket)
    assert packet.SessionHeader == SessionHeader(1, 2, 3, 4, 5, 64, 7)
    assert packet.build() == wire


def test_session_ack_is_built_as_windows_does():
    flags = BaseHeader.flags(PR=3, IN=1, SH=1)
    wire = SessionAckPacket(
        BaseHeader(Flags=flags), InternalHeader(Flags=InternalHeader.flags(PT=1)), SessionHeader()
    ).build()
    assert wire[8:12] == bytes.fromhex("24 00 00 00")
    assert len(wire) == 36


def test_session_ack_without_its_sh_bit_still_parses():
    wire = bytes.fromhex(base("24 00 00 00") + "00 00 01 00" + ACK_HEADER)
    packet = parse_packet(wire)
    assert isinstance(packet, SessionAckPacket)
    assert packet.BaseHeader.SH == 0
    assert packet.build() == wire


def test_packet_of_unknown_type_keeps_its_remaining_bytes():
    wire = bytes.fromhex(base("17 00 00 00") + "00 00 07 00 AA BB CC")
    packet = parse_packet(wire)
    assert packet == UnknownInternalPacket(BaseHeader(0, 0x0B, 23), InternalHeader(0, 7), b"\xaa\xbb\xcc")
    assert packet.build() == wire


def test_codec_accepts_any_field_values():
    wire = bytes.fromhex("10 FF E7 FF 4C 49 4F 52 20 00 00 00 00 00 00 00 FF FF 13 00" + "FF" * 12)
    with pytest.raises(FormatError):  # IN clear: too short for a message
        parse_packet(wire)
    wire = wire.replace(b"\xe7\xff", b"\xef\xff")
    packet = parse_packet(wire)
    assert (packet.BaseHeader.Reserved, packet.BaseHeader.PR, packet.BaseHeader.DH) == (0xFF, 7, 1)
    assert packet.build() == wire


@pytest.mark.parametrize(
    ("wire", "field", "offset"),
    [
        (base("24 00 00 00", "1B 00") + "00 00 01 00" + ACK_HEADER[:-3], "BaseHeader.PacketSize", 8),
        (base("20 00 00 00") + "00 00 01 00" + ACK_HEADER[:-12], "SessionHeader.WindowSize", 20),
        (base("14 00 00 00") + "00 00 01 00", "SessionHeader.AckSequenceNumber", 20),
        (base("21 00 00 00") + "00 00 03 00" + "00" * 13, "ConnectionParametersPacket", 32),
        (base("1F 00 00 00") + "00 00 03 00" + "00" * 11, "ConnectionParametersHeader.WindowSize", 20),
        (base("30 00 00 00") + "00 00 02 00" + "00" * 28, "EstablishConnectionHeader.ServerGuid", 20),
        (base("20 00 00 00", "1B 00") + "00 00 03 00" + "00" * 12, "BaseHeader.PacketSize", 8),
    ],
)
def test_error_of_malformed_internal_packet_names_field_and_offset(wire, field, offset):
    with pytest.raises(FormatError) as caught:
        parse_packet(bytes.fromhex(wire))
    assert (caught.value.field, caught.value.offset) == (field, offset)
    assert "\n" not in str(caught.value)


def test_packet_whose_pt_contradicts_its_class_is_not_built():
    head = BaseHeader(Flags=BaseHeader.flags(IN=1))
    with pytest.raises(MisuseError, match=r"InternalHeader.Flags.PT must be 0x2 here, not 0x3"):
        EstablishConnectionPacket(head, InternalHeader(Flags=3), EstablishConnectionHeader()).build()
    with pytest.raises(MisuseError, match=r"BaseHeader.Flags.IN is clear"):
        EstablishConnectionPacket(BaseHeader(), InternalHeader(Flags=2), EstablishConnectionHeader()).build()
    with pytest.raises(MisuseError, match=r"PT 0x2 is a known packet"):
        UnknownInternalPacket(head, InternalHeader(Flags=2)).build()
    with pytest.raises(MisuseError, match=r"give 0 to compute the size"):
        UnknownInternalPacket(BaseHeader(Flags=head.Flags, PacketSize=99), InternalHeader(Flags=9)).build()


def test_ping_parses_and_builds_as_printed():
    wire = bytes.fromhex("FE FF 48 55 EF BE AD DE" + GUID_BYTES)
    ping = parse_ping(wire)
    assert ping == PingPacket(Flags=0xFFFE, Cookie=0xDEADBEEF, QMGuid=GUID)
    assert (ping.RC, ping.RF, ping.Signature) == (0, 1, 0x5548)
    assert ping.build() == wire


@pytest.mark.parametrize(
    ("wire", "field", "offset"),
    [
        ("00 00 48 56 00 00 00 00" + GUID_BYTES, "PingPacket.Signature", 2),
        ("00 00 48 55 00 00 00 00" + GUID_BYTES + "00", "PingPacket", 24),
        ("00 00 48 55 00 00 00 00", "PingPacket.QMGuid", 0),
        ("", "PingPacket.Flags", 0),
    ],
)
def test_ping_of_wrong_structure_is_refused(wire, field, offset):
    with pytest.raises(FormatError) as caught:
        parse_ping(bytes.fromhex(wire))
    assert (caught.value.field, caught.value.offset, caught.value.section) == (field, offset, "MS-MQQB 2.2.7")


def test_flags_constructor_refuses_undefined_bits_and_too_large_values():
    with pytest.raises(MisuseError, match="InternalHeader has no bits named XX"):
        InternalHeader.flags(XX=1)
    with pytest.raises(MisuseError, match=r"InternalHeader.PT accepts 0 to 15, not 16"):
        InternalHeader.flags(PT=16)
    assert EstablishConnectionHeader.flags(RE=0x10, SE=1, OS=1) == 0x0310


def test_named_flag_bits_of_a_header_are_read_only():
    with pytest.raises(AttributeError):
        InternalHeader().PT = 1


def test_every_codec_record_is_hashable():
    """Every record has a hash, as value objects and frozen dataclasses have."""
    records = [one for one in vars(codec).values() if isinstance(one, type) and is_dataclass(one)]
    assert len(records) > 30
    assert [one for one in records if one.__hash__ is None] == []
