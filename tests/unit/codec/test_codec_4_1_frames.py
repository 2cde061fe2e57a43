"""MS-MQQB 4.1: the frames of real Windows parse to the printed values, and build to the same bytes."""

from uuid import UUID

import pytest
from codec_frames import DOCUMENT, FRAMES, printed_dump

from reference_qm.codec import (
    NULL_GUID,
    ConnectionParametersHeader,
    ConnectionParametersPacket,
    DirectQueueFormatName,
    EstablishConnectionPacket,
    SessionAckPacket,
    StreamFramer,
    UserMessagePacket,
    parse_packet,
    parse_ping,
)

CLIENT = UUID("557358d1-9150-9595-4997-b6e611ea26c6")


@pytest.mark.skipif(not DOCUMENT.exists(), reason="the specifications do not lie beside the repository")
@pytest.mark.parametrize("number", FRAMES)
def test_golden_frames_equal_bytes_of_document(number):
    dump = printed_dump(number)
    assert len(dump) == (1650 if number == 7 else len(FRAMES[number]))
    assert FRAMES[number].startswith(dump)


@pytest.mark.parametrize("number", [1, 2])
def test_golden_pings_have_fields_of_document(number):
    ping = parse_ping(FRAMES[number])
    assert (ping.RC, ping.RF, ping.Cookie) == (1, 0, 4)
    assert ping.Flags == {1: 0x7D01, 2: 0xB295}[number]
    assert ping.build() == FRAMES[number]


def test_golden_pings_contain_guids_of_document():
    assert parse_ping(FRAMES[1]).QMGuid == CLIENT
    assert parse_ping(FRAMES[2]).QMGuid == UUID("43cd8907-394c-8f11-4445-9078909ea0fc")


@pytest.mark.parametrize("number", [3, 4])
def test_golden_establish_connection_has_fields_of_document(number):
    packet = parse_packet(FRAMES[number])
    assert isinstance(packet, EstablishConnectionPacket)
    base, internal, establish = packet.BaseHeader, packet.InternalHeader, packet.EstablishConnectionHeader
    assert (base.Reserved, base.Flags, base.PR, base.IN, base.SH) == ({3: 0xC0, 4: 0x5A}[number], 0x0B, 3, 1, 0)
    assert (base.PacketSize, base.TimeToReachQueue) == (572, 0xFFFFFFFF)
    assert (internal.Reserved, internal.PT, internal.CS) == (0, 2, 0)
    assert (establish.TimeStamp, establish.OperatingSystem, establish.Reserved) == (501140046, 0x0310, 0)
    assert (establish.RE, establish.SE, establish.OS, establish.QS) == (0x10, 1, 1, 0)
    assert establish.Padding == b"\x5a" * 512
    assert packet.build() == FRAMES[number]


@pytest.mark.parametrize("number", [5, 6])
def test_golden_connection_parameters_have_fields_of_document(number):
    packet = parse_packet(FRAMES[number])
    assert isinstance(packet, ConnectionParametersPacket)
    assert packet.ConnectionParametersHeader == ConnectionParametersHeader(1496, 120000, 0, 64)
    assert packet.build() == FRAMES[number]


def test_golden_user_message_has_fields_of_document():
    packet = parse_packet(FRAMES[7])
    assert isinstance(packet, UserMessagePacket)
    user, security, properties = packet.UserHeader, packet.SecurityHeader, packet.MessagePropertiesHeader
    assert (packet.BaseHeader.PR, packet.BaseHeader.IN, packet.BaseHeader.TimeToReachQueue) == (3, 0, 345600)
    assert (user.SourceQueueManager, user.QueueManagerAddress) == (CLIENT, NULL_GUID)
    assert (user.SentTime, user.MessageID, user.Flags) == (0x524F494C, 2286, 0x281C00)
    assert (user.RC, user.DM, user.DQ, user.AQ, user.RQ, user.SH, user.TH, user.MP) == (0, 0, 7, 0, 0, 1, 0, 1)
    assert user.DestinationQueue == DirectQueueFormatName(r"OS:a04bm02\q")
    assert user.DestinationQueue.Count == 26
    assert security is not None
    assert (security.ST, security.AI, security.SenderIdSize) == (1, 0, 28)
    assert security.SecurityData.SecurityID.startswith(b"\x01\x05")
    assert (properties.Flags, properties.PA, properties.PR, properties.NA, properties.NR) == (0x0F, 1, 1, 1, 1)
    assert (properties.Label, properties.LabelLength) == ("mqsender label", 15)
    assert (properties.BodyType, properties.MessageSize, properties.AllocationBodySize) == (8, 2000, 2000)
    assert (properties.HashAlgorithm, properties.EncryptionAlgorithm) == (0x8004, 0x6801)
    assert properties.MessageBody == b"a\0" * 1000
    assert packet.build() == FRAMES[7]


def test_golden_session_ack_has_fields_of_document():
    packet = parse_packet(FRAMES[8])
    assert isinstance(packet, SessionAckPacket)
    assert (packet.BaseHeader.Flags, packet.BaseHeader.PacketSize, packet.InternalHeader.PT) == (0x1B, 0x24, 1)
    assert (packet.SessionHeader.AckSequenceNumber, packet.SessionHeader.WindowSize) == (1, 64)
    assert packet.build() == FRAMES[8]


def test_framer_separates_packets_of_golden_session():
    stream = [FRAMES[number] for number in range(3, 9)]
    assert StreamFramer().feed(b"".join(stream)) == stream
