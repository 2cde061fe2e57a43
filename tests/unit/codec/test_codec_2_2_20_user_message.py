"""MS-MQMQ 2.2.19.2, 2.2.19.3, 2.2.20: the UserMessage packet and its headers, from bytes written out by hand."""

from dataclasses import replace
from uuid import UUID

import pytest

from reference_qm.codec import (
    BaseHeader,
    DebugHeader,
    DirectQueueFormatName,
    FormatError,
    MessagePropertiesHeader,
    MisuseError,
    MQFSignatureHeader,
    MultiQueueFormatHeader,
    PrivateQueueFormatName,
    PrivateQueueFormatNameId,
    PublicQueueFormatName,
    SecurityData,
    SecurityHeader,
    SessionHeader,
    SoapHeader,
    TransactionHeader,
    UserHeader,
    UserMessagePacket,
    parse_framed_packet,
    parse_packet,
)

GUID_BYTES = "00 11 22 33 44 55 66 77 88 99 AA BB CC DD EE FF"
GUID = UUID("33221100-5544-7766-8899-aabbccddeeff")
USER_FIXED = GUID_BYTES + "00" * 16 + "FF FF FF FF 01 00 00 00 02 00 00 00"
PROPERTIES = (
    "05 {label} 34 12" + "AB" * 20 + "08 00 00 00 07 00 00 00 {body} {allocated}"
    "01 00 00 00 04 80 00 00 01 68 00 00 {extension}"
)


def properties(label: int = 0, body: int = 0, extension: int = 0, allocated: int | None = None) -> str:
    def u32(value: int) -> str:
        return value.to_bytes(4, "little").hex()

    return PROPERTIES.format(
        label=f"{label:02x}",
        body=u32(body),
        allocated=u32(body if allocated is None else allocated),
        extension=u32(extension),
    )


def flags(**bits: int) -> str:
    return UserHeader.flags(**bits).to_bytes(4, "little").hex()


QUEUES = {
    PrivateQueueFormatNameId(4): "04 00 00 00",
    PublicQueueFormatName(GUID): GUID_BYTES,
    PrivateQueueFormatName(GUID, 5): GUID_BYTES + "05 00 00 00",
    DirectQueueFormatName("a"): "04 00 61 00 00 00 00 00",
}
PRIVATE_ID, PUBLIC, PRIVATE, DIRECT = QUEUES


@pytest.mark.parametrize(
    ("field", "bits", "kind", "queue"),
    [
        ("DestinationQueue", "DQ", 0, None),
        ("DestinationQueue", "DQ", 3, PRIVATE_ID),
        ("DestinationQueue", "DQ", 5, PUBLIC),
        ("DestinationQueue", "DQ", 7, DIRECT),
        ("AdminQueue", "AQ", 0, None),
        ("AdminQueue", "AQ", 2, PRIVATE_ID),
        ("AdminQueue", "AQ", 3, PRIVATE_ID),
        ("AdminQueue", "AQ", 5, PUBLIC),
        ("AdminQueue", "AQ", 6, PRIVATE),
        ("AdminQueue", "AQ", 7, DIRECT),
        ("ResponseQueue", "RQ", 0, None),
        ("ResponseQueue", "RQ", 1, None),
        ("ResponseQueue", "RQ", 2, PRIVATE_ID),
        ("ResponseQueue", "RQ", 3, PRIVATE_ID),
        ("ResponseQueue", "RQ", 4, PRIVATE_ID),
        ("ResponseQueue", "RQ", 5, PUBLIC),
        ("ResponseQueue", "RQ", 6, PRIVATE),
        ("ResponseQueue", "RQ", 7, DIRECT),
    ],
)
def test_every_queue_type_has_its_layout(field, bits, kind, queue):
    wire = bytes.fromhex(USER_FIXED + flags(**{bits: kind}) + QUEUES.get(queue, ""))
    header = UserHeader.parse(wire)
    assert getattr(header, field) == queue
    assert getattr(header, bits) == kind
    assert (header.SourceQueueManager, header.TimeToBeReceived, header.SentTime, header.MessageID) == (
        GUID,
        0xFFFFFFFF,
        1,
        2,
    )
    assert header.build() == wire


