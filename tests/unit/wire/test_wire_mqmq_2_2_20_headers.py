"""MS-MQMQ 2.2.20: the optional headers and their order, compared with bytes written by hand."""

from __future__ import annotations

from uuid import UUID

import pytest

from harness.wire import (
    DebugHeader,
    MessagePropertiesHeader,
    MQFAddressHeader,
    MQFDirectQueueFormatName,
    MQFFormatNameElement,
    MQFSignatureHeader,
    MultiQueueFormatHeader,
    ProviderInfo,
    SecurityHeader,
    SessionHeader,
    SoapHeader,
    TransactionHeader,
    TxSequenceID,
    UserHeader,
    WireError,
    dissect,
    user_message,
)

GUID = UUID("00112233-4455-6677-8899-aabbccddeeff")
GUID_HEX = "33221100 5544 7766 8899 aabbccddeeff"
ADDRESSES = [MQFFormatNameElement(FormatName=MQFDirectQueueFormatName(DirectFormatName="a"))]


def test_mqmq_2_2_20_packet_has_all_headers_in_order():
    data = bytes(user_message(transaction={}, security={}, debug={}, soap={}, mqf={}, session={}))
    layers = [type(layer) for layer in dissect(data).payload.iterpayloads()]
    assert layers == [
        UserHeader,
        TransactionHeader,
        SecurityHeader,
        MessagePropertiesHeader,
        DebugHeader,
        SoapHeader,
        MultiQueueFormatHeader,
        SessionHeader,
    ]


@pytest.mark.parametrize(
    ("header", "layer", "flag"),
    [
        ("transaction", "UserHeader", "TH"),
        ("security", "UserHeader", "SH"),
        ("debug", "BaseHeader", "DH"),
        ("soap", "UserHeader", "HH"),
        ("mqf", "UserHeader", "MQ"),
        ("session", "BaseHeader", "SH"),
    ],
)
def test_mqmq_2_2_20_header_is_present_exactly_when_its_flag_is_set(header, layer, flag):
    with_it, without = bytes(user_message(**{header: {}})), bytes(user_message())
    assert dissect(with_it)[layer].getfieldval(flag) == 1
    assert dissect(without)[layer].getfieldval(flag) == 0
    owner = "base" if layer == "BaseHeader" else "user"
    unannounced = bytes(user_message(**{header: {}, owner: {flag: 0}}))
    with pytest.raises(WireError):
        dissect(unannounced)
    missing = bytes(user_message(**{owner: {flag: 1}}))
    with pytest.raises(WireError):
        dissect(missing)


def test_mqmq_2_2_20_packet_without_message_properties_is_dissected():
    data = bytes(user_message(user={"MP": 0}))
    with pytest.raises(WireError, match=r"UserHeader\.MP is 0, so the MessagePropertiesHeader is missing"):
        dissect(data)


def test_mqmq_2_2_20_1_multi_queue_format_header_builds_and_dissects():
    header = MultiQueueFormatHeader(
        Destination=ADDRESSES, Administration=[], Response=[], Signature=MQFSignatureHeader(Signature=b"\xaa")
    )
    expected = bytes.fromhex(
        "14000000 6400 0000 01000000 0300 6100 0000 0000"
        "0c000000 c800 0000 00000000"
        "0c000000 2c01 0000 00000000"
        "5e01 0000 01000000 aa 000000"
    )
    assert bytes(header).hex() == expected.hex()
    read = MultiQueueFormatHeader(expected)
    assert read.Destination.FormatNameList[0].FormatName.DirectFormatName == "a"
    assert (read.Signature.Size, read.Signature.Signature) == (1, b"\xaa")
    assert bytes(read) == expected


def test_mqmq_2_2_20_1_given_header_of_destination_list_is_kept():
    header = MultiQueueFormatHeader(Administration=MQFAddressHeader(HeaderID=0x1234, ElementCount=7))
    assert bytes(header)[12:24].hex() == bytes.fromhex("0c000000 3412 0000 07000000").hex()


@pytest.mark.parametrize(
    ("fields", "flags"),
    [
        ({"CG": 1}, 1),
        ({"FA": 1}, 2),
        ({"FM": 1}, 4),
        ({"LM": 1}, 8),
        ({"ID": 0xFFFFF}, 0xFFFFF0),
        *(({f"X{n}": 1}, 1 << (23 + n)) for n in range(1, 9)),
    ],
)
def test_mqmq_2_2_20_5_transaction_flags_have_printed_positions(fields, flags):
    assert bytes(TransactionHeader(**fields))[:4] == flags.to_bytes(4, "little")


