"""Faults of what is acknowledged and how, and on the way. Spec: MS-MQQB 3.1.1.5, 3.1.1.6."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.primitives import afterwards, procedure, skip, wrong_fields
from harness.faults.registry import add
from reference_qm.codec import (
    MessageClass,
    OrderAckBody,
    SessionAckPacket,
    TransactionHeader,
    UserMessagePacket,
)
from reference_qm.core.protocol.routing import Routing
from reference_qm.core.protocol.session_acks import SessionAcks
from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.adm import MessagePosition, Session
from reference_qm.surface.clock import Now

Original = Callable[..., Any]
SESSION = "MQQB-3.1.1.6.1"


# -- the session --------------------------------------------------------------------------------------------------


def _unflagged(packet: SessionAckPacket) -> bool:
    return not packet.SessionHeader.RecoverableMsgAckFlags


for _number, _name, _says, _install in (
    (
        "01",
        "express-kept",
        "Express messages that were acknowledged are sent again.",
        skip(SessionAcks.delete_acknowledged_express),
    ),
    (
        "02",
        "recoverable-kept",
        "Recoverable messages that were stored are sent again.",
        skip(SessionAcks.delete_acknowledged_recoverable),
    ),
    (
        "03",
        "number-of-nothing",
        "RecoverableMsgAckSeqNumber is 1 with nothing to acknowledge.",
        wrong_fields(SessionAckPacket, {"SessionHeader.RecoverableMsgAckSeqNumber": 1}, _unflagged),
    ),
    (
        "04",
        "flags-of-nothing",
        "RecoverableMsgAckFlags is 1 with nothing to acknowledge.",
        wrong_fields(SessionAckPacket, {"SessionHeader.RecoverableMsgAckFlags": 1}, _unflagged),
    ),
):
    add(f"session-{_name}", f"{SESSION}-{_number}", _says, _install)


# -- on the way -----------------------------------------------------------------------------------------------------


def _acknowledged(qm: QueueManager, session: Session, packet: UserMessagePacket, receipt: Any, now: Now) -> None:
    """Send an OrderAck for a message that is only passed on."""
    header = packet.TransactionHeader
    if header is not None:
        body = OrderAckBody(header.TxSequenceID, header.TxSequenceNumber, header.PreviousTxSequenceNumber)
        name = f"DIRECT=TCP:{session.RemoteQMAddress}\\PRIVATE$\\order_queue$"
        qm.order_acks.send_transactional_ack(name, MessageClass.MQMSG_CLASS_ORDER_ACK, body, now)


def _in_order_only(original: Original) -> Original:
    """Pass on only what follows the message before it."""
    last: dict[Any, int] = {}

    def route(qm: QueueManager, session: Session, packet: UserMessagePacket, receipt: Any, now: Now) -> None:
        header = packet.TransactionHeader
        if header is not None:
            number, last[header.TxSequenceID] = last.get(header.TxSequenceID, 0), header.TxSequenceNumber
            if header.TxSequenceNumber < number:
                receipt.done = True
                return
        original(qm, session, packet, receipt, now)

    return route


def _other_header(original: Original) -> Original:
    def send_on(qm: QueueManager, position: MessagePosition, packet: UserMessagePacket, now: Now) -> None:
        header = packet.TransactionHeader
        if header is not None:
            packet = replace(
                packet, TransactionHeader=replace(header, Flags=header.Flags | TransactionHeader.flags(FA=1))
            )
        original(qm, position, packet, now)

    return send_on


add(
    "routed-message-acknowledged",
    ("MQQB-3.1.1.5-06", "MQQB-3.1.1.6.2-01"),
    "A queue manager on the way sends OrderAcks.",
    afterwards(Routing.route_message, _acknowledged),
)
add(
    "routed-in-order-only",
    "MQQB-3.1.1.6.2-02",
    "A queue manager on the way passes on only what is in sequence.",
    procedure(Routing.route_message, _in_order_only),
)
add(
    "routed-transaction-header",
    "MQQB-3.1.1.5-07",
    "A queue manager on the way asks for a final acknowledgment.",
    procedure(Routing.send_on, _other_header),
)
