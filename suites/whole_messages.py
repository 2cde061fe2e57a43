"""Compare every property of a message on the control channel with its packet.

Spec: MS-MQMQ 2.2.19, 2.2.20; docs/control-protocol.md defines a message of the control channel. The comparison omits a
property that a control channel does not show; each control channel shows the label and the body.
"""

from __future__ import annotations

import base64
from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

from harness.judging.compared import REQUESTED_ACK_NAME_BY_FLAG

_JOURNAL_KIND_BY_FLAG = {"JP": "positive", "JN": "negative"}
_ALWAYS_COMPARED_PROPERTIES = ("label", "body_base64")
_NO_QUEUE_TYPE, _SAME_AS_ADMIN_QUEUE_TYPE = 0, 1


def describe_packet(packet: Any, receiver: UUID) -> dict[str, Any]:
    """Return the properties of a packet as a control channel shows them; ``receiver``: the GUID of its destination.

    ``packet``: a Frame or the result of ``dissect``, from which headers are read by name.
    """
    base, user, properties = packet["BaseHeader"], packet["UserHeader"], packet["MessagePropertiesHeader"]
    label = properties.Label
    text = label.decode("utf-16-le") if isinstance(label, bytes) else str(label)
    admin = _format_queue_name(user.AQ, user.AdminQueue, user.SourceQueueManager, receiver, None)
    response = _format_queue_name(user.RQ, user.ResponseQueue, user.SourceQueueManager, receiver, admin)
    return {
        "label": text.rstrip("\0"),
        "body_base64": base64.b64encode(bytes(properties.MessageBody)).decode(),
        "body_type": properties.BodyType,
        "priority": 0 if user.TH else base.PR,
        "delivery": "transactional" if user.TH else "recoverable" if user.DM else "express",
        "message_id": f"{{{UUID(str(user.SourceQueueManager))}}}\\{user.MessageID}",
        "source": str(UUID(str(user.SourceQueueManager))),
        "admin_queue": admin,
        "response_queue": admin if user.RQ == _SAME_AS_ADMIN_QUEUE_TYPE else response,
        "correlation_id": bytes(properties.CorrelationID).hex(),
        "application_tag": properties.ApplicationTag,
        "extension_base64": base64.b64encode(bytes(properties.ExtensionData)).decode(),
        "sent_time": user.SentTime,
        "time_to_reach_queue_s": base.TimeToReachQueue,
        "time_to_be_received_s": user.TimeToBeReceived,
        "acks": sorted(name for bit, name in REQUESTED_ACK_NAME_BY_FLAG.items() if properties.getfieldval(bit)),
        "journal": sorted(name for bit, name in _JOURNAL_KIND_BY_FLAG.items() if user.getfieldval(bit)),
    }


def normalize_format_name(name: str | None) -> str | None:
    """Normalize a format name for comparison: lower case, and the number of a private queue with eight digits."""
    if name is None:
        return None
    kind, _, rest = name.lower().partition("=")
    if kind != "private":
        return name.lower()
    guid, _, number = rest.partition("\\")
    return f"private={guid}\\{int(number, 16):08x}"


def describe_differences(
    packet: Any, shown: Mapping[str, Any] | None, receiver: UUID, but: Collection[str] = (), **more: Any
) -> str:
    """Describe in one line the properties that differ from the packet; return ``UNCHANGED_PROPERTIES_OUTCOME`` if no
    property differs.

    ``but``: properties that are not compared; ``more``: additional properties that the message must have.
    """
    if shown is None:
        return "the message is missing"
    wrong = []
    for name, sent in (describe_packet(packet, receiver) | more).items():
        if name in but or (name not in shown and name not in _ALWAYS_COMPARED_PROPERTIES):
            continue
        found = _normalize_property_value(name, shown.get(name))
        if found != _normalize_property_value(name, sent):
            wrong.append(f"{name} is {str(found)[:60]} instead of {str(sent)[:60]}")
    return "; ".join(wrong) or UNCHANGED_PROPERTIES_OUTCOME


UNCHANGED_PROPERTIES_OUTCOME = "every property has the value that was sent"


def _normalize_property_value(name: str, value: Any) -> Any:
    if name.endswith("_queue"):
        return normalize_format_name(value)
    if isinstance(value, list):
        return sorted(value)
    return value.lower() if name in ("message_id", "source", "correlation_id") else value


def _format_queue_name(kind: int, queue: Any, source: Any, receiver: UUID, admin: str | None) -> str | None:
    """Return the format name for a value of AQ or RQ and the queue field that belongs to it. Spec: MS-MQMQ 2.2.19.2."""
    if kind in (_NO_QUEUE_TYPE, _SAME_AS_ADMIN_QUEUE_TYPE):
        return None
    if kind == 7:
        return f"DIRECT={str(queue.DirectFormatName).rstrip(chr(0))}"
    if kind == 5:
        return f"PUBLIC={queue.PublicQueueIdentifier}"
    admin_host = (admin or "").lower().removeprefix("private=").partition("\\")[0]
    host = {2: source, 3: receiver, 4: admin_host, 6: getattr(queue, "SourceQueueManager", None)}[kind]
    return normalize_format_name(f"PRIVATE={host}\\{queue.PrivateQueueIdentifier:08x}")
