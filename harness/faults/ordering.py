"""Faults of OrderAcks and FinalAcks, as they are recognized. Spec: MS-MQQB 3.1.5.1.1."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from harness.faults import registry
from harness.faults.primitives import inputs, procedure, set_fields
from harness.faults.registry import Install
from reference_qm.codec import (
    DirectQueueFormatName,
    FormatError,
    MessageClass,
    Packet,
    UserHeader,
    UserMessagePacket,
    parse_packet,
)
from reference_qm.core.protocol.order_acks import (
    BODY_SIZE,
    FIRST_FINAL_CLASS,
    LABEL,
    is_final_ack,
    is_order_ack,
)
from reference_qm.core.protocol.transactional_sending import TransactionalSending
from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.surface.inputs import BytesReceived, Input

ORDER, FINAL = "MQQB-2.2.4", "MQQB-2.2.5"
ORDER_QUEUE = DirectQueueFormatName(r"TCP:127.0.0.1\PRIVATE$\order_queue$")
ELSEWHERE = "127.0.0.77"
OTHER_CLASS = 0xC004
Is = Callable[[UserMessagePacket], bool]


def add(name: str, breaks: str | Iterable[str], says: str, install: Install) -> None:
    """Register a fault of order and final acknowledgments."""
    registry.add(f"ordering-{name}", breaks, says, install)


# -- which packet it is ------------------------------------------------------------------------------------------


def _told_without(meant: Is, changes: dict[str, Any]) -> Install:
    """Take a packet for an acknowledgment that is one but for some fields."""

    def filter_(event: Input) -> Iterable[Input]:
        if not isinstance(event, BytesReceived):
            return [event]
        try:
            packet: Packet = parse_packet(event.data)
        except FormatError:
            return [event]
        if not isinstance(packet, UserMessagePacket):
            return [event]
        changed = set_fields(packet, {"BaseHeader.PacketSize": 0, **changes})
        return [replace(event, data=changed.build())] if meant(changed) else [event]

    return inputs(filter_)


def _identified() -> None:
    to_order_queue = {
        "UserHeader.DestinationQueue": ORDER_QUEUE,
        "UserHeader.Flags": lambda old: old | UserHeader.flags(DQ=7),
    }
    conditions: tuple[tuple[str, dict[str, Any]], ...] = (
        ("base-flags", {"BaseHeader.Flags": 0}),
        ("destination", to_order_queue),
        ("label", {"MessagePropertiesHeader.Label": LABEL}),
    )
    size = {"MessagePropertiesHeader.MessageBody": lambda old: old[:BODY_SIZE]}
    order_class = {"MessagePropertiesHeader.MessageClass": int(MessageClass.MQMSG_CLASS_ORDER_ACK)}
    final_class = {"MessagePropertiesHeader.MessageClass": lambda old: max(old, FIRST_FINAL_CLASS)}
    for kind, meant, first, named in (
        ("order", is_order_ack, 4, (*conditions, ("size", size), ("class", order_class))),
        ("final", is_final_ack, 9, (*conditions, ("class", final_class))),
    ):
        for number, (name, changes) in enumerate(named, first):
            says = f"A message is taken for a {kind} acknowledgment whatever its {name} is."
            add(f"{kind}-told-without-{name}", f"MQQB-3.1.5.1.1-{number:02}", says, _told_without(meant, changes))


def _forget(original: Callable[..., Any]) -> Callable[..., Any]:
    def retain(qm: QueueManager, session: Session, position: OutgoingMessagePosition) -> None:
        position.ReceivedOrderAck = True
        original(qm, session, position)

    return retain


def _keep(original: Callable[..., Any]) -> Callable[..., Any]:
    def retain(qm: QueueManager, session: Session, position: OutgoingMessagePosition) -> None:
        position.ReceivedOrderAck = False
        original(qm, session, position)

    return retain


_identified()
add(
    "session-ack-deletes",
    "MQQB-3.1.5.5.5-03",
    "A session acknowledgment counts as an order acknowledgment too.",
    procedure(TransactionalSending.retain, _forget),
)
add(
    "order-ack-forgotten",
    "MQQB-3.1.5.5.3-03",
    "An order acknowledgment before that of the session is forgotten.",
    procedure(TransactionalSending.retain, _keep),
)
