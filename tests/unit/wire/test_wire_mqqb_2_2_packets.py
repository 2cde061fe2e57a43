"""MS-MQQB 2.2 and 2.4: internal packets, acknowledgment bodies, pings and key blobs, compared with bytes written by
hand.
"""

from __future__ import annotations

from uuid import UUID

import pytest

from harness.wire import (
    ConnectionParametersHeader,
    EstablishConnectionHeader,
    FinalAckBody,
    InternalHeader,
    OrderAckBody,
    PingPacket,
    PublicKeyBlob,
    SimpleBlob,
    TxSequenceID,
    WireError,
    connection_parameters,
    dissect,
    dissect_ping,
    establish_connection,
    ping_request,
    ping_response,
    session_ack,
)

GUID = UUID("00112233-4455-6677-8899-aabbccddeeff")
GUID_BYTES = bytes.fromhex("33221100 5544 7766 8899 aabbccddeeff")


@pytest.mark.parametrize(
    ("fields", "flags"),
    [
        ({"PT": 1}, 0x0001),
        ({"PT": 0xF}, 0x000F),
        ({"CS": 1}, 0x0010),
        *(({f"X{bit}": 1}, 1 << bit) for bit in range(5, 16)),
        ({"Flags": 0xFFF3}, 0xFFF3),
    ],
)
def test_mqqb_2_2_1_internal_header_builds_and_dissects(fields, flags):
    header = InternalHeader(Reserved=0x1234, **fields)
    assert bytes(header) == b"\x34\x12" + flags.to_bytes(2, "little")
    assert header.Flags == flags


def test_mqqb_2_2_2_connection_parameters_build_and_dissect():
    packet = connection_parameters(RecoverableAckTimeout=500, AckTimeout=0x4E20, WindowSize=0x0102, Reserved=0xA1B2)
    expected = bytes.fromhex("10000b00 4c494f52 20000000 ffffffff 00000300 f4010000 204e0000 b2a1 0201")
    assert bytes(packet) == expected
    header = dissect(expected)[ConnectionParametersHeader]
    assert (header.RecoverableAckTimeout, header.AckTimeout, header.WindowSize) == (500, 0x4E20, 0x0102)


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({}, 0x0310),
        ({"RE": 0xAB, "SE": 0, "OS": 0}, 0x00AB),
        ({"RE": 0, "SE": 1, "OS": 0}, 0x0100),
        ({"RE": 0, "SE": 0, "OS": 1}, 0x0200),
        ({"OperatingSystem": 0, "QS": 1}, 0),  # the word is set last
        ({"RE": 0, "SE": 0, "OS": 0, "QS": 1}, 0x0400),
        *(({"RE": 0, "SE": 0, "OS": 0, f"X{bit}": 1}, 1 << bit) for bit in range(11, 16)),
    ],
)
def test_mqqb_2_2_3_1_operating_system_bits_have_printed_positions(fields, word):
    header = EstablishConnectionHeader(**fields)
    assert bytes(header)[36:38] == word.to_bytes(2, "little")
    assert header.OperatingSystem == word


def test_mqqb_2_2_3_establish_connection_builds_and_dissects():
    packet = establish_connection(
        base={"Reserved": 0xC0}, internal={"CS": 1}, ClientGuid=GUID, ServerGuid=UUID(int=0), TimeStamp=1, Reserved=2
    )
    expected = (
        bytes.fromhex("10c00b00 4c494f52 3c020000 ffffffff 00001200")
        + GUID_BYTES
        + bytes(16)
        + bytes.fromhex("01000000 1003 0200")
        + b"\x5a" * 512
    )
    assert bytes(packet) == expected
    header = dissect(expected)[EstablishConnectionHeader]
    assert (header.ClientGuid, header.ServerGuid, header.TimeStamp, header.Reserved) == (GUID, UUID(int=0), 1, 2)


