"""MS-MQMQ 2.2.5, 2.2.8 and 2.2.18: identifiers and names of queues, compared with bytes written by hand."""

from __future__ import annotations

from uuid import UUID

import pytest

from harness.wire import (
    DirectQueueFormatName,
    MessageIdentifier,
    MQFAddressHeader,
    MQFDirectQueueFormatName,
    MQFDistributionQueueFormatName,
    MQFFormatNameElement,
    ObjectID,
    PrivateQueueFormatName,
    PrivateQueueFormatNameId,
    PublicQueueFormatName,
    SequenceInfo,
    TxSequenceID,
    WireError,
    XactUow,
)

GUID = UUID("00112233-4455-6677-8899-aabbccddeeff")
GUID_HEX = "33221100 5544 7766 8899 aabbccddeeff"


@pytest.mark.parametrize(
    ("structure", "hexadecimal"),
    [
        (SequenceInfo(SeqID=-2, SeqNo=3, PrevNo=4), "feffffffffffffff 03000000 04000000"),
        (ObjectID(Lineage=GUID, Uniquifier=7), f"{GUID_HEX} 07000000"),
        (XactUow(rgb=bytes(range(16))), "000102030405060708090a0b0c0d0e0f"),
        (TxSequenceID(Ordinal=1, TimeStamp=0x01020304), "01000000 04030201"),
        (MessageIdentifier(QueueManagerGuid=GUID, Ordinal=0x8EE), f"{GUID_HEX} ee080000"),
        (PrivateQueueFormatNameId(PrivateQueueIdentifier=4), "04000000"),
        (PublicQueueFormatName(PublicQueueIdentifier=GUID), GUID_HEX),
        (PrivateQueueFormatName(SourceQueueManager=GUID, PrivateQueueIdentifier=9), f"{GUID_HEX} 09000000"),
        (DirectQueueFormatName(DirectFormatName="OS:a"), "0a00 4f00 5300 3a00 6100 0000"),
        (DirectQueueFormatName(DirectFormatName="OS:ab"), "0c00 4f00 5300 3a00 6100 6200 0000 0000"),
        (DirectQueueFormatName(DirectFormatName=""), "0200 0000"),
        (DirectQueueFormatName(DirectFormatName=b""), "0000 0000"),
        (DirectQueueFormatName(DirectFormatName="OS:ab", Padding=b"\xfe\xff"), "0c00 4f005300 3a006100 62000000 feff"),
        (DirectQueueFormatName(Count=0xFFFF, DirectFormatName="é"), "ffff e900 0000 0000"),
        (
            MQFFormatNameElement(FormatName=MQFDirectQueueFormatName(DirectFormatName="OS:a")),
            "0300 4f00 5300 3a00 6100 0000",
        ),
        (MQFFormatNameElement(FormatName=PublicQueueFormatName(PublicQueueIdentifier=GUID)), f"0100 {GUID_HEX}"),
        (
            MQFFormatNameElement(FormatName=PrivateQueueFormatName(SourceQueueManager=GUID, PrivateQueueIdentifier=1)),
            f"0200 0000 {GUID_HEX} 01000000",
        ),
        (
            MQFFormatNameElement(FormatName=MQFDistributionQueueFormatName(DistributionListIdentifier=GUID)),
            f"0600 0000 {GUID_HEX}",
        ),
        (MQFFormatNameElement(FormatType=4, FormatName=None), "0400"),
    ],
)
def test_data_type_structure_is_built_as_printed(structure, hexadecimal):
    assert bytes(structure).hex() == bytes.fromhex(hexadecimal).hex()


