"""Faults of MS-MQQB 3.1.5.5.5 Validate Message Counts, by an author who had not seen the checks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.parts import fault
from harness.faults.primitives import during, skip_during
from harness.faults.registry import add
from reference_qm.codec import SessionHeader, UserMessagePacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.transfer.receiving import Receiving
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now


@fault("receiver-counts-in-user-message-not-compared", breaks="MQQB-3.1.5.5.5-01", blind=True)
class CountsInMessageNotCompared(Receiving):
    """The receiver compares the message counts of a SessionAck, but not those of a SessionHeader in a UserMessage."""

    def receive_user_message(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        header = packet.SessionHeader
        if header is not None:
            right = replace(
                header,
                UserMsgSequenceNumber=session.MessageReceivedCount + 1 & 0xFFFF,
                RecoverableMsgSeqNumber=session.RecoverableMessageReceivedCount + packet.UserHeader.DM & 0xFFFF,
            )
            packet = replace(packet, SessionHeader=right)
        super().receive_user_message(session, packet, now)


def _received(session: Session, header: SessionHeader, user: int | None, recoverable: int | None) -> SessionHeader:
    return replace(
        header,
        UserMsgSequenceNumber=session.MessageReceivedCount if user is None else user,
        RecoverableMsgSeqNumber=session.RecoverableMessageReceivedCount if recoverable is None else recoverable,
    )


@fault("receiver-recoverable-count-below-received-accepted", breaks="MQQB-3.1.5.5.5-01", blind=True)
class LowerRecoverableCountAccepted(SessionAcks):
    """The receiver accepts a RecoverableMsgSeqNumber that is lower than the number of received recoverable messages."""

    def validate_message_counts(self, session: Session, header: SessionHeader, now: Now) -> None:
        if header.RecoverableMsgSeqNumber < session.RecoverableMessageReceivedCount:
            header = _received(session, header, header.UserMsgSequenceNumber, None)
        super().validate_message_counts(session, header, now)


@fault("receiver-message-count-below-received-accepted", breaks="MQQB-3.1.5.5.5-01", blind=True)
class LowerCountAccepted(SessionAcks):
    """The receiver accepts a UserMsgSequenceNumber that is lower than the number of received messages."""

    def validate_message_counts(self, session: Session, header: SessionHeader, now: Now) -> None:
        if header.UserMsgSequenceNumber < session.MessageReceivedCount:
            header = _received(session, header, None, header.RecoverableMsgSeqNumber)
        super().validate_message_counts(session, header, now)


@fault("receiver-message-counts-compared-in-8-bits", breaks="MQQB-3.1.5.5.5-01", blind=True)
class CountsOfEightBits(SessionAcks):
    """The receiver compares only the low byte of the message counts."""

    def validate_message_counts(self, session: Session, header: SessionHeader, now: Now) -> None:
        same = header.UserMsgSequenceNumber & 0xFF == session.MessageReceivedCount & 0xFF
        same_recoverable = header.RecoverableMsgSeqNumber & 0xFF == session.RecoverableMessageReceivedCount & 0xFF
        header = _received(
            session,
            header,
            None if same else header.UserMsgSequenceNumber,
            None if same_recoverable else header.RecoverableMsgSeqNumber,
        )
        super().validate_message_counts(session, header, now)


@fault("initiator-message-counts-not-compared", breaks="MQQB-3.1.5.5.5-01", blind=True)
class InitiatorDoesNotCompare(SessionAcks):
    """A queue manager that opened the session does not compare the message counts."""

    def validate_message_counts(self, session: Session, header: SessionHeader, now: Now) -> None:
        if session.initiator:
            header = _received(session, header, None, None)
        super().validate_message_counts(session, header, now)


def _start_with_progress(original: Any, qm: QueueManager, session: Session, header: SessionHeader, now: Now) -> Any:
    stale = header.AckSequenceNumber == session.last_ack
    return (lambda *arguments, **named: None) if stale else original


add(
    "sender-ack-wait-timer-not-restarted-by-header-that-marks-nothing",
    "MQQB-3.1.5.5.5-02",
    "A SessionHeader that acknowledges nothing new does not restart the sender's Session Ack Wait Timer.",
    during(SessionAcks.process_header, SessionAcks.start_wait_timer, _start_with_progress),
    blind=True,
)
add(
    "sender-ack-wait-timer-not-restarted-by-header-in-user-message",
    "MQQB-3.1.5.5.5-02",
    "A SessionHeader in a UserMessage does not restart the sender's Session Ack Wait Timer.",
    skip_during(Receiving.receive_user_message, SessionAcks.start_wait_timer),
    blind=True,
)


@fault("receiver-wrong-count-closes-every-session", breaks="MQQB-3.1.5.5.5-01", blind=True)
class EverySessionClosed(SessionAcks):
    """After a wrong message count, the receiver closes all accepted sessions of the sender."""

    def validate_message_counts(self, session: Session, header: SessionHeader, now: Now) -> None:
        super().validate_message_counts(session, header, now)
        if session.SessionState is not SessionState.OPEN:
            for other in list(self.qm.sessions.values()):
                if not other.initiator and other.SessionState is SessionState.OPEN:
                    self.qm.closing.close(other, "a fault", now)


@fault("receiver-counts-compared-only-in-first-header", breaks="MQQB-3.1.5.5.5-01", blind=True)
class ComparedOnce(SessionAcks):
    """The receiver compares the counts only of the first SessionHeader of a session."""

    def validate_message_counts(self, session: Session, header: SessionHeader, now: Now) -> None:
        known: set[int] = self.__dict__.setdefault("known", set())
        if session.number in known:
            header = _received(session, header, None, None)
        known.add(session.number)
        super().validate_message_counts(session, header, now)
