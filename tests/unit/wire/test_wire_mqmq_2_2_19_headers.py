"""MS-MQMQ 2.2.19: BaseHeader, UserHeader and MessagePropertiesHeader, compared with bytes written by hand."""

from __future__ import annotations

from uuid import UUID

import pytest

from harness.wire import (
    BaseHeader,
    DirectQueueFormatName,
    MessagePropertiesHeader,
    PrivateQueueFormatName,
    PrivateQueueFormatNameId,
    PublicQueueFormatName,
    UserHeader,
    WireError,
    dissect,
    user_message,
)

GUID = UUID("00112233-4455-6677-8899-aabbccddeeff")
GUID_HEX = "33221100 5544 7766 8899 aabbccddeeff"
DIRECT = DirectQueueFormatName(DirectFormatName="OS:ab")
DIRECT_HEX = "0c00 4f00 5300 3a00 6100 6200 0000 0000"


@pytest.mark.parametrize(
    ("name", "flags"),
    [
        ("IN", 0x0008),
        ("SH", 0x0010),
        ("DH", 0x0020),
        ("X9", 0x0040),
        ("X8", 0x0080),
        ("TR", 0x0100),
        ("X6", 0x0200),
        ("X5", 0x0400),
        ("X4", 0x0800),
        ("X3", 0x1000),
        ("X2", 0x2000),
        ("X1", 0x4000),
        ("X0", 0x8000),
    ],
)
def test_mqmq_2_2_19_1_base_header_flags_have_printed_positions(name, flags):
    header = BaseHeader(PR=0, **{name: 1})
    assert bytes(header)[2:4] == flags.to_bytes(2, "little")
    assert BaseHeader(Flags=flags).getfieldval(name) == 1


def test_mqmq_2_2_19_1_base_header_builds_and_dissects():
    header = BaseHeader(VersionNumber=0x11, Reserved=0x22, PR=7, Signature=0x01020304, PacketSize=5, TimeToReachQueue=6)
    assert bytes(header).hex() == bytes.fromhex("11 22 0700 04030201 05000000 06000000").hex()


@pytest.mark.parametrize(
    ("fields", "flags"),
    [
        ({"RC": 0x1D}, 0x1D),
        ({"DM": 3}, 3 << 5),
        ({"X1": 1}, 1 << 7),
        ({"JN": 1}, 1 << 8),
        ({"JP": 1}, 1 << 9),
        ({"DQ": 7}, 7 << 10),
        ({"AQ": 7}, 7 << 13),
        ({"RQ": 7}, 7 << 16),
        ({"SH": 1}, 1 << 19),
        ({"TH": 1}, 1 << 20),
        ({"MP": 1}, 1 << 21),
        ({"CQ": 1}, 1 << 22),
        ({"MQ": 1}, 1 << 23),
        ({"X2": 1}, 1 << 24),
        ({"AH": 1}, 1 << 25),
        ({"X3": 3}, 3 << 26),
        ({"HH": 1}, 1 << 28),
        ({"X4": 7}, 7 << 29),
    ],
)
def test_mqmq_2_2_19_2_user_header_flags_have_printed_positions(fields, flags):
    header = UserHeader(**fields)
    assert bytes(header)[44:48] == flags.to_bytes(4, "little")
    assert header.Flags == flags


def test_mqmq_2_2_19_2_user_header_without_queues_builds_and_dissects():
    header = UserHeader(
        SourceQueueManager=GUID, QueueManagerAddress=GUID, TimeToBeReceived=1, SentTime=2, MessageID=3, Flags=4
    )
    assert bytes(header).hex() == bytes.fromhex(f"{GUID_HEX} {GUID_HEX} 01000000 02000000 03000000 04000000").hex()


