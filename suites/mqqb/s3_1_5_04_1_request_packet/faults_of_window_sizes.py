"""Faults in ReceivedWindowSize of an acceptor's session. MS-MQQB 3.1.5.4.1 Request Packet."""

from __future__ import annotations

from harness.faults.other_sessions import list_open_sessions
from harness.faults.parts import fault
from reference_qm.codec import ConnectionParametersPacket
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("acceptor-received-window-size-limited-to-own-window", breaks="MQQB-3.1.5.4.1-01", blind=True)
class AcceptorReceivedWindowSizeLimitedToOwnWindow(SessionOpening):
    """The acceptor sets ReceivedWindowSize to its own WindowSize if the initiator's WindowSize is larger."""

    def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_request(session, packet, now)
        session.ReceivedWindowSize = min(session.ReceivedWindowSize, session.WindowSize)


@fault("acceptor-received-window-size-of-second-session-same-as-first", breaks="MQQB-3.1.5.4.1-01", blind=True)
class AcceptorReceivedWindowSizeOfSecondSessionSameAsFirst(SessionOpening):
    """While another accepted session is open, the acceptor sets ReceivedWindowSize to that of the other session."""

    def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_request(session, packet, now)
        others = [one for one in list_open_sessions(self.qm, session) if not one.initiator]
        if others:
            session.ReceivedWindowSize = others[0].ReceivedWindowSize