def test_mqmq_2_2_20_5_transaction_header_builds_and_dissects():
    header = TransactionHeader(
        ID=1,
        TxSequenceID=TxSequenceID(Ordinal=2, TimeStamp=3),
        TxSequenceNumber=5,
        PreviousTxSequenceNumber=4,
        ConnectorQMGuid=GUID,
    )
    expected = bytes.fromhex(f"11000000 02000000 03000000 05000000 04000000 {GUID_HEX}")
    assert bytes(header).hex() == expected.hex()
    assert TransactionHeader(expected).ConnectorQMGuid == GUID


@pytest.mark.parametrize(
    ("fields", "flags"),
    [
        ({"ST": 0xF}, 0x000F),
        ({"AU": 1}, 0x0010),
        ({"EB": 1}, 0x0020),
        ({"DE": 1}, 0x0040),
        ({"AI": 1}, 0x0080),
        ({"AS": 0xF}, 0x0F00),
        *(({f"X{bit}": 1}, 1 << bit) for bit in range(12, 16)),
    ],
)
def test_mqmq_2_2_20_6_security_flags_have_printed_positions(fields, flags):
    assert bytes(SecurityHeader(**fields))[:2] == flags.to_bytes(2, "little")


def test_mqmq_2_2_20_6_security_data_builds_and_dissects():
    header = SecurityHeader(
        ST=1, SecurityID=b"12345", EncryptionKey=b"k", Signature=b"", SenderCert=b"cert", ProviderInfo=b"pr"
    )
    expected = bytes.fromhex("8100 0500 0100 0000 04000000 02000000 3132333435 000000 6b 000000 63657274 7072 0000")
    assert bytes(header).hex() == expected.hex()
    read = SecurityHeader(expected)
    assert (read.SecurityID, read.EncryptionKey, read.Signature) == (b"12345", b"k", b"")
    assert (read.SenderCert, read.ProviderInfo) == (b"cert", b"pr")


def test_mqmq_2_2_20_6_padding_of_security_data_is_kept():
    data = bytes.fromhex("8100 0100 0000 0000 00000000 00000000 31 aabbcc")
    read = SecurityHeader(data)
    assert (read.SecurityID, read.SecurityIDPadding) == (b"1", b"\xaa\xbb\xcc")
    assert bytes(read) == data


def test_mqmq_2_2_20_7_soap_header_builds_and_dissects():
    data = bytes(SoapHeader(Header="h", Body="bd", Reserved=1, Reserved1=2))
    assert data.hex() == bytes.fromhex("2003 0100 02000000 6800 0000 8403 0200 03000000 6200 6400 0000 0000").hex()
    read = SoapHeader(data)
    assert (read.Header, read.Body, read.Padding) == ("h", "bd", b"\0\0")


def test_mqmq_2_2_20_6_provider_info_builds_and_dissects():
    data = bytes(SecurityHeader(ProviderInfo=ProviderInfo(ProviderType=24, ProviderName="ab")))[16:]
    assert data.hex() == bytes.fromhex("18000000 6100 6200 0000 0000").hex()
    assert ProviderInfo(data[:10]).ProviderName == "ab"


@pytest.mark.parametrize("session", [None, {}])
@pytest.mark.parametrize(
    ("header", "layer"),
    [
        ({"soap": {"Header": "h", "Padding": b""}}, "SoapHeader"),
        ({"mqf": {"Signature": MQFSignatureHeader(Signature=b"12345", Padding=b"")}}, "MQFSignatureHeader"),
    ],
)
def test_mqmq_2_2_20_last_header_without_padding_is_accepted(header, layer, session):
    data = bytes(user_message(session=session, **header))
    assert dissect(data)[layer].Padding == b""
    assert bytes(dissect(data)) == data


@pytest.mark.parametrize(
    ("fields", "hexadecimal"),
    [
        ({}, "0000 0000"),
        ({"QueueIdentifier": GUID}, f"0100 0000 {GUID_HEX}"),
        ({"QT": 3, "Reserved": 5}, "0300 0500"),
        *(({f"X{bit}": 1}, f"{(1 << bit).to_bytes(2, 'little').hex()} 0000") for bit in range(2, 16)),
    ],
)
def test_mqmq_2_2_20_8_debug_header_builds_and_dissects(fields, hexadecimal):
    data = bytes(DebugHeader(**fields))
    assert data.hex() == bytes.fromhex(hexadecimal).hex()
    assert DebugHeader(data).QueueIdentifier == fields.get("QueueIdentifier")
