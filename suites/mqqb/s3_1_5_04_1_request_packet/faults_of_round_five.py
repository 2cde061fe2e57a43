"""Blind violations of round five: MS-MQQB 3.1.5.4.1 Request Packet."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import ConnectionParametersPacket
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now


@fault("acceptor-connection-parameters-during-later-handshake-not-answered", breaks="MQQB-3.1.5.4.1-05", blind=True)
class AcceptorConnectionParametersDuringLaterHandshakeNotAnswered(SessionOpening):
    """The acceptor does not answer a ConnectionParameters request while it waits for the ConnectionParameters packet of
    a connection that was accepted later.
    """

    def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        others = (one for one in self.qm.sessions.values() if one.SessionState is SessionState.WAITING_CP_MSG)
        if not any(one.number > session.number for one in others):
            super().receive_parameters_request(session, packet, now)