def test_mqqb_2_2_4_1_order_ack_body_builds_and_dissects():
    body = OrderAckBody(
        TxSequenceID=TxSequenceID(Ordinal=1, TimeStamp=2), TxSequenceNumber=4, TxPreviousSequenceNumber=3
    )
    expected = bytes.fromhex("01000000 02000000 04000000 03000000") + bytes(20)
    assert bytes(body) == expected
    assert len(expected) == 0x24
    assert OrderAckBody(expected).TxSequenceID.TimeStamp == 2


def test_mqqb_2_2_5_1_final_ack_body_builds_and_dissects():
    body = FinalAckBody(TxSequenceNumber=4, TxPreviousSequenceNumber=3, SourceGUID=GUID, MessageID=0x8EE)
    expected = bytes(8) + bytes.fromhex("04000000 03000000") + GUID_BYTES + bytes.fromhex("ee080000")
    assert bytes(body) == expected
    assert FinalAckBody(expected).SourceGUID == GUID


def test_mqqb_2_2_6_packet_size_of_session_ack_includes_its_session_header():
    packet = session_ack(
        AckSequenceNumber=1,
        RecoverableMsgAckSeqNumber=2,
        RecoverableMsgAckFlags=0x80000001,
        UserMsgSequenceNumber=3,
        RecoverableMsgSeqNumber=4,
        WindowSize=5,
        Reserved=6,
    )
    expected = bytes.fromhex("10001b00 4c494f52 24000000 ffffffff 00000100 0100 0200 01000080 0300 0400 0500 0600")
    assert bytes(packet) == expected
    assert bytes(dissect(expected)) == expected


def test_mqqb_2_2_6_packet_size_of_session_ack_may_exclude_its_session_header():
    data = bytes(session_ack(base={"PacketSize": 0x14}))
    assert len(data) == 0x24
    assert dissect(data)["SessionHeader"].WindowSize == 0x40


@pytest.mark.parametrize(
    ("fields", "flags"),
    [
        ({"RC": 1}, 1),
        ({"RF": 1}, 2),
        *(({f"X{bit}": 1}, 1 << bit) for bit in range(2, 16)),
        ({"Flags": 0x7D01}, 0x7D01),
    ],
)
@pytest.mark.parametrize("make", [ping_request, ping_response])
def test_mqqb_2_2_7_ping_builds_and_dissects(make, fields, flags):
    data = bytes(make(Cookie=0x01020304, QMGuid=GUID, **fields))
    assert data == flags.to_bytes(2, "little") + bytes.fromhex("4855 04030201") + GUID_BYTES
    ping = dissect_ping(data)
    assert isinstance(ping, PingPacket)
    assert (ping.Flags, ping.Cookie, ping.QMGuid) == (flags, 0x01020304, GUID)


def test_mqqb_2_4_1_public_key_blob_builds_and_dissects():
    expected = bytes.fromhex("06020000 00a40000 52534131 40000000 01000100 0102030405060708")
    assert bytes(PublicKeyBlob(modulus=bytes(range(1, 9)))) == expected
    blob = PublicKeyBlob(expected)
    assert (blob.bitLen, blob.pubExp, blob.modulus) == (64, 65537, bytes(range(1, 9)))


@pytest.mark.parametrize("offset", [0, 1, 2, 4, 8])
def test_mqqb_2_4_1_public_key_blob_with_wrong_constant_is_refused(offset):
    data = bytearray(bytes(PublicKeyBlob(modulus=b"12345678")))
    data[offset] ^= 1
    with pytest.raises(WireError, match=r"PublicKeyBlob\."):
        PublicKeyBlob(bytes(data))


def test_mqqb_2_4_1_public_key_blob_with_modulus_of_partial_bytes_is_refused():
    with pytest.raises(WireError, match="bitLen: 63 bits are not a whole number of bytes"):
        PublicKeyBlob(bytes(PublicKeyBlob(bitLen=63, modulus=b"12345678")))


def test_mqqb_2_4_2_simple_blob_builds_and_dissects():
    expected = bytes.fromhex("01020000 01680000 00a40000") + bytes(range(256))
    assert bytes(SimpleBlob(sessionKeyAlgorithm=0x6801, encryptedKey=bytes(range(256)))) == expected
    assert SimpleBlob(expected).encryptedKey == bytes(range(256))
