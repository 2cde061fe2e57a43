"""MS-MQMQ 2.2.5, 2.2.8, 2.2.18; MS-MQQB 2.2.4.1, 2.2.5.1, 2.4: small structures, from bytes written out by hand."""

from uuid import UUID

import pytest

from reference_qm.codec import (
    DirectQueueFormatName,
    FinalAckBody,
    FormatError,
    MessageClass,
    MessageIdentifier,
    MisuseError,
    MQFDirectQueueFormatName,
    MQFDistributionQueueFormatName,
    MQFFormatNameElement,
    ObjectID,
    OrderAckBody,
    PrivateQueueFormatName,
    PrivateQueueFormatNameId,
    ProviderInfo,
    PublicKeyBlob,
    PublicQueueFormatName,
    SequenceInfo,
    SimpleBlob,
    TxSequenceID,
    XactUow,
)

GUID_BYTES = "00 11 22 33 44 55 66 77 88 99 AA BB CC DD EE FF"
GUID = UUID("33221100-5544-7766-8899-aabbccddeeff")
RECORDS = [
    ("FE FF FF FF FF FF FF FF 03 00 00 00 02 00 00 00", SequenceInfo(SeqID=-2, SeqNo=3, PrevNo=2)),
    (GUID_BYTES + "04 00 00 00", ObjectID(Lineage=GUID, Uniquifier=4)),
    ("01 00 00 00 02 00 00 00", TxSequenceID(Ordinal=1, TimeStamp=2)),
    (GUID_BYTES + "EE 08 00 00", MessageIdentifier(QueueManagerGuid=GUID, Ordinal=2286)),
    (GUID_BYTES, XactUow(rgb=bytes.fromhex(GUID_BYTES))),
    ("04 00 00 00", PrivateQueueFormatNameId(PrivateQueueIdentifier=4)),
    (GUID_BYTES, PublicQueueFormatName(PublicQueueIdentifier=GUID)),
    (GUID_BYTES + "09 00 00 00", PrivateQueueFormatName(SourceQueueManager=GUID, PrivateQueueIdentifier=9)),
    ("06 00 61 00 62 00 00 00", DirectQueueFormatName("ab")),
    ("04 00 61 00 00 00 BE EF", DirectQueueFormatName("a", Padding=b"\xbe\xef")),
    ("04 00 61 00 00 00 00 00", DirectQueueFormatName("a")),
    ("02 00 61 00", DirectQueueFormatName("a", Terminated=False)),
    ("00 00 00 00", DirectQueueFormatName("", Terminated=False)),
    ("02 00 00 00", DirectQueueFormatName("")),
    ("06 00 61 00 00 00 00 00", DirectQueueFormatName("a\0")),
    ("04 00 00 D8 00 00 00 00", DirectQueueFormatName("\ud800")),
    ("01 00" + GUID_BYTES, MQFFormatNameElement(PublicQueueFormatName(GUID))),
    ("02 00 00 00" + GUID_BYTES + "05 00 00 00", MQFFormatNameElement(PrivateQueueFormatName(GUID, 5))),
    (
        "02 00 AB CD" + GUID_BYTES + "05 00 00 00",
        MQFFormatNameElement(PrivateQueueFormatName(GUID, 5), Padding=b"\xab\xcd"),
    ),
    ("03 00 61 00 62 00 00 00", MQFFormatNameElement(MQFDirectQueueFormatName("ab"))),
    ("03 00 61 01 00 62 00 00", MQFFormatNameElement(MQFDirectQueueFormatName("\u0161\u6200"))),
    ("06 00 00 00" + GUID_BYTES, MQFFormatNameElement(MQFDistributionQueueFormatName(GUID))),
    ("01 00 00 00 63 00 00 00", ProviderInfo(ProviderType=1, ProviderName="c")),
    (
        "01 00 00 00 02 00 00 00 03 00 00 00 02 00 00 00" + "FF" * 20,
        OrderAckBody(TxSequenceID(1, 2), TxSequenceNumber=3, TxPreviousSequenceNumber=2, Reserved=b"\xff" * 20),
    ),
    (
        "01 00 00 00 02 00 00 00 03 00 00 00 02 00 00 00" + GUID_BYTES + "EE 08 00 00",
        FinalAckBody(TxSequenceID(1, 2), 3, 2, SourceGUID=GUID, MessageID=2286),
    ),
    (
        "06 02 00 00 00 A4 00 00 52 53 41 31 10 00 00 00 01 00 01 00 AB CD",
        PublicKeyBlob(pubExp=65537, modulus=b"\xab\xcd"),
    ),
    (
        "01 02 00 00 10 66 00 00 00 A4 00 00" + "5A" * 256,
        SimpleBlob(sessionKeyAlgorithm=0x6610, encryptedKey=b"\x5a" * 256),
    ),
]


