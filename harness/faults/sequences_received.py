"""Faults of receiving in sequence, and of FinalAcks that come. Spec: MS-MQQB 3.1.5.7, 3.1.5.8.6, 3.1.6.9."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.primitives import afterwards, procedure, skip
from harness.faults.registry import add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.protocol.in_sequence import InSequence
from reference_qm.core.protocol.initialization import Initialization
from reference_qm.core.protocol.order_acks import OrderAcks
from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.adm import IncomingTransactionalTransferInfo, Session
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now

Original = Callable[..., Any]
RULE, BOTH = "MQQB-3.1.5.8.6", "MQQB-3.1.1.6.2"


def _long_timeout(qm: QueueManager, session: Session, now: Now) -> None:
    session.OrderAckTimeout = 2_000


def _put_off_always(original: Original) -> Original:
    def schedule(qm: QueueManager, session: Session, now: Now) -> None:
        qm.session_timers.start(session, TimerName.ORDER_ACK_SEND, session.OrderAckTimeout, now)

    return schedule


def _put_off_never(original: Original) -> Original:
    def schedule(qm: QueueManager, session: Session, now: Now) -> None:
        if not qm.timers.is_running(TimerKey(TimerName.ORDER_ACK_SEND, session.number)):
            original(qm, session, now)

    return schedule


def _any_later(original: Original) -> Original:
    def is_in_sequence(qm: QueueManager, session: Session, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        assert header is not None
        same = header.TxSequenceID == session.IncomingTxSequenceID
        return bool(
            original(qm, session, packet) or (same and header.TxSequenceNumber > session.IncomingTxSequenceNumber)
        )

    return is_in_sequence


def _number_forgotten(
    qm: QueueManager, session: Session, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket, now: Now
) -> None:
    session.IncomingTxSequenceNumber = transfer.SequenceNumber = 1


def _count_kept(original: Original) -> Original:
    def accept(qm: QueueManager, session: Session, *rest: Any) -> None:
        count = session.TxMessageRejectCount
        original(qm, session, *rest)
        session.TxMessageRejectCount = count

    return accept


def _not_told(qm: QueueManager, session: Session, transfer: IncomingTransactionalTransferInfo | None, now: Now) -> None:
    if transfer is not None:
        transfer.RejectCount = 0


def _access_not_noted(original: Original) -> Original:
    def reject(
        qm: QueueManager, session: Session, transfer: IncomingTransactionalTransferInfo | None, now: Now
    ) -> None:
        time_s = 0 if transfer is None else transfer.LastAccessTime
        original(qm, session, transfer, now)
        if transfer is not None:
            transfer.LastAccessTime = time_s

    return reject


def _sending_not_noted(original: Original) -> Original:
    def expire(qm: QueueManager, session: Session, now: Now) -> None:
        time_s = session.LastOrderAckSendTime
        original(qm, session, now)
        session.LastOrderAckSendTime = time_s

    return expire


for _name, _breaks, _says, _install in (
    (
        "timeout-of-two-seconds",
        (f"{RULE}-03", f"{BOTH}-06", "MQQB-3.1.2.7-01"),
        "OrderAckTimeout is two seconds.",
        afterwards(Initialization.initialize_parameters, _long_timeout),
    ),
    (
        "not-sent",
        (f"{RULE}-04", f"{BOTH}-07", "MQQB-3.1.6.9-01"),
        "Nothing is sent when the Order Ack Send Timer expires.",
        skip(OrderAcks.on_send_timer),
    ),
    (
        "put-off-for-ever",
        (f"{RULE}-01", f"{BOTH}-04"),
        "Each message puts the OrderAck off.",
        procedure(OrderAcks.schedule, _put_off_always),
    ),
    (
        "never-put-off",
        (f"{RULE}-02", f"{BOTH}-05"),
        "No message puts the OrderAck off.",
        procedure(OrderAcks.schedule, _put_off_never),
    ),
    (
        "of-any-later-message",
        (f"{RULE}-09", f"{BOTH}-03"),
        "A message is accepted whether the one before it came or not.",
        procedure(InSequence.is_in_sequence, _any_later),
    ),
    (
        "number-forgotten",
        (f"{RULE}-09",),
        "A sequence stands at number 1 after each message.",
        afterwards(InSequence.accept_in_sequence, _number_forgotten),
    ),
    (
        "rejection-not-counted",
        (f"{RULE}-05",),
        "A message that is not accepted is not counted.",
        skip(InSequence.reject_out_of_sequence),
    ),
    (
        "rejection-not-told",
        (f"{RULE}-06",),
        "RejectCount of the sequence stays 0.",
        afterwards(InSequence.reject_out_of_sequence, _not_told),
    ),
    (
        "rejections-counted-on",
        (f"{RULE}-07",),
        "TxMessageRejectCount keeps its value when a message is accepted.",
        procedure(InSequence.accept_in_sequence, _count_kept),
    ),
    (
        "access-not-noted",
        (f"{RULE}-08",),
        "LastAccessTime is only set when a message is accepted.",
        procedure(InSequence.reject_out_of_sequence, _access_not_noted),
    ),
    (
        "sending-not-noted",
        ("MQQB-3.1.6.9-02",),
        "LastOrderAckSendTime is when the session began.",
        procedure(OrderAcks.on_send_timer, _sending_not_noted),
    ),
):
    add(f"order-ack-{_name}", _breaks, _says, _install)
