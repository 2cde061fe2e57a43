"""Faults that break rules of MS-MQQB 2.2.2 ConnectionParameters Packet and of 2.2.2.1."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.fields import clear_bits, limit_to_sender_role, refuse_packets_unless_field_is_zero, set_field_value
from harness.faults.parts import fault
from harness.faults.primitives import send_wrong_bytes, set_fields
from harness.faults.registry import add
from harness.faults.sent_messages import correct_packet_size
from reference_qm.codec import PT_CONNECTION_PARAMETERS, ConnectionParametersPacket, EstablishConnectionPacket
from reference_qm.core.sessions.session_connecting import SessionConnecting
from reference_qm.core.sessions.session_opening import (
    RECOVERABLE_ACK_TIMEOUT_RANGE_MS,
    ROUND_TRIPS_PER_ACK_TIMEOUT,
    SessionOpening,
)
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now

add(
    "any-connection-parameters-in-bit-clear",
    "MQQB-2.2.2-01",
    "A queue manager sends a ConnectionParameters packet with IN clear.",
    clear_bits(ConnectionParametersPacket, "BaseHeader.IN"),
)


add(
    "any-connection-parameters-pt-2",
    "MQQB-2.2.2-02",
    "A queue manager sends a ConnectionParameters packet with PT 2.",
    set_field_value(ConnectionParametersPacket, "InternalHeader.PT", 2),
)


add(
    "any-connection-parameters-reserved-not-zero",
    "MQQB-2.2.2.1-01",
    "A queue manager sends a ConnectionParameters packet with ConnectionParametersHeader.Reserved 0xBEEF.",
    set_field_value(ConnectionParametersPacket, "ConnectionParametersHeader.Reserved", 0xBEEF),
)


add(
    "receiver-connection-parameters-reserved-refused",
    "MQQB-2.2.2.1-01",
    "The receiver refuses a ConnectionParameters packet whose ConnectionParametersHeader.Reserved is not zero.",
    refuse_packets_unless_field_is_zero(ConnectionParametersPacket, "ConnectionParametersHeader.Reserved"),
)


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
            self.qm.session_closing.close(session, "a fault", now)
            return
        super().receive_parameters_response(session, packet, now)


add(
    "any-connection-parameters-8-bytes-too-long",
    "MQQB-2.2.2-D01",
    "A queue manager sends a ConnectionParameters packet with 8 bytes after its ConnectionParametersHeader.",
    send_wrong_bytes(ConnectionParametersPacket, lambda data: correct_packet_size(data + bytes(8))),
)


add(
    "any-connection-parameters-window-size-missing",
    "MQQB-2.2.2.1-D01",
    "A queue manager sends a ConnectionParameters packet without WindowSize, its last field.",
    send_wrong_bytes(ConnectionParametersPacket, lambda data: correct_packet_size(data[:-2])),
)


for _name, _rule, _field, _value in (
    ("initiator-connection-parameters-recoverable-timeout-499", "MQQB-2.2.2.1-D02", "RecoverableAckTimeout", 499),
    (
        "initiator-connection-parameters-recoverable-timeout-120001",
        "MQQB-2.2.2.1-D02",
        "RecoverableAckTimeout",
        120_001,
    ),
    ("initiator-connection-parameters-ack-timeout-19999", "MQQB-2.2.2.1-D03", "AckTimeout", 19_999),
    ("initiator-connection-parameters-ack-timeout-120001", "MQQB-2.2.2.1-D03", "AckTimeout", 120_001),
):
    add(
        _name,
        _rule,
        f"The initiator sends a ConnectionParameters packet with {_field} {_value}.",
        limit_to_sender_role(
            "initiator", set_field_value(ConnectionParametersPacket, f"ConnectionParametersHeader.{_field}", _value)
        ),
    )


@fault("initiator-connection-parameters-recoverable-ack-timeout-above-range", breaks="MQQB-2.2.2.1-D02", blind=True)
class InitiatorConnectionParametersRecoverableAckTimeoutAboveRange(SessionOpening):
    """The initiator sends a RecoverableAckTimeout above 0x0001D4C0 when the acceptor answers slowly."""

    def set_recoverable_ack_timeout(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        round_trip_ms = now.monotonic_ms - packet.EstablishConnectionHeader.TimeStamp & 0xFFFFFFFF
        lowest, _ = RECOVERABLE_ACK_TIMEOUT_RANGE_MS
        session.RecoverableAckSendTimeout = max(round_trip_ms * ROUND_TRIPS_PER_ACK_TIMEOUT, lowest)


PARAMETERS_HEADER_NAME = "ConnectionParametersHeader"


@fault("initiator-recoverable-ack-timeout-499-ms-after-fast-round-trip", breaks="MQQB-2.2.2.1-D02", blind=True)
class InitiatorRecoverableAckTimeout499MsAfterFastRoundTrip(SessionOpening):
    """The initiator sends a RecoverableAckTimeout of 499 ms in the ConnectionParameters request after a fast round
    trip.
    """

    def build_parameters_request(self, session: Session) -> ConnectionParametersPacket:
        packet = super().build_parameters_request(session)
        return set_fields(
            packet, {f"{PARAMETERS_HEADER_NAME}.RecoverableAckTimeout": lambda old: 499 if old == 500 else old}
        )


@fault("initiator-parameters-recoverable-ack-timeout-above-limit", breaks="MQQB-2.2.2.1-D02")
class InitiatorParametersRecoverableAckTimeoutAboveLimit(SessionOpening):
    """The initiator computes RecoverableAckTimeout from a long round trip without its upper limit."""

    def set_recoverable_ack_timeout(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        super().set_recoverable_ack_timeout(session, packet, now)
        round_trip_ms = now.monotonic_ms - packet.EstablishConnectionHeader.TimeStamp & 0xFFFFFFFF
        session.RecoverableAckSendTimeout = max(
            session.RecoverableAckSendTimeout, ROUND_TRIPS_PER_ACK_TIMEOUT * round_trip_ms & 0xFFFFFFFF
        )


@fault("initiator-ack-timeout-below-20000-ms-on-reconnect", breaks="MQQB-2.2.2.1-D03", blind=True)
class InitiatorAckTimeoutBelow20000MsOnReconnect(SessionOpening):
    """The initiator sends an AckTimeout below 20,000 ms in the ConnectionParameters request when it connects again
    after a failure.
    """

    def build_parameters_request(self, session: Session) -> ConnectionParametersPacket:
        packet = super().build_parameters_request(session)
        return (
            set_fields(packet, {f"{PARAMETERS_HEADER_NAME}.AckTimeout": 0x4E1F})
            if session.is_retrying_connection
            else packet
        )


@fault("initiator-parameters-ack-timeout-halved-after-failure", breaks="MQQB-2.2.2.1-D03")
class InitiatorParametersAckTimeoutHalvedAfterFailure(SessionOpening):
    """The initiator sends an AckTimeout of 10,000 ms when it connects again after a failure."""

    def build_parameters_request(self, session: Session) -> ConnectionParametersPacket:
        request = super().build_parameters_request(session)
        if not session.is_retrying_connection:
            return request
        header = replace(request.ConnectionParametersHeader, AckTimeout=10_000)
        return replace(request, ConnectionParametersHeader=header)


@fault("initiator-in-flag-of-parameters-request-clear-on-reconnect", breaks="MQQB-2.2.2-01", blind=True)
class InitiatorInFlagOfParametersRequestClearOnReconnect(SessionConnecting):
    """When the initiator connects again, it does not set BaseHeader.Flags.IN in its ConnectionParameters request."""

    def send(self, session: Session, packet: bytes) -> None:
        if (
            session.initiator
            and session.is_retrying_connection
            and session.SessionState is SessionState.WAITING_ECR_MSG
        ):
            is_parameters = packet[18] & 0xF == PT_CONNECTION_PARAMETERS
            packet = packet[:2] + bytes([packet[2] & ~8]) + packet[3:] if is_parameters else packet
        super().send(session, packet)


@fault("acceptor-connection-parameters-nonzero-reserved-taken-as-window-size", breaks="MQQB-2.2.2.1-01", blind=True)
class AcceptorConnectionParametersNonzeroReservedTakenAsWindowSize(SessionOpening):
    """The acceptor uses a nonzero Reserved of a ConnectionParameters request as the WindowSize of the initiator."""

    def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_request(session, packet, now)
        header = packet.ConnectionParametersHeader
        session.ReceivedWindowSize = header.Reserved or header.WindowSize
