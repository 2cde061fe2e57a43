"""Faults of MS-MQQB 3.1.6.4 Session Ack Send Timer Event that need two sessions."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import SessionHeader
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from suites.mqqb.steps.other_sessions import list_open_sessions


class _HeaderOfAllSessions(SessionAcks):
    """Put a value of all open sessions into the acknowledgments of each session."""

    def build_header(self, session: Session) -> SessionHeader:
        header = super().build_header(session)
        if session.SessionState is not SessionState.OPEN:
            return header
        return self.change_header(header, list_open_sessions(self.qm, session))

    def change_header(self, header: SessionHeader, others: list[Session]) -> SessionHeader:
        """Return the changed header; ``others``: the other open sessions."""
        raise NotImplementedError


@fault("receiver-session-ack-ack-sequence-number-of-all-sessions", breaks="MQQB-3.1.6.4-04")
class ReceiverSessionAckAckSequenceNumberOfAllSessions(_HeaderOfAllSessions):
    """AckSequenceNumber of a SessionAck is the number of messages that the receiver has received on all sessions."""

    def change_header(self, header: SessionHeader, others: list[Session]) -> SessionHeader:
        count = header.AckSequenceNumber + sum(one.MessageReceivedCount for one in others)
        return replace(header, AckSequenceNumber=count & 0xFFFF)


@fault("receiver-session-ack-user-msg-sequence-number-of-all-sessions", breaks="MQQB-3.1.6.4-06")
class ReceiverSessionAckUserMsgSequenceNumberOfAllSessions(_HeaderOfAllSessions):
    """UserMsgSequenceNumber of a SessionAck is the number of messages that were sent on all sessions."""

    def change_header(self, header: SessionHeader, others: list[Session]) -> SessionHeader:
        count = header.UserMsgSequenceNumber + sum(one.MessageSentCount for one in others)
        return replace(header, UserMsgSequenceNumber=count & 0xFFFF)


@fault("receiver-session-ack-recoverable-number-of-all-sessions", breaks="MQQB-3.1.6.4-07")
class ReceiverSessionAckRecoverableNumberOfAllSessions(_HeaderOfAllSessions):
    """RecoverableMsgSeqNumber of a SessionAck is the number of recoverable messages that were sent on all sessions."""

    def change_header(self, header: SessionHeader, others: list[Session]) -> SessionHeader:
        count = header.RecoverableMsgSeqNumber + sum(one.RecoverableMessageSentCount for one in others)
        return replace(header, RecoverableMsgSeqNumber=count & 0xFFFF)


@fault("receiver-session-ack-flags-of-all-sessions", breaks="MQQB-3.1.6.4-08")
class ReceiverSessionAckFlagsOfAllSessions(_HeaderOfAllSessions):
    """RecoverableMsgAckFlags of a SessionAck has the bits of all sessions with unacknowledged messages."""

    def change_header(self, header: SessionHeader, others: list[Session]) -> SessionHeader:
        flags = header.RecoverableMsgAckFlags
        for one in others:
            flags |= one.RecoverableMsgAckFlags
        return replace(header, RecoverableMsgAckFlags=flags)
