"""Faults that break rules of MS-MQQB 3.1.5.10 Handling an Incoming Transport Connection, written without knowledge of
the checks.
"""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import EstablishConnectionPacket
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now


@fault("acceptor-refuses-establish-request-while-own-request-is-pending", breaks="MQQB-3.1.5.10-02", blind=True)
class AcceptorRefusesEstablishRequestWhileOwnRequestIsPending(SessionOpening):
    """While the acceptor waits for the response to its own EstablishConnection request to an address, it closes a new
    connection from this address when an EstablishConnection packet arrives on the connection.
    """

    def receive_establish_request(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        crossed = any(
            one.initiator
            and one.SessionState is SessionState.WAITING_ECR_MSG
            and one.RemoteQMAddress == session.RemoteQMAddress
            for one in self.qm.sessions.values()
        )
        if crossed:
            self.qm.session_closing.close_session_after_unexpected_packet(session, packet, now)
        else:
            super().receive_establish_request(session, packet, now)
