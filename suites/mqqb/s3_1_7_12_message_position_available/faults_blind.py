"""Faults of MS-MQQB 3.1.7.12 Message Position Available Event, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.sessions.establishing import Establishing
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now

_STATES_WITHOUT_HANDSHAKE = (SessionState.OPEN, SessionState.CLOSED, SessionState.WAITING_RECONNECT)


@fault("initiator-no-session-while-other-session-is-established", breaks="MQQB-3.1.7.12-06", blind=True)
class InitiatorNoSessionWhileOtherSessionIsEstablished(Establishing):
    """The initiator establishes no session for a message while it establishes a session with another queue manager."""

    def establish(self, session: Session, now: Now, *, again: bool = False) -> None:
        others = (one for one in self.qm.sessions.values() if one.initiator and one is not session)
        if again or all(one.SessionState in _STATES_WITHOUT_HANDSHAKE for one in others):
            super().establish(session, now, again=again)
