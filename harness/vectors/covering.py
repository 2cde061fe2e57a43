"""Build a covering array of messages, in which each pair of values of two parameters occurs in at least one
message.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from harness.varying.arrays import build_covering_array
from harness.wire import (
    DirectQueueFormatName,
    MQFDirectQueueFormatName,
    MQFFormatNameElement,
    MQFSignatureHeader,
    PrivateQueueFormatName,
    PrivateQueueFormatNameId,
    PublicQueueFormatName,
    user_message,
)

SAMPLE_GUIDS = tuple(UUID(int=0x11111111222233334444555555555500 + number) for number in range(8))

PARAMETERS: Mapping[str, Sequence[str]] = {
    "delivery": (
        *("express, priority 0", "express, priority 3", "express, priority 7"),
        *("recoverable, priority 0", "recoverable, priority 3", "recoverable, priority 7", "transactional, priority 0"),
    ),
    "destination": ("direct", "private", "public"),
    "admin": ("none", "direct", "private number", "public", "private"),
    "response": ("none", "direct", "private number", "public", "private"),
    "connector": ("no", "yes"),
    "acknowledgment": ("none", "negative receive", "full receive", "full reach"),
    "journal": ("none", "JN", "JP", "JN and JP"),
    "body": ("0", "1", "1023", "1024", "1025"),
    "label": ("none", "1", "249"),
    "extension": ("none", "3 bytes"),
    "security": ("none", "SID", "SID, certificate and signature"),
    "debug": ("none", "without queue", "with queue"),
    "soap": ("none", "yes"),
    "several queues": ("none", "two", "two and a signature"),
    "session header": ("no", "yes"),
    "time to reach": ("infinite", "0", "60"),
}
"""The properties of a message, with their values. A transactional message has priority 0 (MS-MQMQ 2.2.19, 2.2.20)."""

ACKNOWLEDGE_VALUE_BY_NAME = {"none": 0x00, "negative receive": 0x08, "full receive": 0x0A, "full reach": 0x05}
JOURNAL_FLAGS_BY_NAME = {"none": (0, 0), "JN": (1, 0), "JP": (0, 1), "JN and JP": (1, 1)}
LIFETIME_S_BY_NAME = {"infinite": 0xFFFF_FFFF, "0": 0, "60": 60}
QUEUES: Mapping[str, Any] = {
    "none": None,
    "direct": DirectQueueFormatName(DirectFormatName="TCP:192.0.2.1\\private$\\q"),
    "private number": PrivateQueueFormatNameId(PrivateQueueIdentifier=0x0000_001F),
    "public": PublicQueueFormatName(PublicQueueIdentifier=SAMPLE_GUIDS[0]),
    "private": PrivateQueueFormatName(SourceQueueManager=SAMPLE_GUIDS[1], PrivateQueueIdentifier=0x20),
}
DESTINATION_BY_NAME: Mapping[str, Any] = {**QUEUES, "private": QUEUES["private number"]}
SAMPLE_SID = bytes.fromhex("010500000000000515000000010000000200000003000000e9030000")
"""The SID S-1-5-21-1-2-3-1001 in binary form (MS-DTYP 2.4.2.2)."""
SAMPLE_CERTIFICATE = b"\x30\x82\x01\xf3" + bytes(0x1F3)
"""Bytes that stand for a certificate: a DER sequence with a correct length. A reader of packets checks nothing else in
a certificate.
"""
SECURITY_HEADER_FIELDS_BY_NAME: Mapping[str, Any] = {
    "none": None,
    "SID": {"ST": 1, "SecurityID": SAMPLE_SID},
    "SID, certificate and signature": {
        "ST": 1,
        "SecurityID": SAMPLE_SID,
        "Signature": bytes(range(128)),
        "SenderCert": SAMPLE_CERTIFICATE,
        "ProviderInfo": b"\1\0\0\0" + "Provider\0".encode("utf-16-le"),
    },
}
DEBUG_HEADER_FIELDS_BY_NAME: Mapping[str, Any] = {
    "none": None,
    "without queue": {},
    "with queue": {"QueueIdentifier": SAMPLE_GUIDS[2]},
}
TWO_DESTINATION_ELEMENTS = [
    MQFFormatNameElement(FormatName=MQFDirectQueueFormatName(DirectFormatName="TCP:192.0.2.1\\q1")),
    MQFFormatNameElement(FormatName=PublicQueueFormatName(PublicQueueIdentifier=SAMPLE_GUIDS[3])),
]
SAMPLE_MQF_SIGNATURE = MQFSignatureHeader(Signature=bytes(range(128)))
MQF_HEADER_FIELDS_BY_NAME: Mapping[str, Any] = {
    "none": None,
    "two": {"Destination": TWO_DESTINATION_ELEMENTS},
    "two and a signature": {
        "Destination": TWO_DESTINATION_ELEMENTS,
        "Response": TWO_DESTINATION_ELEMENTS[:1],
        "Signature": SAMPLE_MQF_SIGNATURE,
    },
}


def list_property_combinations() -> Sequence[Mapping[str, str]]:
    """Return the rows of the covering array of strength 2. Each row contains the value of each parameter, by name."""
    return build_covering_array(PARAMETERS)


def build_message(values: Mapping[str, str]) -> bytes:
    """Return the bytes of a message with the given properties."""
    delivery, _, priority = values["delivery"].partition(", priority ")
    negative, positive = JOURNAL_FLAGS_BY_NAME[values["journal"]]
    packet = user_message(
        base={"PR": int(priority), "TimeToReachQueue": LIFETIME_S_BY_NAME[values["time to reach"]]},
        user={
            "SourceQueueManager": SAMPLE_GUIDS[4],
            "QueueManagerAddress": 0 if values["destination"] == "direct" else SAMPLE_GUIDS[5],
            "SentTime": 0x6920_0000,
            "MessageID": 7,
            "DM": 0 if delivery == "express" else 1,
            "JN": negative,
            "JP": positive,
            "AdminQueue": QUEUES[values["admin"]],
            "ResponseQueue": QUEUES[values["response"]],
            "ConnectorType": SAMPLE_GUIDS[6] if values["connector"] == "yes" else None,
        },
        destination=DESTINATION_BY_NAME[values["destination"]],
        transaction={"FM": 1, "LM": 1, "ID": 3} if delivery == "transactional" else None,
        security=SECURITY_HEADER_FIELDS_BY_NAME[values["security"]],
        debug=DEBUG_HEADER_FIELDS_BY_NAME[values["debug"]],
        soap={"Header": "head", "Body": "a body"} if values["soap"] == "yes" else None,
        mqf=MQF_HEADER_FIELDS_BY_NAME[values["several queues"]],
        session={"AckSequenceNumber": 1} if values["session header"] == "yes" else None,
        Flags=ACKNOWLEDGE_VALUE_BY_NAME[values["acknowledgment"]],
        label="" if values["label"] == "none" else "L" * int(values["label"]),
        ExtensionData=b"" if values["extension"] == "none" else b"ext",
        body=bytes(index % 251 for index in range(int(values["body"]))),
    )
    return bytes(packet)
