"""MS-MQMQ 2.2.20.1 to 2.2.20.8: the optional headers of a message, from bytes written out by hand."""

from uuid import UUID

import pytest

from reference_qm.codec import (
    DebugHeader,
    FormatError,
    MisuseError,
    MQFAddressHeader,
    MQFDirectQueueFormatName,
    MQFFormatNameElement,
    MQFSignatureHeader,
    PrivateQueueFormatName,
    PublicQueueFormatName,
    SecurityData,
    SecurityHeader,
    SoapHeader,
    TransactionHeader,
    TxSequenceID,
)

GUID_BYTES = "00 11 22 33 44 55 66 77 88 99 AA BB CC DD EE FF"
GUID = UUID("33221100-5544-7766-8899-aabbccddeeff")
PUBLIC = PublicQueueFormatName(GUID)
PRIVATE = PrivateQueueFormatName(GUID, 5)

HEADERS = [
    (
        "32 54 76 80 01 00 00 00 02 00 00 00 03 00 00 00 02 00 00 00",
        TransactionHeader(0x80765432, TxSequenceID(1, 2), 3, 2),
    ),
    (
        "0D 00 00 00 01 00 00 00 02 00 00 00 03 00 00 00 02 00 00 00" + GUID_BYTES,
        TransactionHeader(TransactionHeader.flags(CG=1, FM=1, LM=1), TxSequenceID(1, 2), 3, 2, GUID),
    ),
    ("00 00" + "00" * 14, SecurityHeader()),
    (
        "F1 FF 01 00 02 00 03 00 04 00 00 00 05 00 00 00"
        "11 A1 A2 A3 22 22 B1 B2 33 33 33 C1 44 44 44 44 55 55 55 55 55 D1 D2 D3",
        SecurityHeader(
            0xFFF1,
            SecurityData(
                b"\x11",
                b"\x22" * 2,
                b"\x33" * 3,
                b"\x44" * 4,
                b"\x55" * 5,
                Padding=bytes.fromhex("A1A2A3 B1B2 C1 D1D2D3"),
            ),
        ),
    ),
    (
        "80 00 00 00 00 00 02 00 00 00 00 00 00 00 00 00 33 33 00 00",
        SecurityHeader(0x80, SecurityData(Signature=b"33")),
    ),
    ("00 00 34 12", DebugHeader(0, 0x1234)),
    ("FE FF 00 00", DebugHeader(0xFFFE)),
    ("FF FF 00 00", DebugHeader(0xFFFF)),
    ("05 00 00 00" + GUID_BYTES, DebugHeader(DebugHeader.flags(QT=1, X2=1), 0, GUID)),
    ("20 03 00 00 00 00 00 00 84 03 00 00 00 00 00 00", SoapHeader()),
    (
        "20 03 01 00 02 00 00 00 68 00 00 00 84 03 02 00 02 00 00 00 62 00 62 00",
        SoapHeader("h", "bb", Reserved=1, Reserved1=2, BodyTerminated=False),
    ),
    (
        "FF FF 00 00 01 00 00 00 00 00 EE EE 00 00 00 00 00 00 12 34",
        SoapHeader("", None, 0xFFFF, 0xEEEE, Padding=b"\x124"),
    ),
    ("20 03 00 00 01 00 00 00 00 00 84 03 00 00 00 00 00 00", SoapHeader("", Padding=b"")),
    ("5E 01 00 00 00 00 00 00", MQFSignatureHeader()),
    ("5E 01 01 00 03 00 00 00 AA BB CC", MQFSignatureHeader(b"\xaa\xbb\xcc", Reserved=1, Padding=b"")),
    ("5E 01 00 00 03 00 00 00 AA BB CC DD", MQFSignatureHeader(b"\xaa\xbb\xcc", Padding=b"\xdd")),
    ("0C 00 00 00 64 00 00 00 00 00 00 00", MQFAddressHeader(0x64, HeaderSize=12)),
    (
        "14 00 00 00 C8 00 01 00 01 00 00 00 03 00 61 00 00 00 EE EE",
        MQFAddressHeader(
            0xC8, (MQFFormatNameElement(MQFDirectQueueFormatName("a")),), 20, Reserved=1, Padding=b"\xee\xee"
        ),
    ),
    (
        "12 00 00 00 C8 00 00 00 01 00 00 00 03 00 61 00 00 00 00 00",
        MQFAddressHeader(0xC8, (MQFFormatNameElement(MQFDirectQueueFormatName("a")),), 18),
    ),
    (
        "3A 00 00 00 C8 00 00 00 03 00 00 00 03 00 61 00 00 00"
        "02 00" + GUID_BYTES + "05 00 00 00" + "01 00" + GUID_BYTES + "00 00",
        MQFAddressHeader(
            0xC8,
            (
                MQFFormatNameElement(MQFDirectQueueFormatName("a")),
                MQFFormatNameElement(PRIVATE),
                MQFFormatNameElement(PUBLIC),
            ),
            0x3A,
        ),
    ),
]


