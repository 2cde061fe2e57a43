"""Faults of MS-MQQB 2.2.2 ConnectionParameters Packet that occur only in the response or in later sessions."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import ConnectionParametersPacket, EstablishConnectionPacket
from reference_qm.core.sessions.session_opening import ROUND_TRIPS_PER_ACK_TIMEOUT, SessionOpening
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("acceptor-parameters-reserved-of-request-repeated", breaks="MQQB-2.2.2.1-01")
class AcceptorParametersReservedOfRequestRepeated(SessionOpening):
    """The acceptor repeats Reserved of the ConnectionParameters request in its response."""

    def build_parameters_response(
        self, session: Session, request: ConnectionParametersPacket
    ) -> ConnectionParametersPacket:
        response = super().build_parameters_response(session, request)
        reserved = request.ConnectionParametersHeader.Reserved
        header = replace(response.ConnectionParametersHeader, Reserved=reserved)
        return replace(response, ConnectionParametersHeader=header)


@fault("initiator-parameters-response-reserved-refused", breaks="MQQB-2.2.2.1-01")
class InitiatorParametersResponseReservedRefused(SessionOpening):
    """The initiator refuses a ConnectionParameters response whose Reserved is not zero."""

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        if packet.ConnectionParametersHeader.Reserved:
            self.qm.closing.close(session, "a fault", now)
            return
        super().receive_parameters_response(session, packet, now)


@fault("initiator-parameters-recoverable-ack-timeout-above-limit", breaks="MQQB-2.2.2.1-D02")
class InitiatorParametersRecoverableAckTimeoutAboveLimit(SessionOpening):
    """The initiator computes RecoverableAckTimeout from a long round trip without its upper limit."""

    def set_recoverable_ack_timeout(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        super().set_recoverable_ack_timeout(session, packet, now)
        round_trip_ms = now.monotonic_ms - packet.EstablishConnectionHeader.TimeStamp & 0xFFFFFFFF
        session.RecoverableAckSendTimeout = max(
            session.RecoverableAckSendTimeout, ROUND_TRIPS_PER_ACK_TIMEOUT * round_trip_ms & 0xFFFFFFFF
        )


@fault("initiator-parameters-ack-timeout-halved-after-failure", breaks="MQQB-2.2.2.1-D03")
class InitiatorParametersAckTimeoutHalvedAfterFailure(SessionOpening):
    """The initiator sends an AckTimeout of 10,000 ms when it connects again after a failure."""

    def build_parameters_request(self, session: Session) -> ConnectionParametersPacket:
        request = super().build_parameters_request(session)
        if not session.retrying:
            return request
        header = replace(request.ConnectionParametersHeader, AckTimeout=10_000)
        return replace(request, ConnectionParametersHeader=header)
