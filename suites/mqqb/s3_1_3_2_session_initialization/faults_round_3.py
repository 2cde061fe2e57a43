"""Faults that break rules of MS-MQQB 3.1.3.2 Session Initialization."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.sessions.session_initialization import SessionInitialization
from reference_qm.core.transfer.transactional_sending import get_outgoing_sequence
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("sender-resend-interval-kept-by-next-session", breaks="MQQB-3.1.3.2-20", blind=True)
class SenderResendIntervalKeptByNextSession(SessionInitialization):
    """The sender begins a session that replaces a closed session with the ResendInterval of the closed session."""

    def initialize_transfer_sequence(self, session: Session, now: Now) -> None:
        before = session.TxOutgoingSequence
        super().initialize_transfer_sequence(session, now)
        if before is not None:
            get_outgoing_sequence(session).ResendInterval = before.ResendInterval
