"""Blind violations of round five: MS-MQQB 3.1.3.2 Session Initialization."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.sessions.session_initialization import SessionInitialization
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("initiator-timeoflastack-kept-for-next-session", breaks="MQQB-3.1.3.2-17", blind=True)
class InitiatorTimeoflastackKeptForNextSession(SessionInitialization):
    """When the initiator establishes a session again, TimeOfLastAck keeps the value of the previous session."""

    def initialize_transfer_sequence(self, session: Session, now: Now) -> None:
        earlier = session.TxOutgoingSequence
        super().initialize_transfer_sequence(session, now)
        if earlier is not None and session.TxOutgoingSequence is not None:
            session.TxOutgoingSequence.TimeOfLastAck = earlier.TimeOfLastAck