@pytest.mark.parametrize(("wire", "record"), HEADERS, ids=lambda value: getattr(type(value), "__name__", ""))
def test_header_parses_and_builds_as_printed(wire, record):
    data = bytes.fromhex(wire)
    assert type(record).parse(data) == record
    assert record.build() == data


def test_transaction_header_flags_have_printed_positions():
    header = TransactionHeader(0x80765432)
    assert (header.CG, header.FA, header.FM, header.LM, header.ID, header.X1, header.X8) == (0, 1, 0, 0, 0x76543, 0, 1)


def test_security_header_flags_do_not_decide_which_items_are_present():
    header = SecurityHeader(SecurityHeader.flags(ST=2, EB=1, AS=5), SecurityData(SecurityID=GUID.bytes_le))
    assert (header.ST, header.AU, header.EB, header.DE, header.AI, header.AS) == (2, 0, 1, 0, 0, 5)
    assert SecurityHeader.parse(header.build()) == header
    assert (header.SenderIdSize, header.EncryptionKeySize, header.SignatureSize) == (16, 0, 0)
    assert (header.SenderCertSize, header.ProviderInfoSize) == (0, 0)


@pytest.mark.parametrize(
    ("kind", "wire", "field", "offset"),
    [
        (TransactionHeader, "01 00 00 00" + "00" * 16, "TransactionHeader.ConnectorQMGuid", 20),
        (SecurityHeader, "00 00 05 00" + "00" * 12 + "00" * 4, "SecurityData.SecurityID", 16),
        (SecurityHeader, "00 00 03 00" + "00" * 12 + "00" * 3, "SecurityData.SecurityID", 19),
        (SecurityHeader, "00" * 12 + "FF FF FF FF", "SecurityData.ProviderInfo", 16),
        (DebugHeader, "01 00 00 00" + "00" * 15, "DebugHeader.QueueIdentifier", 4),
        (SoapHeader, "20 03 00 00 FF FF FF FF" + "00" * 8, "SoapHeader.Header", 8),
        (SoapHeader, "20 03 00 00 00 00 00 00 84 03 00 00 02 00 00 00 00", "SoapHeader.Body", 16),
        (MQFAddressHeader, "0B 00 00 00 64 00 00 00 00 00 00 00", "MQFAddressHeader.HeaderSize", 0),
        (MQFAddressHeader, "0D 00 00 00 64 00 00 00 00 00 00 00", "MQFAddressHeader.FormatNameList", 12),
        (MQFAddressHeader, "10 00 00 00 64 00 00 00 00 00 00 00" + "00" * 4, "MQFAddressHeader.HeaderSize", 12),
        (MQFAddressHeader, "10 00 00 00 64 00 00 00 FF FF FF FF" + "00" * 4, "MQFAddressHeader.ElementCount", 8),
        (
            MQFAddressHeader,
            "10 00 00 00 64 00 00 00 01 00 00 00 01 00 00 00",
            "PublicQueueFormatName.PublicQueueIdentifier",
            14,
        ),
        (MQFSignatureHeader, "5E 01 00 00 05 00 00 00 00 00 00 00", "MQFSignatureHeader.Signature", 8),
        (MQFSignatureHeader, "5E 01 00 00 01 00 00 00 00 00", "MQFSignatureHeader.Padding", 9),
    ],
)
def test_error_of_malformed_header_names_field_and_offset(kind, wire, field, offset):
    with pytest.raises(FormatError) as caught:
        kind.parse(bytes.fromhex(wire))
    assert (caught.value.field, caught.value.offset) == (field, offset)


@pytest.mark.parametrize(
    "record",
    [
        TransactionHeader(ConnectorQMGuid=GUID),
        TransactionHeader(Flags=1),
        DebugHeader(QueueIdentifier=GUID),
        DebugHeader(Flags=1),
        MQFAddressHeader(HeaderSize=13),
        MQFAddressHeader(HeaderSize=11),
    ],
)
def test_header_that_would_not_parse_again_is_not_built(record):
    with pytest.raises(MisuseError):
        record.build()