@pytest.mark.parametrize(
    ("bits", "kind"),
    [("DQ", 1), ("DQ", 2), ("DQ", 4), ("DQ", 6), ("AQ", 1), ("AQ", 4)],
)
def test_a_queue_type_without_layout_is_refused(bits, kind):
    wire = bytes.fromhex(USER_FIXED + flags(**{bits: kind}) + "00" * 40)
    with pytest.raises(FormatError) as caught:
        UserHeader.parse(wire)
    assert (caught.value.field, caught.value.offset, caught.value.section) == (
        "UserHeader.Flags",
        44,
        "MS-MQMQ 2.2.19.2",
    )
    with pytest.raises(MisuseError, match="no queue layout is defined"):
        UserHeader(Flags=UserHeader.flags(**{bits: kind})).build()


def test_user_header_has_queues_and_connector_type_in_order():
    wire = bytes.fromhex(
        USER_FIXED + flags(DQ=7, AQ=5, RQ=3, CQ=1) + QUEUES[DIRECT] + GUID_BYTES + "04 00 00 00" + GUID_BYTES
    )
    header = UserHeader.parse(wire)
    assert (header.DestinationQueue, header.AdminQueue, header.ResponseQueue) == (DIRECT, PUBLIC, PRIVATE_ID)
    assert header.ConnectorType == GUID
    assert header.build() == wire


def test_every_bit_of_the_user_header_has_its_place():
    header = UserHeader(Flags=0b101_1_01_0_1_0_1_1_0_1_011_110_111_0_1_1_10_10011)
    names = ("RC", "DM", "X1", "JN", "JP", "DQ", "AQ", "RQ", "SH", "TH", "MP", "CQ", "MQ", "X2", "AH", "X3", "HH", "X4")
    assert [getattr(header, name) for name in names] == [19, 2, 1, 1, 0, 7, 6, 3, 1, 0, 1, 1, 0, 1, 0, 1, 1, 5]
    assert UserHeader.flags(**{name: getattr(header, name) for name in names}) == header.Flags


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (UserHeader(Flags=UserHeader.flags(DQ=7)), "announces a DirectQueueFormatName, not NoneType"),
        (UserHeader(DestinationQueue=DIRECT), "announces no queue, not DirectQueueFormatName"),
        (UserHeader(Flags=UserHeader.flags(DQ=5), DestinationQueue=DIRECT), "announces a PublicQueueFormatName"),
        (UserHeader(ConnectorType=GUID), "CQ does not match the presence of ConnectorType"),
    ],
)
def test_user_header_with_flags_that_contradict_its_queues_is_not_built(header, message):
    with pytest.raises(MisuseError, match=message):
        header.build()


@pytest.mark.parametrize(
    ("wire", "expected"),
    [
        (properties(), {}),
        (properties(1) + "00 00 00 00", {"Label": ""}),
        (properties(2) + "68 00 00 00", {"Label": "h"}),
        (properties(2) + "68 00 69 00", {"Label": "hi", "LabelTerminated": False}),
        (
            properties(2, body=3, extension=2) + "68 00 00 00 E1 E2 B1 B2 B3 77 88 99",
            {"Label": "h", "ExtensionData": b"\xe1\xe2", "MessageBody": b"\xb1\xb2\xb3", "Padding": b"\x77\x88\x99"},
        ),
        (properties(body=1, allocated=9) + "B1 00 00 00", {"MessageBody": b"\xb1", "AllocationBodySize": 9}),
    ],
)
def test_message_properties_header_parses_and_builds_as_printed(wire, expected):
    data = bytes.fromhex(wire)
    header = MessagePropertiesHeader.parse(data)
    fields = {"Flags": 5, "MessageClass": 0x1234, "CorrelationID": b"\xab" * 20, "BodyType": 8, "ApplicationTag": 7}
    fields |= {"AllocationBodySize": 0, "PrivacyLevel": 1, "HashAlgorithm": 0x8004, "EncryptionAlgorithm": 0x6801}
    fields["AllocationBodySize"] = len(expected.get("MessageBody", b""))
    assert header == MessagePropertiesHeader(**fields | expected)
    assert (header.PA, header.PR, header.NA, header.NR) == (1, 0, 1, 0)
    assert header.build() == data
    assert len(data) % 4 == 0


