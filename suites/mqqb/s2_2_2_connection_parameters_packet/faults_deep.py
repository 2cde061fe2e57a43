"""Faults of MS-MQQB 2.2.2 ConnectionParameters Packet, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import set_fields
from reference_qm.codec import ConnectionParametersPacket
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.model.adm import Session

HEADER = "ConnectionParametersHeader"


@fault("initiator-ack-timeout-of-retry-below-range", breaks="MQQB-2.2.2.1-D03", blind=True)
class RetryBelowRange(SessionOpening):
    """AckTimeout of the ConnectionParameters request in a retry is below 20,000 ms."""

    def build_parameters_request(self, session: Session) -> ConnectionParametersPacket:
        packet = super().build_parameters_request(session)
        return set_fields(packet, {f"{HEADER}.AckTimeout": 0x4E1F}) if session.retrying else packet


@fault("initiator-recoverable-ack-timeout-499", breaks="MQQB-2.2.2.1-D02", blind=True)
class JustBelowRange(SessionOpening):
    """RecoverableAckTimeout of the ConnectionParameters request is 499 ms after a fast round trip."""

    def build_parameters_request(self, session: Session) -> ConnectionParametersPacket:
        packet = super().build_parameters_request(session)
        return set_fields(packet, {f"{HEADER}.RecoverableAckTimeout": lambda old: 499 if old == 500 else old})


@fault("acceptor-reserved-of-parameters-response-window-size", breaks="MQQB-2.2.2.1-01", blind=True)
class ReservedIsWindow(SessionOpening):
    """Reserved of a ConnectionParameters response is the WindowSize of the request if this WindowSize is greater than
    255.
    """

    def build_parameters_response(
        self, session: Session, request: ConnectionParametersPacket
    ) -> ConnectionParametersPacket:
        packet = super().build_parameters_response(session, request)
        window = request.ConnectionParametersHeader.WindowSize
        return set_fields(packet, {f"{HEADER}.Reserved": window if window > 255 else 0})
