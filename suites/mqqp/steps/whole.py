"""Messages with every property set, and whether they come out of a queue as they went in. Spec: MS-MQMQ 2.2.20."""

from __future__ import annotations

from typing import Any

from harness.peer.association import Call
from harness.peer.peer import Peer
from harness.peer.remote import packet_of
from harness.wire import dissect
from suites.messages import Sequence, a_message

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
    return a_message(peer, {"DM": int(kind == RECOVERABLE), **user}, base={"PR": 6}, **properties)


def unchanged(read: Call, sent: Any) -> str:
    """Describe what became of a message between being sent and being read: ``WHOLE``, or what differs."""
    if read.outcome != "MQ_OK":
        return read.outcome
    packet = packet_of(read)
    if packet is None:
        return "no UserMessage packet"
    before, after = _properties(dissect(bytes(sent))), _properties(packet)
    differ = [name for name, value in before.items() if after[name] != value]
    said = [f"{name} {_short(after[name])}, not {_short(before[name])}" for name in differ]
    return "; ".join(said) or WHOLE


def _properties(packet: Any) -> dict[str, str]:
    found: dict[str, str] = {}
    for header, names in _KEPT.items():
        layer = packet[header]
        for name in names:
            text = _text(getattr(layer, name))
            found[f"{header}.{name}"] = text.lower() if name in _CASELESS else text
    return found


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.hex()
    return str(getattr(value, "DirectFormatName", value))


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:60]}... ({len(text)} characters)"
