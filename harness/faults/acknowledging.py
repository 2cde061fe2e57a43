"""Faults of what is acknowledged and how, and on the way. Spec: MS-MQQB 3.1.1.5, 3.1.1.6, 3.1.7.2.2, 3.1.7.17."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.primitives import packets, procedure, skip, wrong_fields
from harness.faults.registry import Install, add
from reference_qm.codec import (
    BaseHeader,
    MessageClass,
    UserMessagePacket,
)
from reference_qm.core.protocol.final_acks import FinalAcks
from reference_qm.core.protocol.order_acks import OrderAcks, is_final_ack, is_order_ack
from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.adm import MessagePosition

Original = Callable[..., Any]
RULE, SESSION = "MQQB-3.1.7.17", "MQQB-3.1.1.6.1"


# -- acknowledgments of transactional messages ----------------------------------------------------------------------


def _either(packet: UserMessagePacket) -> bool:
    return is_order_ack(packet) or is_final_ack(packet)


def _same_identifier(original: Original) -> Original:
    """Number no acknowledgment: all have one identifier."""

    def send(qm: QueueManager, *rest: Any) -> None:
        ordinal = qm.adm.MessageIdOrdinal
        original(qm, *rest)
        qm.adm.MessageIdOrdinal = ordinal

    return send


def _of_class(value: int) -> Install:
    fields = {"MessagePropertiesHeader.MessageClass": value}
    return wrong_fields(UserMessagePacket, fields, lambda packet: is_final_ack(packet))


def _other_number(body: bytes) -> bytes:
    return body[:8] + bytes(4) + body[12:]


def _without_final_ack(original: Original) -> Original:
    """Send a FinalAck only for messages with JP."""

    def acknowledge(qm: QueueManager, position: MessagePosition, *rest: Any) -> None:
        if position.MessageReference.PositiveJournalingRequested:
            original(qm, position, *rest)

    return acknowledge


_MESSAGE = UserMessagePacket
_NAME = "UserHeader.DestinationQueue.DirectFormatName"
for _name, _rules, _says, _install in (
    (
        "identifier",
        "03",
        "All acknowledgments have one MessageID.",
        procedure(OrderAcks.send_transactional_ack, _same_identifier),
    ),
    ("class", "04", "Every FinalAck is of class NACK_Q_DELETED.", _of_class(MessageClass.MQMSG_CLASS_NACK_Q_DELETED)),
    (
        "priority",
        "05",
        "An acknowledgment has priority 3.",
        wrong_fields(
            _MESSAGE, {"BaseHeader.Flags": lambda old: old | BaseHeader.flags(PR=3)}, lambda packet: _either(packet)
        ),
    ),
    (
        "body",
        "06",
        "An OrderAck has the number 0.",
        wrong_fields(_MESSAGE, {"MessagePropertiesHeader.MessageBody": _other_number}, is_order_ack),
    ),
    (
        "queue",
        "07",
        "An acknowledgment is for order$.",
        wrong_fields(_MESSAGE, {_NAME: lambda old: old.replace("order_queue$", "order$")}, _either),
    ),
    ("dropped", "11", "No acknowledgment is sent.", packets(_MESSAGE, lambda packet: None, _either)),
):
    add(f"transactional-ack-{_name}", f"{RULE}-{_rules}", _says, _install)
add(
    "no-final-ack",
    "MQQB-3.1.7.2.2-01",
    "No FinalAck is sent for a message that left its queue.",
    skip(FinalAcks.acknowledge_final),
)
add(
    "final-ack-for-positive-only",
    "MQQB-3.1.7.2.2-01",
    "Only messages with JP have a FinalAck.",
    procedure(FinalAcks.acknowledge_final, _without_final_ack),
)