@pytest.mark.parametrize(
    ("structure", "hexadecimal", "fields"),
    [
        (SequenceInfo, "feffffffffffffff 03000000 04000000", {"SeqID": -2, "SeqNo": 3, "PrevNo": 4}),
        (ObjectID, f"{GUID_HEX} 07000000", {"Lineage": GUID, "Uniquifier": 7}),
        (MessageIdentifier, f"{GUID_HEX} ee080000", {"QueueManagerGuid": GUID, "Ordinal": 0x8EE}),
        (
            DirectQueueFormatName,
            "0800 4f00 5300 3a00 0000 abcd",
            {"Count": 8, "DirectFormatName": "OS:", "Padding": b"\xab\xcd"},
        ),
        (DirectQueueFormatName, "0400 4f00 5300 0000", {"DirectFormatName": b"O\0S\0"}),  # no terminator: kept as bytes
        (
            DirectQueueFormatName,
            "0400 00d8 0000 0000",
            {"DirectFormatName": "\ud800"},
        ),  # no character, kept all the same
    ],
)
def test_data_type_structure_is_dissected_and_rebuilt(structure, hexadecimal, fields):
    data = bytes.fromhex(hexadecimal)
    dissected = structure(data)
    assert {name: getattr(dissected, name) for name in fields} == fields
    assert bytes(dissected) == data


def test_padding_in_a_list_of_names_counts_from_the_list():
    """The padding of a name in a list depends on its place in the list: the GUID of the first name is padded, and the
    GUID of the last name, which begins at a multiple of 2 only, is not.
    """
    elements = [
        MQFFormatNameElement(FormatName=PrivateQueueFormatName(SourceQueueManager=GUID)),
        MQFFormatNameElement(FormatName=MQFDirectQueueFormatName(DirectFormatName="")),
        MQFFormatNameElement(FormatName=MQFDirectQueueFormatName(DirectFormatName="a")),
        MQFFormatNameElement(FormatName=PrivateQueueFormatName(SourceQueueManager=GUID)),
    ]
    data = bytes(MQFAddressHeader(FormatNameList=elements))
    names = f"0200 0000 {GUID_HEX} 00000000  0300 0000  0300 6100 0000  0200 {GUID_HEX} 00000000"
    assert data.hex() == bytes.fromhex("44000000 6400 0000 04000000" + names).hex()
    read = MQFAddressHeader(data)
    assert [element.FormatType for element in read.FormatNameList] == [2, 3, 3, 2]
    assert [element.Padding for element in read.FormatNameList] == [b"\0\0", b"", b"", b""]
    assert bytes(read) == data


@pytest.mark.parametrize(
    ("hexadecimal", "error"),
    [
        ("0d000000 6400 0000 00000000", "HeaderSize is 13, but its padded names have 12 bytes"),
        ("10000000 6400 0000 01000000 0400 0000", "FormatType: 0x0004 has no layout"),
        ("10000000 6400 0000 01000000 0300 6100", "has no terminator in the remaining 2 bytes"),
        ("10000000 6400 0000 01000000 0100 0000", "PublicQueueIdentifier: only 2 bytes are left"),
        ("0c000000 6400 0000 ffffffff", "ElementCount is 4294967295, but there are only 0 elements"),
        ("0c000000 6400 0000 000000", "ElementCount: only 3 bytes are left"),
    ],
)
def test_format_name_list_larger_than_its_size_is_refused(hexadecimal, error):
    with pytest.raises(WireError, match=error):
        MQFAddressHeader(bytes.fromhex(hexadecimal))


def test_size_of_a_format_name_list_may_exclude_its_padding():
    data = bytes.fromhex("12000000 6400 0000 01000000 0300 6100 0000 beef")
    read = MQFAddressHeader(data)
    assert (read.HeaderSize, read.Padding) == (18, b"\xbe\xef")
    assert bytes(read) == data


def test_odd_number_of_text_bytes_is_refused():
    with pytest.raises(WireError, match="DirectFormatName: 3 bytes are not a whole number of characters"):
        DirectQueueFormatName(bytes.fromhex("0300 4f0000 000000"))


def test_bytes_after_a_data_type_structure_are_refused():
    with pytest.raises(WireError, match="3 bytes are left over after TxSequenceID"):
        TxSequenceID(bytes(11))
