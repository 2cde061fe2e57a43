"""Blind violations of round five: MS-MQQB 3.1.5.3.1 Request Packet."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import EstablishConnectionPacket
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now


@fault(
    "acceptor-establish-connection-during-own-request-to-same-host-not-answered",
    breaks="MQQB-3.1.5.3.1-D02",
    blind=True,
)
class AcceptorEstablishConnectionDuringOwnRequestToSameHostNotAnswered(SessionOpening):
    """The acceptor does not treat an EstablishConnection packet as a request while it waits for the response to its own
    request to the same host.
    """

    def receive_establish_request(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        waiting = (
            one
            for one in self.qm.sessions.values()
            if one.initiator and one.SessionState is SessionState.WAITING_ECR_MSG
        )
        if not any(one.RemoteQMAddress == session.RemoteQMAddress for one in waiting):
            super().receive_establish_request(session, packet, now)


@fault(
    "acceptor-establish-connection-response-serverguid-configured-identifier", breaks="MQQB-3.1.5.3.1-09", blind=True
)
class AcceptorEstablishConnectionResponseServerguidConfiguredIdentifier(SessionOpening):
    """ServerGuid of the acceptor's EstablishConnection response is the GUID with which the queue manager was installed,
    even after the queue manager took the Identifier of its directory object.
    """

    def build_establish_response(
        self, session: Session, request: EstablishConnectionPacket
    ) -> EstablishConnectionPacket:
        response = super().build_establish_response(session, request)
        header = replace(response.EstablishConnectionHeader, ServerGuid=self.qm.config.identifier)
        return replace(response, EstablishConnectionHeader=header)
