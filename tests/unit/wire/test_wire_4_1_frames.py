"""MS-MQQB 4.1: the eight frames of real Windows are dissected to the printed values, and rebuilt to the same bytes."""

from __future__ import annotations

from uuid import UUID

import pytest
from wire_frames import FRAMES

from harness.wire import dissect, dissect_ping, kind

CLIENT = UUID(bytes_le=bytes.fromhex("D1 58 73 55 50 91 95 95 49 97 B6 E6 11 EA 26 C6"))
SERVER = UUID(bytes_le=bytes.fromhex("07 89 CD 43 4C 39 11 8F 44 45 90 78 90 9E A0 FC"))

INTERNAL_BASE = {"VersionNumber": 0x10, "PR": 3, "IN": 1, "DH": 0, "TR": 0, "TimeToReachQueue": 0xFFFFFFFF}
ESTABLISH = {
    "BaseHeader": {**INTERNAL_BASE, "Flags": 0x000B, "SH": 0, "PacketSize": 572},
    "InternalHeader": {"Reserved": 0, "Flags": 0x0002, "PT": 2, "CS": 0},
    "EstablishConnectionHeader": {
        "TimeStamp": 501140046,
        "OperatingSystem": 0x0310,
        "RE": 0x10,
        "SE": 1,  # the text beside the bytes decodes 0
        "OS": 1,  # here too
        "QS": 0,
        "Reserved": 0,
        "Padding": b"\x5a" * 512,
    },
}
PARAMETERS = {
    "BaseHeader": {**INTERNAL_BASE, "Reserved": 0xC0, "PacketSize": 32},
    "InternalHeader": {"Flags": 0x0003, "PT": 3, "CS": 0},
    "ConnectionParametersHeader": {
        "RecoverableAckTimeout": 1496,
        "AckTimeout": 120_000,
        "Reserved": 0,
        "WindowSize": 64,  # frame 6: 32 in the text
    },
}
VALUES = {
    1: {"PingPacket": {"Flags": 0x7D01, "RC": 1, "RF": 0, "Signature": 0x5548, "Cookie": 4, "QMGuid": CLIENT}},
    2: {"PingPacket": {"Flags": 0xB295, "RC": 1, "RF": 0, "Signature": 0x5548, "Cookie": 4, "QMGuid": SERVER}},
    3: ESTABLISH,
    4: ESTABLISH,
    5: PARAMETERS,
    6: PARAMETERS,
    7: {
        "BaseHeader": {"Flags": 0x0003, "PR": 3, "IN": 0, "SH": 0, "PacketSize": 2224, "TimeToReachQueue": 345_600},
        "UserHeader": {
            "SourceQueueManager": CLIENT,
            "QueueManagerAddress": UUID(int=0),
            "TimeToBeReceived": 0xFFFFFFFF,
            "SentTime": 0x524F494C,  # spells the signature; 0x441105E6 in the text
            "MessageID": 0x8EE,
            "Flags": 0x281C00,
            "RC": 0,
            "DM": 0,
            "JN": 0,
            "JP": 0,
            "DQ": 7,
            "AQ": 0,
            "RQ": 0,
            "SH": 1,
            "TH": 0,
            "MP": 1,
            "CQ": 0,
            "MQ": 0,
            "AH": 0,
            "HH": 0,
            "AdminQueue": None,
            "ResponseQueue": None,
            "ConnectorType": None,
        },
        "DirectQueueFormatName": {"Count": 26, "DirectFormatName": "OS:a04bm02\\q", "Padding": b""},
        "SecurityHeader": {
            "Flags": 0x0001,
            "ST": 1,
            "AU": 0,
            "EB": 0,
            "DE": 0,
            "AI": 0,
            "AS": 0,
            "SenderIdSize": 28,
            "EncryptionKeySize": 0,
            "SignatureSize": 0,
            "SenderCertSize": 0,
            "ProviderInfoSize": 0,
            "SecurityID": bytes.fromhex("010500000000000515000000AD4A9EBD36D9FA3D63A656DAE8030000"),
        },
        "MessagePropertiesHeader": {
            "Flags": 0x0F,
            "PA": 1,
            "PR": 1,
            "NA": 1,
            "NR": 1,
            "LabelLength": 15,
            "MessageClass": 0,
            "CorrelationID": bytes(20),
            "BodyType": 8,
            "ApplicationTag": 0,
            "MessageSize": 2000,
            "AllocationBodySize": 2000,  # 20 in the text
            "PrivacyLevel": 0,
            "HashAlgorithm": 0x8004,
            "EncryptionAlgorithm": 0x6801,  # 0x6601 in the text
            "ExtensionSize": 0,
            "Label": "mqsender label",
            "ExtensionData": b"",
            "MessageBody": b"a\0" * 1000,
            "Padding": b"\0\0",
        },
    },
    8: {
        "BaseHeader": {**INTERNAL_BASE, "Reserved": 0xCD, "Flags": 0x001B, "SH": 1, "PacketSize": 0x24},
        "InternalHeader": {"Flags": 0x0001, "PT": 1, "CS": 0},
        "SessionHeader": {
            "AckSequenceNumber": 1,
            "RecoverableMsgAckSeqNumber": 0,
            "RecoverableMsgAckFlags": 0,
            "UserMsgSequenceNumber": 0,
            "RecoverableMsgSeqNumber": 0,
            "WindowSize": 64,
            "Reserved": 0,
        },
    },
}
KINDS = {
    1: "Ping",
    2: "Ping",
    3: "EstablishConnection",
    4: "EstablishConnection",
    5: "ConnectionParameters",
    6: "ConnectionParameters",
    7: "UserMessage",
    8: "SessionAck",
}


def dissected(number):
    return dissect_ping(FRAMES[number]) if KINDS[number] == "Ping" else dissect(FRAMES[number])


@pytest.mark.parametrize("number", FRAMES)
def test_golden_frame_fields_match_document(number):
    packet = dissected(number)
    read = {layer: {name: getattr(packet[layer], name) for name in fields} for layer, fields in VALUES[number].items()}
    assert read == VALUES[number]


@pytest.mark.parametrize("number", FRAMES)
def test_golden_frame_is_rebuilt_from_its_scapy_fields(number):
    packet = dissected(number)
    assert packet.raw_packet_cache is None, "bytes() must not come from scapy's cache"
    assert bytes(packet) == FRAMES[number]


@pytest.mark.parametrize("number", FRAMES)
def test_golden_frame_has_its_packet_kind(number):
    assert kind(FRAMES[number], ping=KINDS[number] == "Ping") == KINDS[number]


def test_golden_frame_3_has_client_and_server_guid():
    header = dissected(3)["EstablishConnectionHeader"]
    assert (header.ClientGuid, header.ServerGuid) == (CLIENT, SERVER)


def test_golden_frame_4_has_guids_that_differ_from_the_printed_text():
    header = dissected(4)["EstablishConnectionHeader"]
    assert header.ClientGuid == UUID("1f742305-be5e-4177-bc77-c4dd7719e474")
    assert header.ServerGuid == UUID("3c3a6aeb-f567-4143-87d3-85cf4d68ceb4")


@pytest.mark.parametrize(("number", "reserved"), [(3, 0xC0), (4, 0x5A)])
def test_reserved_byte_of_golden_internal_packets_is_arbitrary(number, reserved):
    assert dissected(number).Reserved == reserved
