"""Faults of MS-MQQB 3.1.7.1.3 Updating the UserMessage Packet: counts, and the SessionHeader that it carries."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from typing import Any

from harness.faults.fields import off_by
from harness.faults.parts import fault, override_method, replace_part
from harness.faults.primitives import always, during, skip, wrong_fields
from harness.faults.registry import Install, add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.transfer.sending import Sending
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.core.transfer.transactional_sending import TransactionalSending
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now

# -- the session and the position ----------------------------------------------------------------------------------


def _updated(change: Callable[[Session, OutgoingMessagePosition], None]) -> Install:
    """Spoil what was updated."""

    class Updated(Sending):
        def update_user_message(
            self, session: Session, position: OutgoingMessagePosition, now: Now
        ) -> UserMessagePacket:
            packet = super().update_user_message(session, position, now)
            change(session, position)
            return packet

    return replace_part(Updated)


def _count_twice(session: Session, position: OutgoingMessagePosition) -> None:
    session.MessageSentCount += 1


def _count_express(session: Session, position: OutgoingMessagePosition) -> None:
    if not position.recoverable:
        session.RecoverableMessageSentCount += 1


def _clear_number(session: Session, position: OutgoingMessagePosition) -> None:
    position.SequenceNumber = 0


def _await_nothing(qm: QueueManager) -> None:
    """Clear AwaitingAck of all that was sent, without sending it again."""
    for session in qm.sessions.values():
        session.OutgoingMessageTable.next_unsent()
        for position in session.OutgoingMessageTable:
            position.AwaitingAck = False


def _uncount_unacknowledged(session: Session, position: OutgoingMessagePosition) -> None:
    session.UnAckedMessageCount = max(0, session.UnAckedMessageCount - 1)


def _deactivate(session: Session, position: OutgoingMessagePosition) -> None:
    session.SessionActive = False


add(
    "update-counted-twice",
    ("MQQB-3.1.7.1.3-11", "MQQB-3.1.7.1.3-18"),
    "MessageSentCount grows by two.",
    _updated(_count_twice),
)
add(
    "update-all-recoverable",
    ("MQQB-3.1.7.1.3-13", "MQQB-3.1.7.1.3-19"),
    "Express messages are counted as recoverable ones too.",
    _updated(_count_express),
)
add(
    "update-position-without-place",
    "MQQB-3.1.7.1.3-12",
    "SequenceNumber of a position is 0.",
    _updated(_clear_number),
)
add("update-not-awaiting", "MQQB-3.1.7.1.3-26", "AwaitingAck stays clear.", always(_await_nothing))
add(
    "update-not-unacknowledged",
    "MQQB-3.1.7.1.3-14",
    "UnAckedMessageCount stays 0.",
    _updated(_uncount_unacknowledged),
)
add(
    "update-inactive",
    "MQQB-3.1.7.1.3-28",
    "Sending a message leaves its session inactive.",
    _updated(_deactivate),
)
add(
    "update-ack-wait-not-started",
    "MQQB-3.1.7.1.3-27",
    "The Session Ack Wait Timer is not started.",
    skip(SessionAcks.start_wait_timer),
)

# -- the SessionHeader ---------------------------------------------------------------------------------------------

add(
    "update-carried-count",
    ("MQQB-3.1.7.1.3-15", "MQQB-3.1.7.1.3-16"),
    "AckSequenceNumber of a SessionHeader in a message is one more.",
    off_by(UserMessagePacket, "SessionHeader.AckSequenceNumber", 1),
)
add(
    "update-carried-recoverable-number",
    ("MQQB-3.1.7.1.3-15", "MQQB-3.1.7.1.3-17"),
    "RecoverableMsgAckSeqNumber of a SessionHeader in a message is one more.",
    off_by(UserMessagePacket, "SessionHeader.RecoverableMsgAckSeqNumber", 1),
)
add(
    "update-carried-flags",
    ("MQQB-3.1.7.1.3-15", "MQQB-3.1.7.1.3-20"),
    "A SessionHeader in a message flags one message more.",
    wrong_fields(
        UserMessagePacket,
        {"SessionHeader.RecoverableMsgAckFlags": lambda old: old << 1 | 1},
        lambda packet: packet.SessionHeader is not None,
    ),
)
add(
    "update-carried-window",
    ("MQQB-3.1.7.1.3-15", "MQQB-3.1.7.1.3-22"),
    "A SessionHeader in a message has another WindowSize.",
    off_by(UserMessagePacket, "SessionHeader.WindowSize", 1),
)


def _after_carrying(change: Callable[[QueueManager, Session, Session, Now], None]) -> Install:
    """Spoil what a message that carries a SessionHeader changes; ``change`` gets the session as it was, too."""

    def make(original: Callable[..., None], *_: Any) -> Callable[..., None]:
        def note(qm: QueueManager, session: Session, now: Now) -> None:
            before = copy(session)
            original(qm, session, now)
            change(qm, session, before, now)

        return note

    return during(Sending.update_user_message, SessionAcks.note_acknowledged, make)


def _keep_count(qm: QueueManager, session: Session, before: Session, now: Now) -> None:
    session.UnackedReceivedMsgCount = before.UnackedReceivedMsgCount
    qm.session_timers.start(session, TimerName.SESSION_ACK_SEND, session.RecoverableAckSendTimeout, now)


def _keep_flags(qm: QueueManager, session: Session, before: Session, now: Now) -> None:
    session.RecoverableMsgAckFlags = before.RecoverableMsgAckFlags


def _go_one_too_far(qm: QueueManager, session: Session, before: Session, now: Now) -> None:
    session.LastAckedRecoverableMsgSeqNumber += 1


add(
    "update-carried-count-kept",
    ("MQQB-3.1.7.1.3-23", "MQQB-3.1.7.1.3-24"),
    "UnackedReceivedMsgCount keeps its value when a message carries the SessionHeader.",
    _after_carrying(_keep_count),
)
add(
    "update-carried-flags-kept",
    "MQQB-3.1.7.1.3-21",
    "RecoverableMsgAckFlags keeps its value when a message carries the SessionHeader.",
    _after_carrying(_keep_flags),
)
add(
    "update-carried-number-too-high",
    "MQQB-3.1.7.1.3-25",
    "LastAckedRecoverableMsgSeqNumber is one too high once a message carried a SessionHeader.",
    _after_carrying(_go_one_too_far),
)


@fault("gap-not-bridged-when-sent-again", breaks="MQQB-3.1.7.1.3-10", blind=True)
class GapNotBridgedWhenSentAgain(TransactionalSending):
    """A message sent again names the number before its own, whether that message is still there or not."""

    def update_transaction_header(
        self, session: Session, position: OutgoingMessagePosition, now: Now
    ) -> UserMessagePacket:
        packet = super().update_transaction_header(session, position, now)
        header = packet.TransactionHeader
        if header is None or not position.Transmitted:
            return packet
        return replace(packet, TransactionHeader=replace(header, PreviousTxSequenceNumber=header.TxSequenceNumber - 1))


@fault("window-in-a-message-is-that-of-the-peer", breaks=("MQQB-3.1.7.1.3-22", "MQQB-3.1.7.11-10"), blind=True)
class WindowInAMessageIsThatOfThePeer(Sending):
    """A SessionHeader in a message has the WindowSize of the other side."""

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        packet = super().update_user_message(session, position, now)
        if packet.SessionHeader is None:
            return packet
        return replace(packet, SessionHeader=replace(packet.SessionHeader, WindowSize=session.ReceivedWindowSize))


add(
    "express-not-counted-in-the-window",
    "MQQB-3.1.7.1.3-14",
    "UnAckedMessageCount does not count express messages.",
    replace_part(
        override_method(
            Sending.is_window_open,
            lambda original: (
                lambda qm, session: (
                    sum(one.recoverable for one in session.OutgoingMessageTable.awaiting_ack) < session.WindowSize
                )
            ),
        )
    ),
    blind=True,
)