@pytest.mark.parametrize(("wire", "record"), RECORDS, ids=lambda value: getattr(type(value), "__name__", ""))
def test_data_type_parses_and_builds_as_printed(wire, record):
    data = bytes.fromhex(wire)
    assert type(record).parse(data) == record
    assert record.build() == data


@pytest.mark.parametrize(("wire", "record"), RECORDS, ids=lambda value: getattr(type(value), "__name__", ""))
def test_data_type_of_wrong_length_is_refused(wire, record):
    data = bytes.fromhex(wire)
    for changed in (data[:-1], data + b"\0"):
        with pytest.raises(FormatError):
            type(record).parse(changed)


@pytest.mark.parametrize(
    ("kind", "wire", "field", "offset"),
    [
        (DirectQueueFormatName, "03 00 61 00 00 00 00 00", "DirectQueueFormatName.Count", 0),
        (DirectQueueFormatName, "08 00 61 00 00 00", "DirectQueueFormatName.DirectFormatName", 2),
        (DirectQueueFormatName, "04 00 61 00 00 00", "DirectQueueFormatName.Padding", 6),
        (MQFFormatNameElement, "04 00" + GUID_BYTES, "MQFFormatNameElement.FormatType", 0),
        (MQFFormatNameElement, "03 00 61 00 62 00", "MQFDirectQueueFormatName.DirectFormatName", 2),
        (PublicKeyBlob, "06 02 00 00 00 24 00 00 52 53 41 31 00 00 00 00 01 00 01 00", "PUBLICKEYBLOB", 0),
        (
            PublicKeyBlob,
            "06 02 00 00 00 A4 00 00 52 53 41 31 0F 00 00 00 01 00 01 00 AB CD",
            "PUBLICKEYBLOB.bitLen",
            12,
        ),
        (PublicKeyBlob, "06 02 00 00 00 A4 00 00 52 53 41 31 18 00 00 00 01 00 01 00 AB", "PUBLICKEYBLOB.modulus", 20),
        (SimpleBlob, "01 02 00 00 10 66 00 00 00 A5 00 00" + "5A" * 256, "SIMPLEBLOB", 8),
        (OrderAckBody, "00" * 37, "OrderAckBody", 36),
    ],
)
def test_error_of_malformed_data_type_names_field_and_offset(kind, wire, field, offset):
    with pytest.raises(FormatError) as caught:
        kind.parse(bytes.fromhex(wire))
    assert (caught.value.field, caught.value.offset) == (field, offset)


def test_tx_sequence_ids_compare_as_64_bits():
    assert int(TxSequenceID(Ordinal=1, TimeStamp=2)) == 0x0000000200000001


def test_count_of_direct_format_name_is_computed_from_its_text():
    assert DirectQueueFormatName("ab").Count == 6
    assert MQFFormatNameElement(MQFDirectQueueFormatName("ab")).FormatType == 3


def test_name_with_embedded_null_is_not_built():
    with pytest.raises(MisuseError):
        MQFDirectQueueFormatName("a\0b").build()


def test_value_too_large_for_its_field_is_not_built():
    with pytest.raises(MisuseError, match="PrivateQueueFormatNameId"):
        PrivateQueueFormatNameId(1 << 32).build()
    with pytest.raises(MisuseError, match=r"XACTUOW.rgb takes 16 bytes, not 15"):
        XactUow(bytes(15)).build()
    with pytest.raises(MisuseError, match=r"DirectQueueFormatName.Padding takes 2 bytes, not 1"):
        DirectQueueFormatName("a", Padding=b"x").build()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("NORMAL", 0),
        ("ORDER_ACK", 0xFF),
        ("ACK_RECEIVE", 0x4000),
        ("NACK_BAD_DST_Q", 0x8000),
        ("NACK_Q_PURGED", 0xC001),
    ],
)
def test_message_class_has_printed_number(name, value):
    assert MessageClass[f"MQMSG_CLASS_{name}"] == value


def test_there_are_twenty_message_classes():
    assert len(MessageClass) == 20
