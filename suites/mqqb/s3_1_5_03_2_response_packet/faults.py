"""Faults of MS-MQQB 3.1.5.3.2 Response Packet (of EstablishConnection)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.connection_history import change_history_entries, omit_history_entries
from harness.faults.fields import bit_clear, bit_set, field_is, sent_as
from harness.faults.parts import fault
from harness.faults.primitives import set_fields, skip_during
from harness.faults.registry import FaultyCore, Install, add
from reference_qm.codec import PT_ESTABLISH_CONNECTION, ConnectionParametersPacket, EstablishConnectionPacket
from reference_qm.core.replacing import put_in_place
from reference_qm.core.sessions.connecting import Connecting
from reference_qm.core.sessions.establishing import Establishing
from reference_qm.core.sessions.session_opening import RECOVERABLE_ACK_TIMEOUT_MS, SessionOpening
from reference_qm.model.adm import Session
from reference_qm.model.states import ConnectionStatus, SessionState
from reference_qm.surface.clock import Now


@fault("initiator-invalid-establish-connection-response-accepted", breaks=("MQQB-3.1.5.3.2-01", "MQQB-3.1.5.3.2-D02"))
class InitiatorInvalidEstablishConnectionResponseAccepted(SessionOpening):
    """The initiator accepts every EstablishConnection response as valid."""

    def is_establish_response_valid(self, session: Session, packet: EstablishConnectionPacket) -> bool:
        return True


@fault("initiator-response-guid-to-direct-name-refused", breaks="MQQB-3.1.5.3.2-D02")
class InitiatorResponseGuidToDirectNameRefused(SessionOpening):
    """The initiator of a session for a direct name refuses a response whose ServerGuid is not zero."""

    def is_establish_response_valid(self, session: Session, packet: EstablishConnectionPacket) -> bool:
        valid = super().is_establish_response_valid(session, packet)
        return valid and packet.EstablishConnectionHeader.ServerGuid == session.RemoteQMGuid


# -- the round trip ------------------------------------------------------------------------------------------------


def _change_round_trip(
    change: Callable[[EstablishConnectionPacket, Now, Now], tuple[EstablishConnectionPacket, Now]],
) -> Install:
    """Change the measured round trip; the arguments of ``change`` are the response, the time of the request, and the
    current time.
    """

    def install_changed_round_trip(faulty: FaultyCore) -> None:
        sent: dict[int, Now] = {}

        class Noted(Establishing):
            def send_establish_request(self, session: Session, now: Now) -> None:
                sent[session.number] = now
                super().send_establish_request(session, now)

        class RoundTripChanged(SessionOpening):
            def set_recoverable_ack_timeout(
                self, session: Session, packet: EstablishConnectionPacket, now: Now
            ) -> None:
                super().set_recoverable_ack_timeout(session, *change(packet, sent[session.number], now))

        put_in_place(faulty.core, Noted)
        put_in_place(faulty.core, RoundTripChanged)

    return install_changed_round_trip


def _measure_by_own_clock(
    packet: EstablishConnectionPacket, sent: Now, now: Now
) -> tuple[EstablishConnectionPacket, Now]:
    return set_fields(packet, {"EstablishConnectionHeader.TimeStamp": sent.monotonic_ms & 0xFFFFFFFF}), now


add(
    "initiator-round-trip-ends-at-request",
    "MQQB-3.1.5.3.2-03",
    "The initiator measures the round trip only until it sends the request.",
    _change_round_trip(lambda packet, sent, now: (packet, sent)),
)
add(
    "initiator-round-trip-ignores-timestamp",
    "MQQB-3.1.5.3.2-04",
    "The initiator measures the round trip from its own clock instead of TimeStamp in the response.",
    _change_round_trip(_measure_by_own_clock),
)


@fault("initiator-recoverable-ack-timeout-four-round-trips", breaks="MQQB-3.1.5.3.2-05")
class InitiatorRecoverableAckTimeoutFourRoundTrips(SessionOpening):
    """The initiator sets RecoverableAckSendTimeout to four times the round-trip time."""

    def set_recoverable_ack_timeout(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        super().set_recoverable_ack_timeout(session, packet, now)
        session.RecoverableAckSendTimeout = max(session.RecoverableAckSendTimeout // 2, RECOVERABLE_ACK_TIMEOUT_MS[0])


@fault("initiator-recoverable-ack-timeout-unlimited", breaks="MQQB-3.1.5.3.2-06")
class InitiatorRecoverableAckTimeoutUnlimited(SessionOpening):
    """The initiator computes RecoverableAckSendTimeout without the lower and upper limit."""

    def set_recoverable_ack_timeout(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        sent = packet.EstablishConnectionHeader.TimeStamp
        session.RecoverableAckSendTimeout = 8 * (now.monotonic_ms - sent & 0xFFFFFFFF)


# -- the ConnectionParameters request ------------------------------------------------------------------------------

for _name, _rules, _says, _install in (
    (
        "initiator-connection-parameters-in-bit-clear",
        "MQQB-3.1.5.3.2-08",
        "The initiator's ConnectionParameters request has BaseHeader.Flags.IN clear.",
        bit_clear(ConnectionParametersPacket, "BaseHeader.IN"),
    ),
    (
        "initiator-connection-parameters-pt-2",
        "MQQB-3.1.5.3.2-09",
        "The initiator's ConnectionParameters request has PT 2.",
        field_is(ConnectionParametersPacket, "InternalHeader.PT", PT_ESTABLISH_CONNECTION),
    ),
    (
        "initiator-connection-parameters-cs-set",
        "MQQB-3.1.5.3.2-10",
        "The initiator's ConnectionParameters request has CS set.",
        bit_set(ConnectionParametersPacket, "InternalHeader.CS"),
    ),
    (
        "initiator-connection-parameters-recoverable-timeout-20-s",
        "MQQB-3.1.5.3.2-11",
        "The initiator's ConnectionParameters request always has RecoverableAckTimeout 20 s.",
        field_is(ConnectionParametersPacket, "ConnectionParametersHeader.RecoverableAckTimeout", 20_000),
    ),
    (
        "initiator-connection-parameters-ack-timeout-20-s",
        "MQQB-3.1.5.3.2-12",
        "The initiator's ConnectionParameters request always has AckTimeout 20 s.",
        field_is(ConnectionParametersPacket, "ConnectionParametersHeader.AckTimeout", 20_000),
    ),
    (
        "initiator-connection-parameters-window-size-1",
        "MQQB-3.1.5.3.2-13",
        "The initiator's ConnectionParameters request has WindowSize 1.",
        field_is(ConnectionParametersPacket, "ConnectionParametersHeader.WindowSize", 1),
    ),
):
    add(_name, _rules, _says, sent_as("initiator", _install))
add(
    "initiator-connection-parameters-request-not-sent",
    "MQQB-3.1.5.3.2-07",
    "The initiator sends no ConnectionParameters request after a valid response.",
    skip_during(SessionOpening.receive_establish_response, Connecting.send),
)


@fault("initiator-state-waiting-cp-msg-after-parameters-request", breaks="MQQB-3.1.5.3.2-14")
class InitiatorStateWaitingCpMsgAfterParametersRequest(SessionOpening):
    """The initiator sets the state of its session to WAITING_CP_MSG instead of WAITING_CPR_MSG after its
    ConnectionParameters request.
    """

    def receive_establish_response(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        super().receive_establish_response(session, packet, now)
        if session.SessionState is SessionState.WAITING_CPR_MSG:
            session.SessionState = SessionState.WAITING_CP_MSG


add(
    "initiator-connection-history-establish-received-missing",
    "MQQB-3.1.5.3.2-15",
    "The initiator adds no entry with Status EstablishPacketReceived to ConnectionHistory.",
    omit_history_entries({ConnectionStatus.ESTABLISH_PACKET_RECEIVED}),
)
add(
    "initiator-connection-history-establish-received-error",
    "MQQB-3.1.5.3.2-15",
    "The initiator's ConnectionHistory entry with Status EstablishPacketReceived has an Error.",
    change_history_entries({ConnectionStatus.ESTABLISH_PACKET_RECEIVED}, Error=0x80004005),
)


@fault("initiator-response-guid-not-checked-at-retry", breaks="MQQB-3.1.5.3.2-01", blind=True)
class InitiatorResponseGuidNotCheckedAtRetry(SessionOpening):
    """The initiator does not check ServerGuid of the response to a request that it sends in a retry."""

    def is_establish_response_valid(self, session: Session, packet: EstablishConnectionPacket) -> bool:
        return session.retrying or super().is_establish_response_valid(session, packet)


@fault("initiator-round-trip-in-whole-seconds", breaks="MQQB-3.1.5.3.2-05", blind=True)
class InitiatorRoundTripInWholeSeconds(SessionOpening):
    """The initiator measures the round trip in whole seconds."""

    def set_recoverable_ack_timeout(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        header = packet.EstablishConnectionHeader
        took_ms = (now.monotonic_ms - header.TimeStamp & 0xFFFFFFFF) // 1000 * 1000
        whole = replace(header, TimeStamp=now.monotonic_ms - took_ms & 0xFFFFFFFF)
        super().set_recoverable_ack_timeout(session, replace(packet, EstablishConnectionHeader=whole), now)


@fault("initiator-recoverable-ack-timeout-at-most-60-s", breaks="MQQB-3.1.5.3.2-06", blind=True)
class InitiatorRecoverableAckTimeoutAtMost60S(SessionOpening):
    """The initiator's RecoverableAckSendTimeout is at most one minute."""

    def set_recoverable_ack_timeout(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        super().set_recoverable_ack_timeout(session, packet, now)
        session.RecoverableAckSendTimeout = min(session.RecoverableAckSendTimeout, 60_000)


@fault("initiator-state-waiting-ec-msg-after-request", breaks=("MQQB-3.1.5.2.3-13", "MQQB-3.1.5.3.2-D01"))
class InitiatorStateWaitingEcMsgAfterRequest(Establishing):
    """The initiator sets the state of its session to WAITING_EC_MSG instead of WAITING_ECR_MSG after its
    EstablishConnection request.
    """

    def send_establish_request(self, session: Session, now: Now) -> None:
        super().send_establish_request(session, now)
        session.SessionState = SessionState.WAITING_EC_MSG


@fault("initiator-client-guid-of-response-compared-by-first-8-bytes", breaks="MQQB-3.1.5.3.2-01")
class InitiatorClientGuidOfResponseComparedByFirst8Bytes(SessionOpening):
    """The initiator accepts a response whose ClientGuid equals its Identifier only in the first 8 bytes."""

    def is_establish_response_valid(self, session: Session, packet: EstablishConnectionPacket) -> bool:
        header = packet.EstablishConnectionHeader
        if header.ClientGuid.bytes_le[:8] == self.qm.adm.Identifier.bytes_le[:8]:
            packet = replace(packet, EstablishConnectionHeader=replace(header, ClientGuid=self.qm.adm.Identifier))
        return super().is_establish_response_valid(session, packet)


@fault("initiator-response-to-retried-request-not-validated", breaks=("MQQB-3.1.5.3.2-01", "MQQB-3.1.5.3.2-D02"))
class InitiatorResponseToRetriedRequestNotValidated(SessionOpening):
    """The initiator accepts any response to an EstablishConnection request that it sends in a retry."""

    def is_establish_response_valid(self, session: Session, packet: EstablishConnectionPacket) -> bool:
        return session.retrying or super().is_establish_response_valid(session, packet)