def test_sizes_in_message_properties_header_are_computed_from_its_items():
    header = MessagePropertiesHeader(Label="hi", ExtensionData=b"123", MessageBody=b"12345")
    assert (header.LabelLength, header.ExtensionSize, header.MessageSize) == (3, 3, 5)
    parsed = MessagePropertiesHeader.parse(header.build())
    assert (parsed.LabelLength, parsed.ExtensionSize, parsed.MessageSize, parsed.AllocationBodySize) == (3, 3, 5, 5)


@pytest.mark.parametrize(
    ("wire", "field", "offset"),
    [
        (properties(2) + "68 00", "MessagePropertiesHeader.Label", 56),
        (properties(extension=0xFFFFFFFF), "MessagePropertiesHeader.ExtensionData", 56),
        (properties(body=5, extension=4) + "00" * 8, "MessagePropertiesHeader.MessageBody", 60),
        (properties(body=5) + "00" * 7, "MessagePropertiesHeader.Padding", 61),
        (properties(body=4) + "00" * 8, "MessagePropertiesHeader", 60),
        (properties()[:-4], "MessagePropertiesHeader.ExtensionSize", 0),
    ],
)
def test_properties_longer_than_their_header_are_refused(wire, field, offset):
    with pytest.raises(FormatError) as caught:
        MessagePropertiesHeader.parse(bytes.fromhex(wire))
    assert (caught.value.field, caught.value.offset, caught.value.section) == (field, offset, "MS-MQMQ 2.2.19.3")


ALL = UserMessagePacket(
    BaseHeader=BaseHeader(Reserved=9, Flags=BaseHeader.flags(PR=3, SH=1, DH=1, TR=1), TimeToReachQueue=60),
    UserHeader=UserHeader(
        Flags=UserHeader.flags(DQ=7, SH=1, TH=1, MP=1, MQ=1, HH=1, DM=1),
        DestinationQueue=DirectQueueFormatName("OS:h\\q"),
    ),
    TransactionHeader=TransactionHeader(TxSequenceNumber=1),
    SecurityHeader=SecurityHeader(0, SecurityData(Signature=b"sig")),
    MessagePropertiesHeader=MessagePropertiesHeader(Label="l", MessageBody=b"body!"),
    DebugHeader=DebugHeader(1, QueueIdentifier=GUID),
    SoapHeader=SoapHeader("head", "body"),
    MultiQueueFormatHeader=MultiQueueFormatHeader(Signature=MQFSignatureHeader(b"x")),
    SessionHeader=SessionHeader(WindowSize=64),
)


def test_user_message_has_all_headers_in_order():
    wire = ALL.build()
    packet = parse_packet(wire)
    assert isinstance(packet, UserMessagePacket)
    names = ("TransactionHeader", "SecurityHeader", "MessagePropertiesHeader", "DebugHeader", "SoapHeader")
    names += ("MultiQueueFormatHeader", "SessionHeader")
    parts = [ALL.UserHeader.build(), *(getattr(ALL, name).build() for name in names)]
    assert wire[16:] == b"".join(parts)
    assert packet.BaseHeader == replace(ALL.BaseHeader, PacketSize=len(wire) - 16)
    assert packet.SessionHeader == ALL.SessionHeader
    assert packet.SoapHeader == ALL.SoapHeader
    assert packet.build() == wire


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"SessionHeader": None}, "BaseHeader.Flags.SH"),
        ({"DebugHeader": None}, "BaseHeader.Flags.DH"),
        ({"TransactionHeader": None}, "UserHeader.Flags.TH"),
        ({"SecurityHeader": None}, "UserHeader.Flags.SH"),
        ({"SoapHeader": None}, "UserHeader.Flags.HH"),
        ({"MultiQueueFormatHeader": None}, "UserHeader.Flags.MQ"),
        ({"SoapHeader": SoapHeader("", Padding=b"")}, "is not padded to 4 bytes"),
        ({"BaseHeader": replace(ALL.BaseHeader, PacketSize=200)}, "but the packet has 308 bytes"),
        ({"BaseHeader": replace(ALL.BaseHeader, Flags=ALL.BaseHeader.Flags | 8)}, "BaseHeader.Flags.IN"),
        ({"MessagePropertiesHeader": MessagePropertiesHeader(MessageBody=bytes(0x00400000))}, "above the maximum"),
    ],
)
def test_a_packet_that_would_not_parse_again_is_not_built(change, message):
    with pytest.raises(MisuseError, match=message):
        replace(ALL, **change).build()


