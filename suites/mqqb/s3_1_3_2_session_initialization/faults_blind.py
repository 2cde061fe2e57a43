"""Faults of MS-MQQB 3.1.3.2 Session Initialization, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.sessions.session_initialization import SessionInitialization
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("initiator-recoverable-message-received-count-kept-on-reconnect", breaks="MQQB-3.1.3.2-05", blind=True)
class InitiatorRecoverableMessageReceivedCountKeptOnReconnect(SessionInitialization):
    """An initiator that connects again keeps the RecoverableMessageReceivedCount of its earlier session."""

    def initialize_counts(self, session: Session) -> None:
        before = session.RecoverableMessageReceivedCount
        super().initialize_counts(session)
        session.RecoverableMessageReceivedCount = before


@fault("initiator-direct-format-session-kept-on-reconnect", breaks="MQQB-3.1.3.2-29", blind=True)
class InitiatorDirectFormatSessionKeptOnReconnect(SessionInitialization):
    """An initiator that connects again keeps the DirectFormatSession of its earlier session."""

    def initialize_parameters(self, session: Session, now: Now) -> None:
        before = session.DirectFormatSession
        super().initialize_parameters(session, now)
        session.DirectFormatSession = before


@fault("sender-express-message-of-lost-session-not-sent-again", breaks="MQQB-3.1.3.2-22", blind=True)
class SenderExpressMessageOfLostSessionNotSentAgain(SessionInitialization):
    """The sender deletes an express message that was sent on an earlier session, instead of sending it again."""

    def initialize_messages(self, session: Session) -> None:
        for position in session.OutgoingMessageTable:
            if position.Transmitted and not position.recoverable:
                session.OutgoingMessageTable.remove(position)
        super().initialize_messages(session)
