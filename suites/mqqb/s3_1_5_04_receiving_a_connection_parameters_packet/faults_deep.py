"""Faults of MS-MQQB 3.1.5.4 Receiving a ConnectionParameters Packet, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import ConnectionParametersPacket, Packet
from reference_qm.core.sessions.closing import Closing
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now


@fault("acceptor-connection-parameters-on-open-session-taken-over", breaks="MQQB-3.1.5.4-01", blind=True)
class TakenOver(Closing):
    """An acceptor answers a second ConnectionParameters request on an open session, and uses the values of this
    request.
    """

    def refuse_out_of_state(self, session: Session, packet: Packet, now: Now) -> None:
        is_open = not session.initiator and session.SessionState is SessionState.OPEN
        if is_open and isinstance(packet, ConnectionParametersPacket):
            self.qm.session_opening.receive_parameters_request(session, packet, now)
        else:
            super().refuse_out_of_state(session, packet, now)


@fault("initiator-connection-parameters-before-response-ignored", breaks="MQQB-3.1.5.4-01", blind=True)
class EarlyIgnored(Closing):
    """An initiator that waits for an EstablishConnection response ignores a ConnectionParameters packet."""

    def refuse_out_of_state(self, session: Session, packet: Packet, now: Now) -> None:
        waits = session.SessionState is SessionState.WAITING_ECR_MSG
        if not (waits and isinstance(packet, ConnectionParametersPacket)):
            super().refuse_out_of_state(session, packet, now)
