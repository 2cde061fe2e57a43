"""Faults of receiving session acknowledgments. Spec: MS-MQQB 3.1.5.5."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import Method
from harness.faults.primitives import afterwards, both, during, procedure, skip
from harness.faults.registry import Install, add
from reference_qm.codec import SessionAckPacket, SessionHeader
from reference_qm.core.protocol.dispatching import DispatchCollection
from reference_qm.core.protocol.identifying import Identifying
from reference_qm.core.protocol.journaling import Journaling
from reference_qm.core.protocol.sending import Sending
from reference_qm.core.protocol.session_acks import SessionAcks
from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now

Original = Callable[..., Any]


def _reading(name: Method, change: Callable[[Session, SessionHeader], SessionHeader]) -> Install:
    """Let a procedure take a SessionHeader for another."""

    def make(original: Original) -> Original:
        return lambda qm, session, header, *rest: original(qm, session, change(session, header), *rest)

    return procedure(name, make)


def _nothing(*arguments: Any) -> None:
    """Stand in for a procedure that is left out."""


# -- 3.1.5.5 Receiving a SessionAck --------------------------------------------------------------------------------


def _tolerate_early_ack(original: Original) -> Original:
    def refuse(qm: QueueManager, session: Session, packet: Any, now: Now) -> None:
        if not isinstance(packet, SessionAckPacket):
            original(qm, session, packet, now)

    return refuse


def _one_less(session: Session, header: SessionHeader) -> SessionHeader:
    return replace(header, AckSequenceNumber=header.AckSequenceNumber - 1 & 0xFFFF)


def _free_again(original: Original) -> Original:
    def mark(qm: QueueManager, session: Session, header: SessionHeader) -> None:
        before = session.UnAckedMessageCount
        original(qm, session, header)
        if session.UnAckedMessageCount == before:
            session.UnAckedMessageCount = max(0, before - header.AckSequenceNumber)

    return mark


def _unsent(session: Session) -> list[OutgoingMessagePosition]:
    return [position for position in session.OutgoingMessageTable if not position.AwaitingAck]


def _keep_the_last(original: Original, *_: Any) -> Original:
    return lambda qm, session: original(qm, session) and len(_unsent(session)) > 1


def _send_the_last(original: Original, *_: Any) -> Original:
    return lambda qm, session, position, now: original(qm, session, _unsent(session)[-1], now)


def _leave_it(original: Original, *_: Any) -> Original:
    """Keep the first one where it is: the last one was sent instead."""
    return _nothing


def _delete_every_kind(qm: QueueManager, session: Session, header: SessionHeader) -> None:
    for position in session.OutgoingMessageTable.awaiting_ack:
        if position.SequenceNumber <= header.AckSequenceNumber:
            qm.session_acks.delete_position(session, position)


def _keep_the_number(original: Original, _: QueueManager, session: Session, header: SessionHeader) -> Original:
    def delete(qm: QueueManager, session: Session, position: OutgoingMessagePosition) -> None:
        if position.RecoverableSequenceNumber != header.RecoverableMsgAckSeqNumber:
            original(qm, session, position)

    return delete


add(
    "early-session-ack-tolerated",
    "MQQB-3.1.5.5-01",
    "A SessionAck that comes before the session is open is ignored.",
    procedure(Identifying.refuse_out_of_state, _tolerate_early_ack),
)
add(
    "last-acknowledged-message-not-marked",
    ("MQQB-3.1.5.5-03", "MQQB-3.1.5.5.1-01"),
    "AckSequenceNumber is taken for the first number that is not acknowledged, when messages are marked.",
    _reading(SessionAcks.mark_acknowledged, _one_less),
)
add(
    "repeated-acknowledgment-opens-window",
    "MQQB-3.1.5.5.1-02",
    "An acknowledgment that covers nothing new makes room for as many messages as it covers.",
    procedure(SessionAcks.mark_acknowledged, _free_again),
)
add(
    "message-held-back-after-acknowledgment",
    "MQQB-3.1.5.5.1-03",
    "An acknowledgment lets all messages go that wait for the window, except for the last.",
    during(SessionAcks.process_header, Sending.may_send, _keep_the_last),
)
add(
    "messages-held-back-leave-backwards",
    "MQQB-3.1.5.5.1-04",
    "The messages that an acknowledgment lets go leave in the reverse order.",
    both(
        during(SessionAcks.process_header, Sending.send_user_message, _send_the_last),
        during(SessionAcks.process_header, DispatchCollection.remove, _leave_it),
    ),
)
add(
    "last-acknowledged-express-message-kept",
    ("MQQB-3.1.5.5-04", "MQQB-3.1.5.5.2-01"),
    "The express message with the number AckSequenceNumber is not deleted.",
    _reading(SessionAcks.delete_acknowledged_express, _one_less),
)
add(
    "recoverable-message-deleted-as-express",
    ("MQQB-3.1.5.5-04", "MQQB-3.1.5.5.2-01"),
    "AckSequenceNumber deletes recoverable messages too.",
    afterwards(SessionAcks.delete_acknowledged_express, _delete_every_kind),
)
add(
    "acknowledged-recoverable-messages-kept",
    "MQQB-3.1.5.5-05",
    "No recoverable message is ever deleted.",
    skip(SessionAcks.delete_acknowledged_recoverable),
)
add(
    "recoverable-message-of-the-number-kept",
    "MQQB-3.1.5.5.3-01",
    "The recoverable message with the number RecoverableMsgAckSeqNumber is not deleted.",
    during(SessionAcks.delete_acknowledged_recoverable, SessionAcks.delete_position, _keep_the_number),
)
add(
    "recoverable-ack-flags-ignored",
    "MQQB-3.1.5.5.3-02",
    "Of RecoverableMsgAckFlags only bit 0 is looked at.",
    _reading(
        SessionAcks.delete_acknowledged_recoverable,
        lambda session, header: replace(header, RecoverableMsgAckFlags=header.RecoverableMsgAckFlags & 1),
    ),
)
add(
    "acknowledged-messages-not-journaled",
    ("MQQB-3.1.5.5-06", "MQQB-3.1.5.5.4-01"),
    "Acknowledged messages that ask for positive source journaling are deleted without a trace.",
    skip(Journaling.journal_delivered),
)
add(
    "message-count-not-validated",
    ("MQQB-3.1.5.5-07", "MQQB-3.1.5.5.5-01"),
    "UserMsgSequenceNumber may be any number.",
    _reading(
        SessionAcks.validate_message_counts,
        lambda session, header: replace(header, UserMsgSequenceNumber=session.MessageReceivedCount),
    ),
)
add(
    "recoverable-message-count-not-validated",
    ("MQQB-3.1.5.5-07", "MQQB-3.1.5.5.5-01"),
    "RecoverableMsgSeqNumber may be any number.",
    _reading(
        SessionAcks.validate_message_counts,
        lambda session, header: replace(header, RecoverableMsgSeqNumber=session.RecoverableMessageReceivedCount),
    ),
)
add(
    "ack-wait-not-restarted-by-acknowledgment",
    "MQQB-3.1.5.5.5-02",
    "An acknowledgment that leaves messages unacknowledged does not restart the Session Ack Wait Timer.",
    during(SessionAcks.validate_message_counts, SessionAcks.start_wait_timer, lambda original, *_: _nothing),
)
