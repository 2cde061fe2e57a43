"""Faults of sending again. Spec: MS-MQQB 3.1.1.6.2, 3.1.2.6, 3.1.6.5."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.primitives import procedure, skip
from harness.faults.registry import add
from reference_qm.core.protocol.transactional_sending import TransactionalSending, outgoing_sequence
from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now

Original = Callable[..., Any]
BOTH = "MQQB-3.1.1.6.2"


def _interval(original: Original) -> Original:
    def start(qm: QueueManager, session: Session, now: Now) -> None:
        outgoing_sequence(session).ResendInterval = 3
        original(qm, session, now)

    return start


def _first_only(original: Original) -> Original:
    """Send only the first of the messages again that wait for their OrderAck."""

    def expire(qm: QueueManager, session: Session, now: Now) -> None:
        waiting = [one for one in session.OutgoingMessageTable if one.TxSequenceNumber and not one.ReceivedOrderAck]
        for position in waiting[1:]:
            position.ReceivedOrderAck = True
        original(qm, session, now)

    return expire


add(
    "resend-nothing",
    ("MQQB-3.1.6.5-01", "MQQB-3.1.6.5-02", f"{BOTH}-10"),
    "Nothing is sent again when the Transactional Ack Wait Timer expires.",
    skip(TransactionalSending.on_ack_wait_timer),
)
add(
    "resend-first-only",
    "MQQB-3.1.6.5-01",
    "Only the first message is sent again.",
    procedure(TransactionalSending.on_ack_wait_timer, _first_only),
)
add(
    "resend-too-soon",
    "MQQB-3.1.2.6-01",
    "The Transactional Ack Wait Timer runs for three seconds.",
    procedure(TransactionalSending.start_ack_wait_timer, _interval),
)


def _discard(qm: QueueManager, session: Session, position: OutgoingMessagePosition) -> None:
    session.OutgoingMessageTable.remove(position)


add(
    "session-ack-discards-transactional",
    f"{BOTH}-09",
    "A session acknowledgment discards transactional messages.",
    procedure(TransactionalSending.retain, lambda original: _discard),
)
