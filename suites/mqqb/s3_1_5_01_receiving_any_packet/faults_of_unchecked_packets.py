"""Faults of MS-MQQB 3.1.5.1 Receiving Any Packet: in some states of a session, a queue manager does not check
packets.
"""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import FormatError
from reference_qm.core.sessions.session_closing import SessionClosing
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now


@fault("initiator-malformed-packet-on-open-session-discarded-only", breaks="MQQB-3.1.5.1-05", blind=True)
class InitiatorMalformedPacketOnOpenSessionDiscardedOnly(SessionClosing):
    """The initiator discards a packet with a forbidden field value on an open session, and keeps the session open."""

    def close_session_after_malformed_packet(self, session: Session, error: FormatError, now: Now) -> None:
        if not (session.initiator and session.SessionState is SessionState.OPEN):
            super().close_session_after_malformed_packet(session, error, now)


@fault("acceptor-malformed-packet-after-first-message-discarded-only", breaks="MQQB-3.1.5.1-05", blind=True)
class AcceptorMalformedPacketAfterFirstMessageDiscardedOnly(SessionClosing):
    """After the first message of a session, the acceptor discards a packet with a forbidden field value, and keeps the
    session open.
    """

    def close_session_after_malformed_packet(self, session: Session, error: FormatError, now: Now) -> None:
        if session.initiator or not session.MessageReceivedCount:
            super().close_session_after_malformed_packet(session, error, now)