def with_flags(wire: bytes, **bits: int) -> bytes:
    """Change the given bits of UserHeader.Flags in a packet, and nothing else."""
    value = int.from_bytes(wire[60:64], "little")
    for name, bit in bits.items():
        value &= ~UserHeader.flags(**{name: UserHeader.__dict__[name].mask})
        value |= UserHeader.flags(**{name: bit})
    return wire[:60] + value.to_bytes(4, "little") + wire[64:]


def test_packet_without_flagged_header_is_refused():
    plain = UserMessagePacket(
        BaseHeader=BaseHeader(),
        UserHeader=UserHeader(Flags=UserHeader.flags(MP=1)),
        MessagePropertiesHeader=MessagePropertiesHeader(),
    ).build()
    assert len(plain) == 120
    for name in ("SH", "TH", "CQ", "MQ", "HH", "DQ", "AQ", "RQ"):
        with pytest.raises(FormatError):
            parse_packet(with_flags(plain, **{name: 7 if name.endswith("Q") and name[0] in "DAR" else 1}))
    with pytest.raises(FormatError) as caught:
        parse_packet(with_flags(plain, MP=0))
    assert (caught.value.field, caught.value.offset) == ("UserHeader.Flags", 60)
    debugged = plain[:2] + b"\x20" + plain[3:]
    with pytest.raises(FormatError, match=r"BaseHeader.PacketSize"):
        parse_packet(debugged)
    assert parse_packet(with_flags(plain, X4=7, X1=1, RC=31, DM=3)).UserHeader.RC == 31


def test_bytes_of_header_without_flag_are_refused():
    wire = ALL.build()
    with pytest.raises(FormatError):
        parse_packet(with_flags(wire, MQ=0))


def test_body_size_into_session_header_is_refused():
    packet = UserMessagePacket(
        BaseHeader=BaseHeader(Flags=BaseHeader.flags(SH=1)),
        UserHeader=UserHeader(Flags=UserHeader.flags(MP=1)),
        MessagePropertiesHeader=MessagePropertiesHeader(MessageBody=b"body"),
        SessionHeader=SessionHeader(WindowSize=64),
    )
    wire = bytearray(packet.build())
    assert wire[96:100] == b"\x04\0\0\0"
    wire[96] = 8
    with pytest.raises(FormatError) as caught:
        parse_packet(bytes(wire))
    assert (caught.value.field, caught.value.offset) == ("MessagePropertiesHeader.MessageBody", 120)


def test_unchanged_framed_packet_is_built_from_received_bytes():
    wire = ALL.build()
    framed = parse_framed_packet(wire)
    assert framed == parse_packet(wire)
    assert framed.build() is wire


def test_a_changed_framed_packet_is_built_anew():
    framed = parse_framed_packet(ALL.build())
    header = replace(ALL.UserHeader, SentTime=ALL.UserHeader.SentTime + 1)
    changed = replace(framed, UserHeader=header)
    assert changed.build() == replace(parse_packet(ALL.build()), UserHeader=header).build() != framed.build()
