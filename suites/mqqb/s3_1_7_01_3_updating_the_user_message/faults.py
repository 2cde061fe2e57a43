"""Faults of MS-MQQB 3.1.7.1.3 Updating the UserMessage Packet: counts and SessionHeader."""

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


def _change_after_update(change: Callable[[Session, OutgoingMessagePosition], None]) -> Install:
    """Change the session and the position of a message after the message was updated."""

    class Updated(Sending):
        def update_user_message(
            self, session: Session, position: OutgoingMessagePosition, now: Now
        ) -> UserMessagePacket:
            packet = super().update_user_message(session, position, now)
            change(session, position)
            return packet

    return replace_part(Updated)


def _count_sent_message_twice(session: Session, position: OutgoingMessagePosition) -> None:
    session.MessageSentCount += 1


def _count_express_as_recoverable(session: Session, position: OutgoingMessagePosition) -> None:
    if not position.recoverable:
        session.RecoverableMessageSentCount += 1


def _clear_position_sequence_number(session: Session, position: OutgoingMessagePosition) -> None:
    position.SequenceNumber = 0


def _clear_awaiting_ack(qm: QueueManager) -> None:
    """Clear AwaitingAck of all sent messages, and prevent the sender from resending them."""
    for session in qm.sessions.values():
        session.OutgoingMessageTable.next_unsent()
        for position in session.OutgoingMessageTable:
            position.AwaitingAck = False


def _decrement_unacked_message_count(session: Session, position: OutgoingMessagePosition) -> None:
    session.UnAckedMessageCount = max(0, session.UnAckedMessageCount - 1)


def _clear_session_active(session: Session, position: OutgoingMessagePosition) -> None:
    session.SessionActive = False


add(
    "sender-message-sent-count-grows-by-2",
    ("MQQB-3.1.7.1.3-11", "MQQB-3.1.7.1.3-18"),
    "The sender increments MessageSentCount by two for each message.",
    _change_after_update(_count_sent_message_twice),
)
add(
    "sender-recoverable-sent-count-includes-express",
    ("MQQB-3.1.7.1.3-13", "MQQB-3.1.7.1.3-19"),
    "The sender also increments RecoverableMessageSentCount for express messages.",
    _change_after_update(_count_express_as_recoverable),
)
add(
    "sender-outgoing-entry-sequence-number-0-after-sending",
    "MQQB-3.1.7.1.3-12",
    "The sender leaves SequenceNumber of a sent OutgoingMessagePosition at 0.",
    _change_after_update(_clear_position_sequence_number),
)
add(
    "sender-outgoing-entry-awaiting-ack-false-after-sending",
    "MQQB-3.1.7.1.3-26",
    "The sender leaves AwaitingAck of a sent OutgoingMessagePosition at FALSE.",
    always(_clear_awaiting_ack),
)
add(
    "sender-unacked-message-count-always-0",
    "MQQB-3.1.7.1.3-14",
    "The sender leaves UnAckedMessageCount at 0.",
    _change_after_update(_decrement_unacked_message_count),
)
add(
    "sender-session-active-not-set",
    "MQQB-3.1.7.1.3-28",
    "The sender leaves SessionActive at FALSE when it sends a message.",
    _change_after_update(_clear_session_active),
)
add(
    "sender-ack-wait-timer-not-started",
    "MQQB-3.1.7.1.3-27",
    "The sender does not start the Session Ack Wait Timer when it sends a message.",
    skip(SessionAcks.start_wait_timer),
)

# -- the SessionHeader ---------------------------------------------------------------------------------------------

add(
    "sender-session-header-ack-sequence-number-high",
    ("MQQB-3.1.7.1.3-15", "MQQB-3.1.7.1.3-16"),
    "The SessionHeader in the sender's message has an AckSequenceNumber that is one too high.",
    off_by(UserMessagePacket, "SessionHeader.AckSequenceNumber", 1),
)
add(
    "sender-session-header-recoverable-number-high",
    ("MQQB-3.1.7.1.3-15", "MQQB-3.1.7.1.3-17"),
    "The SessionHeader in the sender's message has a RecoverableMsgAckSeqNumber that is one too high.",
    off_by(UserMessagePacket, "SessionHeader.RecoverableMsgAckSeqNumber", 1),
)
add(
    "sender-session-header-has-one-flag-too-many",
    ("MQQB-3.1.7.1.3-15", "MQQB-3.1.7.1.3-20"),
    "The SessionHeader in the sender's message flags one message too many in RecoverableMsgAckFlags.",
    wrong_fields(
        UserMessagePacket,
        {"SessionHeader.RecoverableMsgAckFlags": lambda old: old << 1 | 1},
        lambda packet: packet.SessionHeader is not None,
    ),
)
add(
    "sender-session-header-window-size-high",
    ("MQQB-3.1.7.1.3-15", "MQQB-3.1.7.1.3-22"),
    "The SessionHeader in the sender's message has a WindowSize that is one too high.",
    off_by(UserMessagePacket, "SessionHeader.WindowSize", 1),
)


