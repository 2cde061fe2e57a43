"""Faults of MS-MQQB 2.2.2, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import set_fields
from reference_qm.codec import (
    ConnectionParametersPacket,
    EstablishConnectionPacket,
)
from reference_qm.core.sessions.session_opening import (
    RECOVERABLE_ACK_TIMEOUT_MS,
    ROUND_TRIPS_PER_ACK_TIMEOUT,
    SessionOpening,
)
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("acceptor-connection-parameters-reserved-copied-from-request", breaks="MQQB-2.2.2.1-01", blind=True)
class AcceptorConnectionParametersReservedCopiedFromRequest(SessionOpening):
    """The acceptor copies Reserved of a ConnectionParameters request to its response instead of sending zero."""

    def build_parameters_response(
        self, session: Session, request: ConnectionParametersPacket
    ) -> ConnectionParametersPacket:
        response = super().build_parameters_response(session, request)
        reserved = request.ConnectionParametersHeader.Reserved
        return set_fields(response, {"ConnectionParametersHeader.Reserved": reserved})


@fault("initiator-connection-parameters-reserved-taken-as-window", breaks="MQQB-2.2.2.1-01", blind=True)
class InitiatorConnectionParametersReservedTakenAsWindow(SessionOpening):
    """The initiator uses Reserved of a ConnectionParameters response as the window size if Reserved is not zero."""

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_response(session, packet, now)
        if packet.ConnectionParametersHeader.Reserved:
            session.ReceivedWindowSize = packet.ConnectionParametersHeader.Reserved


@fault("initiator-connection-parameters-recoverable-ack-timeout-above-range", breaks="MQQB-2.2.2.1-D02", blind=True)
class InitiatorConnectionParametersRecoverableAckTimeoutAboveRange(SessionOpening):
    """The initiator sends a RecoverableAckTimeout above 0x0001D4C0 when the acceptor answers slowly."""

    def set_recoverable_ack_timeout(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        round_trip_ms = now.monotonic_ms - packet.EstablishConnectionHeader.TimeStamp & 0xFFFFFFFF
        lowest, _ = RECOVERABLE_ACK_TIMEOUT_MS
        session.RecoverableAckSendTimeout = max(round_trip_ms * ROUND_TRIPS_PER_ACK_TIMEOUT, lowest)
