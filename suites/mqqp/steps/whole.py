"""Messages with every property set, and whether they come out of a queue as they went in. Spec: MS-MQMQ 2.2.20."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from harness.peer.association import Call
from harness.peer.peer import Peer
from harness.peer.remote import packet_of
from harness.wire import (
    MQFDirectQueueFormatName,
    MQFDistributionQueueFormatName,
    MQFFormatNameElement,
    PrivateQueueFormatName,
    PublicQueueFormatName,
    dissect,
)
from suites.messages import Sequence

WHOLE = "the message that was sent"
EXPRESS, RECOVERABLE, TRANSACTIONAL = "express", "recoverable", "transactional"
KINDS = (EXPRESS, RECOVERABLE, TRANSACTIONAL)
QUEUES = {EXPRESS: "plain", RECOVERABLE: "plain", TRANSACTIONAL: "transactional"}
"""Of each kind: the queue of the SUT that takes it."""

_KEPT = {
    "BaseHeader": ("PR",),
    "UserHeader": (
        *("SourceQueueManager", "TimeToBeReceived", "SentTime", "MessageID"),
        *("DM", "JN", "JP", "TH", "DestinationQueue", "AdminQueue", "ResponseQueue"),
    ),
    "MessagePropertiesHeader": (
        *("PA", "PR", "NA", "NR", "MessageClass", "CorrelationID", "BodyType", "ApplicationTag"),
        *("MessageSize", "PrivacyLevel", "HashAlgorithm", "EncryptionAlgorithm"),
        *("Label", "ExtensionData", "MessageBody"),
    ),
}
"""What a message is made of, by header: nothing of it changes while it lies in a queue."""
_CASELESS = {"DestinationQueue", "AdminQueue", "ResponseQueue"}
_LISTS = ("Destination", "Administration", "Response")
SOMETHING = UUID("6d71636f-6e66-4f72-8d00-0000000000d1")
"""A queue, a distribution list and a queue manager that nobody knows."""


def lists_of_queues(peer: Peer) -> dict[str, Any]:
    """Return fields of a MultiQueueFormatHeader whose lists have a name of every kind."""
    names = (
        MQFDirectQueueFormatName(DirectFormatName=f"TCP:{peer.address}\\private$\\mqc-listed"),
        PublicQueueFormatName(PublicQueueIdentifier=SOMETHING),
        PrivateQueueFormatName(SourceQueueManager=SOMETHING, PrivateQueueIdentifier=7),
        MQFDistributionQueueFormatName(DistributionListIdentifier=SOMETHING),
    )
    elements = [MQFFormatNameElement(FormatName=name) for name in names]
    return {"Destination": elements, "Administration": elements[:1], "Response": elements[2:]}


def every_property(peer: Peer, label: str, kind: str = RECOVERABLE, **more: Any) -> Any:
    """Make a message of a kind whose properties are none of the usual; ``more``: other properties."""
    named = f"TCP:{peer.address}\\private$\\mqc-"
    user = {"AdminQueue": f"{named}admin", "ResponseQueue": f"{named}response", "JN": 1, "JP": 1}
    properties = {
        "label": label,
        "body": bytes(range(256)) + label.encode(),
        "CorrelationID": bytes(range(20)),
        "BodyType": 0x0000_1011,
        "ApplicationTag": 0xA5A5_0102,
        "MessageClass": 0x0000,
        "ExtensionData": b"\x00extension\xff",
        "HashAlgorithm": 0x8003,
        "EncryptionAlgorithm": 0x6602,
        **more,
    }
    if kind == TRANSACTIONAL:
        return Sequence(peer).message(user, **properties)
    return peer.message({"DM": int(kind == RECOVERABLE), **user}, base={"PR": 6}, **properties)


def unchanged(read: Call, sent: Any) -> str:
    """Describe what became of a message between being sent and being read: ``WHOLE``, or what differs."""
    if read.outcome != "MQ_OK":
        return read.outcome
    packet = packet_of(read)
    if packet is None:
        return "no UserMessage packet"
    before, after = _properties(dissect(bytes(sent))), _properties(packet)
    differ = [name for name, value in before.items() if after.get(name) != value]
    said = [f"{name} {_short(after.get(name, 'missing'))}, not {_short(before[name])}" for name in differ]
    return "; ".join(said) or WHOLE


def _properties(packet: Any) -> dict[str, str]:
    found: dict[str, str] = {}
    for header, names in _KEPT.items():
        layer = packet[header]
        for name in names:
            text = _text(getattr(layer, name))
            found[f"{header}.{name}"] = text.lower() if name in _CASELESS else text
    if packet["UserHeader"].MQ:
        for name in _LISTS:
            elements = getattr(packet["MultiQueueFormatHeader"], name).FormatNameList
            found[f"list of {name}"] = str([_element(one.FormatName) for one in elements])
    return found


def _element(name: Any) -> str:
    """Write a name in a list; DIRECT= may stand before a direct one (E07)."""
    fields = (str(getattr(name, one)) for one in _NAMED if hasattr(name, one))
    return " ".join(fields).lower().removeprefix("direct=")


_NAMED = (
    *("DirectFormatName", "PublicQueueIdentifier", "DistributionListIdentifier"),
    *("SourceQueueManager", "PrivateQueueIdentifier"),
)


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.hex()
    return str(getattr(value, "DirectFormatName", value))


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:60]}... ({len(text)} characters)"