def _change_after_session_header(change: Callable[[QueueManager, Session, Session, Now], None]) -> Install:
    """Change the session after a message with a SessionHeader was sent; the earlier state of the session is also an
    argument of ``change``.
    """

    def make_changed_note(original: Callable[..., None], *_: Any) -> Callable[..., None]:
        def note_and_change(qm: QueueManager, session: Session, now: Now) -> None:
            before = copy(session)
            original(qm, session, now)
            change(qm, session, before, now)

        return note_and_change

    return during(Sending.update_user_message, SessionAcks.note_acknowledged, make_changed_note)


def _keep_unacked_received_count(qm: QueueManager, session: Session, before: Session, now: Now) -> None:
    session.UnackedReceivedMsgCount = before.UnackedReceivedMsgCount
    qm.session_timers.start(session, TimerName.SESSION_ACK_SEND, session.RecoverableAckSendTimeout, now)


def _keep_recoverable_ack_flags(qm: QueueManager, session: Session, before: Session, now: Now) -> None:
    session.RecoverableMsgAckFlags = before.RecoverableMsgAckFlags


def _increment_last_acked_recoverable_number(qm: QueueManager, session: Session, before: Session, now: Now) -> None:
    session.LastAckedRecoverableMsgSeqNumber += 1


add(
    "sender-unacked-received-count-kept-after-session-header",
    ("MQQB-3.1.7.1.3-23", "MQQB-3.1.7.1.3-24"),
    "The sender does not reset UnackedReceivedMsgCount after it sends a message with a SessionHeader.",
    _change_after_session_header(_keep_unacked_received_count),
)
add(
    "sender-ack-flags-kept-after-session-header",
    "MQQB-3.1.7.1.3-21",
    "The sender does not clear RecoverableMsgAckFlags after it sends a message with a SessionHeader.",
    _change_after_session_header(_keep_recoverable_ack_flags),
)
add(
    "sender-last-acked-number-high-after-session-header",
    "MQQB-3.1.7.1.3-25",
    "The sender sets LastAckedRecoverableMsgSeqNumber one too high after it sends a message with a SessionHeader.",
    _change_after_session_header(_increment_last_acked_recoverable_number),
)


@fault("sender-resent-message-names-missing-predecessor", breaks="MQQB-3.1.7.1.3-10", blind=True)
class SenderResentMessageNamesMissingPredecessor(TransactionalSending):
    """The sender resends a message whose PreviousTxSequenceNumber is the number of the preceding message, although that
    message was deleted.
    """

    def update_transaction_header(
        self, session: Session, position: OutgoingMessagePosition, now: Now
    ) -> UserMessagePacket:
        packet = super().update_transaction_header(session, position, now)
        header = packet.TransactionHeader
        if header is None or not position.Transmitted:
            return packet
        return replace(packet, TransactionHeader=replace(header, PreviousTxSequenceNumber=header.TxSequenceNumber - 1))


@fault("sender-session-header-window-size-of-peer", breaks=("MQQB-3.1.7.1.3-22", "MQQB-3.1.7.11-10"), blind=True)
class SenderSessionHeaderWindowSizeOfPeer(Sending):
    """The sender puts the peer's WindowSize into the SessionHeader of a message."""

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        packet = super().update_user_message(session, position, now)
        if packet.SessionHeader is None:
            return packet
        return replace(packet, SessionHeader=replace(packet.SessionHeader, WindowSize=session.ReceivedWindowSize))


add(
    "sender-window-ignores-express-messages",
    "MQQB-3.1.7.1.3-14",
    "The sender does not count express messages in UnAckedMessageCount.",
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
