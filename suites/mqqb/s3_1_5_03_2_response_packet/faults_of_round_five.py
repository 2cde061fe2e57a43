"""Blind violations of round five: MS-MQQB 3.1.5.3.2 Response Packet."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import EstablishConnectionPacket
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now


@fault("initiator-connection-parameters-response-after-retry-not-expected", breaks="MQQB-3.1.5.3.2-14", blind=True)
class InitiatorConnectionParametersResponseAfterRetryNotExpected(SessionOpening):
    """After a repeated attempt to connect, the initiator stays in the state WAITING_ECR_MSG when it sends the
    ConnectionParameters request, so that it does not accept the ConnectionParameters response.
    """

    def receive_establish_response(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        super().receive_establish_response(session, packet, now)
        if session.is_retrying_connection and session.SessionState is SessionState.WAITING_CPR_MSG:
            session.SessionState = SessionState.WAITING_ECR_MSG


@fault(
    "initiator-establish-connection-response-last-half-of-serverguid-ignored", breaks="MQQB-3.1.5.3.2-D02", blind=True
)
class InitiatorEstablishConnectionResponseLastHalfOfServerguidIgnored(SessionOpening):
    """The initiator accepts an EstablishConnection response whose ServerGuid differs from the GUID of the request only
    in its last eight bytes.
    """

    def is_establish_response_valid(self, session: Session, packet: EstablishConnectionPacket) -> bool:
        header = packet.EstablishConnectionHeader
        alike = header.ServerGuid.bytes_le[:8] == session.RemoteQMGuid.bytes_le[:8]
        if session.is_destination_direct or not alike:
            return super().is_establish_response_valid(session, packet)
        return header.ClientGuid == self.qm.adm.Identifier and not packet.InternalHeader.CS