@pytest.mark.parametrize(
    ("fields", "flags", "queues"),
    [
        ({"DestinationQueue": DIRECT}, {"DQ": 7}, DIRECT_HEX),
        ({"DestinationQueue": "OS:ab"}, {"DQ": 7}, DIRECT_HEX),
        ({"DestinationQueue": PublicQueueFormatName(PublicQueueIdentifier=GUID)}, {"DQ": 5}, GUID_HEX),
        ({"DestinationQueue": PrivateQueueFormatNameId(PrivateQueueIdentifier=4)}, {"DQ": 3}, "04000000"),
        ({"AdminQueue": DIRECT}, {"AQ": 7}, DIRECT_HEX),
        ({"AdminQueue": PrivateQueueFormatName(SourceQueueManager=GUID)}, {"AQ": 6}, f"{GUID_HEX} 00000000"),
        ({"AdminQueue": PublicQueueFormatName(PublicQueueIdentifier=GUID)}, {"AQ": 5}, GUID_HEX),
        ({"AdminQueue": PrivateQueueFormatNameId()}, {"AQ": 2}, "00000000"),
        ({"AdminQueue": PrivateQueueFormatNameId(), "AQ": 3}, {"AQ": 3}, "00000000"),
        ({"ResponseQueue": DIRECT}, {"RQ": 7}, DIRECT_HEX),
        ({"ResponseQueue": PrivateQueueFormatName(SourceQueueManager=GUID)}, {"RQ": 6}, f"{GUID_HEX} 00000000"),
        ({"ResponseQueue": PublicQueueFormatName(PublicQueueIdentifier=GUID)}, {"RQ": 5}, GUID_HEX),
        ({"ResponseQueue": PrivateQueueFormatNameId()}, {"RQ": 2}, "00000000"),
        ({"ResponseQueue": PrivateQueueFormatNameId(), "RQ": 4}, {"RQ": 4}, "00000000"),
        ({"RQ": 1}, {"RQ": 1}, ""),
        ({"ConnectorType": GUID}, {"CQ": 1}, GUID_HEX),
        (
            {"DestinationQueue": DIRECT, "AdminQueue": DIRECT, "ResponseQueue": DIRECT, "ConnectorType": GUID},
            {"DQ": 7, "AQ": 7, "RQ": 7, "CQ": 1},
            DIRECT_HEX * 3 + GUID_HEX,
        ),
    ],
)
def test_mqmq_2_2_19_2_queue_names_and_connector_type_build_and_dissect(fields, flags, queues):
    data = bytes(UserHeader(**fields))
    assert data[48:].hex() == bytes.fromhex(queues).hex()
    read = UserHeader(data)
    assert {name: read.getfieldval(name) for name in flags} == flags
    assert bytes(read) == data


@pytest.mark.parametrize(("flag", "value"), [*(("DQ", n) for n in (1, 2, 4, 6)), *(("AQ", n) for n in (1, 4))])
def test_mqmq_2_2_19_2_queue_type_without_layout_is_refused(flag, value):
    data = bytes(user_message(destination=None, user={flag: value}))
    with pytest.raises(WireError, match=rf"UserHeader\.{flag} is {value}, for which \w+ has no layout"):
        dissect(data)


@pytest.mark.parametrize(
    ("name", "flags"), [("PA", 1), ("PR", 2), ("NA", 4), ("NR", 8), ("X4", 16), ("X5", 32), ("X6", 64), ("X7", 128)]
)
def test_mqmq_2_2_19_3_message_properties_flags_have_printed_positions(name, flags):
    assert bytes(MessagePropertiesHeader(**{name: 1}))[0] == flags


def test_mqmq_2_2_19_3_message_properties_header_builds_and_dissects():
    header = MessagePropertiesHeader(
        PA=1,
        MessageClass=0x4000,
        CorrelationID=bytes(range(20)),
        BodyType=8,
        ApplicationTag=9,
        PrivacyLevel=5,
        HashAlgorithm=0x800E,
        EncryptionAlgorithm=0x6610,
        Label="ab",
        ExtensionData=b"xyz",
        MessageBody=b"body",
    )
    expected = bytes.fromhex(
        "01 03 0040 000102030405060708090a0b0c0d0e0f10111213 08000000 09000000 04000000 04000000"
        "05000000 0e800000 10660000 03000000 6100 6200 0000 78797a 626f6479 000000"
    )
    assert bytes(header).hex() == expected.hex()
    read = MessagePropertiesHeader(expected)
    assert (read.LabelLength, read.Label, read.ExtensionData, read.MessageBody) == (3, "ab", b"xyz", b"body")


def test_mqmq_2_2_19_3_empty_label_is_omitted():
    read = MessagePropertiesHeader(bytes(MessagePropertiesHeader()))
    assert (read.LabelLength, read.Label, len(bytes(read))) == (0, "", 56)


def test_mqmq_2_2_19_3_label_without_terminator_is_dissected_as_bytes():
    data = bytes(MessagePropertiesHeader(Label=b"a\0b\0"))
    read = MessagePropertiesHeader(data)
    assert (read.LabelLength, read.Label) == (2, b"a\0b\0")
    assert bytes(read) == data


@pytest.mark.parametrize("size", range(5))
def test_mqmq_2_2_19_3_message_properties_are_padded_to_4_bytes(size):
    data = bytes(MessagePropertiesHeader(MessageBody=b"x" * size))
    assert len(data) % 4 == 0
    assert len(MessagePropertiesHeader(data).Padding) == -size % 4
