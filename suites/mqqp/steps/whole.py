"""Messages with every property set, and the comparison of a received message with the sent message. Spec: MS-MQMQ
2.2.20.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any
from uuid import UUID

from harness.expectations import Expectation, ExpectationDifference
from harness.peer.association import Call
from harness.peer.peer import Peer
from harness.wire import (
    MQFDirectQueueFormatName,
    MQFDistributionQueueFormatName,
    MQFFormatNameElement,
    PrivateQueueFormatName,
    PublicQueueFormatName,
    dissect,
)
from suites.messages import Sequence


class MessageKind(StrEnum):
    """The kinds of messages: express, recoverable and transactional."""

    EXPRESS = "express"
    RECOVERABLE = "recoverable"
    TRANSACTIONAL = "transactional"

    @property
    def queue(self) -> str:
        """The queue of the SUT to which messages of this kind are sent."""
        return "transactional" if self is MessageKind.TRANSACTIONAL else "plain"


_COMPARED_FIELDS_BY_HEADER = {
    "BaseHeader": ("PR", "TR"),
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
"""For each header, the properties that do not change while a message is in a queue."""
_CASE_INSENSITIVE_FIELDS = {"DestinationQueue", "AdminQueue", "ResponseQueue"}
_DESTINATION_LIST_FIELDS = ("Destination", "Administration", "Response")
SECONDS_PER_DAY = 86_400
UNKNOWN_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000d1")
"""A GUID that identifies no queue, no distribution list and no queue manager."""


def build_destination_list_fields_of_every_kind(peer: Peer) -> dict[str, Any]:
    """Return the fields of a MultiQueueFormatHeader whose lists contain a name of every kind."""
    names = (
        MQFDirectQueueFormatName(DirectFormatName=f"TCP:{peer.address}\\private$\\mqc-listed"),
        PublicQueueFormatName(PublicQueueIdentifier=UNKNOWN_GUID),
        PrivateQueueFormatName(SourceQueueManager=UNKNOWN_GUID, PrivateQueueIdentifier=7),
        MQFDistributionQueueFormatName(DistributionListIdentifier=UNKNOWN_GUID),
    )
    elements = [MQFFormatNameElement(FormatName=name) for name in names]
    return {"Destination": elements, "Administration": elements[:1], "Response": elements[2:]}


def build_message_without_default_values(
    peer: Peer, label: str, kind: MessageKind = MessageKind.RECOVERABLE, **more: Any
) -> Any:
    """Build a message of the given kind in which every property differs from its default. ``more``: values that replace
    properties.
    """
    named = f"TCP:{peer.address}\\private$\\mqc-"
    sent_s = peer.environment.now().utc_s - SECONDS_PER_DAY
    user = {
        "SentTime": sent_s,
        "AdminQueue": f"{named}admin",
        "ResponseQueue": f"{named}response",
        "JN": 1,
        "JP": 1,
        "TimeToBeReceived": SECONDS_PER_DAY + 0x0102,
    }
    properties = {
        "label": label,
        "NA": 1,
        "NR": 1,
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
    base = properties.pop("base", {})
    if kind == MessageKind.TRANSACTIONAL:
        return Sequence(peer).message(user, base=base, **properties)
    return peer.message({"DM": int(kind == MessageKind.RECOVERABLE), **user}, base={"PR": 6, **base}, **properties)


class UnchangedMessageExpectation(Expectation):
    """The expectation that a read returns a message with the properties of the sent message; the read itself is the
    observed value.
    """

    def __init__(self, sent: Any) -> None:
        self.sent = sent

    def __str__(self) -> str:
        return "the message that was sent"

    def show(self, observed: Call) -> str:
        if observed.outcome != "MQ_OK":
            return observed.outcome
        if observed.packet is None:
            return "no UserMessage packet"
        sent, read = _read_compared_properties(dissect(bytes(self.sent))), _read_compared_properties(observed.packet)
        changed = [name for name, value in sent.items() if read.get(name) != value]
        texts = [
            f"{name} {_shorten_text(read.get(name, 'missing'))}, not {_shorten_text(sent[name])}" for name in changed
        ]
        return "; ".join(texts) or str(self)

    def compare(self, observed: Call) -> ExpectationDifference | None:
        shown = self.show(observed)
        return None if shown == str(self) else ExpectationDifference(shown)


def _read_compared_properties(packet: Any) -> dict[str, str]:
    found: dict[str, str] = {}
    for header, names in _COMPARED_FIELDS_BY_HEADER.items():
        layer = packet[header]
        for name in names:
            text = _format_value(getattr(layer, name))
            found[f"{header}.{name}"] = text.lower() if name in _CASE_INSENSITIVE_FIELDS else text
    if packet["BaseHeader"].DH:
        found["DebugHeader.QueueIdentifier"] = str(packet["DebugHeader"].QueueIdentifier)
    if packet["UserHeader"].MQ:
        for name in _DESTINATION_LIST_FIELDS:
            elements = getattr(packet["MultiQueueFormatHeader"], name).FormatNameList
            found[f"list of {name}"] = str([_build_list_element(one.FormatName) for one in elements])
    return found


def _build_list_element(name: Any) -> str:
    """Build an element of a list of queues from a queue name. A direct name may begin with DIRECT= (E07)."""
    fields = (str(getattr(name, one)) for one in _QUEUE_NAME_FIELDS if hasattr(name, one))
    return " ".join(fields).lower().removeprefix("direct=")


_QUEUE_NAME_FIELDS = (
    *("DirectFormatName", "PublicQueueIdentifier", "DistributionListIdentifier"),
    *("SourceQueueManager", "PrivateQueueIdentifier"),
)


def _format_value(value: Any) -> str:
    if isinstance(value, bytes):
        return value.hex()
    return str(getattr(value, "DirectFormatName", value))


def _shorten_text(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:60]}... ({len(text)} characters)"
