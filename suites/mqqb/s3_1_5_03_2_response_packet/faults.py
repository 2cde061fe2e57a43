"""Faults of MS-MQQB 3.1.5.3.2 Response Packet (of EstablishConnection)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.connection_history import entries_changed, entries_left_out
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


@fault("establish-response-never-invalid", breaks=("MQQB-3.1.5.3.2-01", "MQQB-3.1.5.3.2-D02"))
class EstablishResponseNeverInvalid(SessionOpening):
    """Any response is taken as valid."""

    def is_establish_response_valid(self, session: Session, packet: EstablishConnectionPacket) -> bool:
        return True


@fault("establish-response-unknown-to-a-direct-name", breaks="MQQB-3.1.5.3.2-D02")
class EstablishResponseUnknownToADirectName(SessionOpening):
    """A response is valid only when its ServerGuid is the one that was asked for, zero as well."""

    def is_establish_response_valid(self, session: Session, packet: EstablishConnectionPacket) -> bool:
        valid = super().is_establish_response_valid(session, packet)
        return valid and packet.EstablishConnectionHeader.ServerGuid == session.RemoteQMGuid


# -- the round trip ------------------------------------------------------------------------------------------------


def _measured(
    change: Callable[[EstablishConnectionPacket, Now, Now], tuple[EstablishConnectionPacket, Now]],
) -> Install:
    """Measure the round trip otherwise; ``change`` gets the response, when the request was sent, and the time."""

    def install(faulty: FaultyCore) -> None:
        sent: dict[int, Now] = {}

        class Noted(Establishing):
            def send_establish_request(self, session: Session, now: Now) -> None:
                sent[session.number] = now
                super().send_establish_request(session, now)

        class Measured(SessionOpening):
            def set_recoverable_ack_timeout(
                self, session: Session, packet: EstablishConnectionPacket, now: Now
            ) -> None:
                super().set_recoverable_ack_timeout(session, *change(packet, sent[session.number], now))

        put_in_place(faulty.core, Noted)
        put_in_place(faulty.core, Measured)

    return install


def _own_time(packet: EstablishConnectionPacket, sent: Now, now: Now) -> tuple[EstablishConnectionPacket, Now]:
    return set_fields(packet, {"EstablishConnectionHeader.TimeStamp": sent.monotonic_ms & 0xFFFFFFFF}), now


add(
    "round-trip-without-the-way-back",
    "MQQB-3.1.5.3.2-03",
    "The round trip ends when the request is sent.",
    _measured(lambda packet, sent, now: (packet, sent)),
)
add(
    "round-trip-ignores-the-time-stamp",
    "MQQB-3.1.5.3.2-04",
    "The round trip is measured by the own clock alone.",
    _measured(_own_time),
)


@fault("round-trip-times-four", breaks="MQQB-3.1.5.3.2-05")
class RoundTripTimesFour(SessionOpening):
    """RecoverableAckSendTimeout is four round trips."""

    def set_recoverable_ack_timeout(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        super().set_recoverable_ack_timeout(session, packet, now)
        session.RecoverableAckSendTimeout = max(session.RecoverableAckSendTimeout // 2, RECOVERABLE_ACK_TIMEOUT_MS[0])


@fault("round-trip-without-limits", breaks="MQQB-3.1.5.3.2-06")
class RoundTripWithoutLimits(SessionOpening):
    """RecoverableAckSendTimeout may be out of its range."""

    def set_recoverable_ack_timeout(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        sent = packet.EstablishConnectionHeader.TimeStamp
        session.RecoverableAckSendTimeout = 8 * (now.monotonic_ms - sent & 0xFFFFFFFF)


# -- the ConnectionParameters request ------------------------------------------------------------------------------

for _name, _rules, _says, _install in (
    (
        "parameters-request-not-internal",
        "MQQB-3.1.5.3.2-08",
        "The request has BaseHeader.Flags.IN clear.",
        bit_clear(ConnectionParametersPacket, "BaseHeader.IN"),
    ),
    (
        "parameters-request-other-type",
        "MQQB-3.1.5.3.2-09",
        "The request has the PT of another packet.",
        field_is(ConnectionParametersPacket, "InternalHeader.PT", PT_ESTABLISH_CONNECTION),
    ),
    (
        "parameters-request-refused",
        "MQQB-3.1.5.3.2-10",
        "CS is set.",
        bit_set(ConnectionParametersPacket, "InternalHeader.CS"),
    ),
    (
        "parameters-request-recoverable",
        "MQQB-3.1.5.3.2-11",
        "RecoverableAckTimeout is always 20 s.",
        field_is(ConnectionParametersPacket, "ConnectionParametersHeader.RecoverableAckTimeout", 20_000),
    ),
    (
        "parameters-request-ack",
        "MQQB-3.1.5.3.2-12",
        "AckTimeout is always 20 s.",
        field_is(ConnectionParametersPacket, "ConnectionParametersHeader.AckTimeout", 20_000),
    ),
    (
        "parameters-request-window",
        "MQQB-3.1.5.3.2-13",
        "WindowSize is 1.",
        field_is(ConnectionParametersPacket, "ConnectionParametersHeader.WindowSize", 1),
    ),
):
    add(_name, _rules, _says, sent_as("initiator", _install))
add(
    "parameters-request-unsent",
    "MQQB-3.1.5.3.2-07",
    "It is never sent.",
    skip_during(SessionOpening.receive_establish_response, Connecting.send),
)


@fault("state-after-parameters-request-waiting-cp-msg", breaks="MQQB-3.1.5.3.2-14")
class StateAfterParametersRequest(SessionOpening):
    """SessionState is WAITING_CP_MSG where it is to be WAITING_CPR_MSG."""

    def receive_establish_response(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        super().receive_establish_response(session, packet, now)
        if session.SessionState is SessionState.WAITING_CPR_MSG:
            session.SessionState = SessionState.WAITING_CP_MSG


add(
    "history-without-establishpacketreceived",
    "MQQB-3.1.5.3.2-15",
    "ConnectionHistory gets no entry EstablishPacketReceived.",
    entries_left_out({ConnectionStatus.ESTABLISH_PACKET_RECEIVED}),
)
add(
    "history-establishpacketreceived-with-error",
    "MQQB-3.1.5.3.2-15",
    "The entry EstablishPacketReceived has an Error.",
    entries_changed({ConnectionStatus.ESTABLISH_PACKET_RECEIVED}, Error=0x80004005),
)


@fault("other-server-guid-accepted-at-a-retry", breaks="MQQB-3.1.5.3.2-01", blind=True)
class OtherServerGuidAcceptedAtARetry(SessionOpening):
    """Who answers is looked at in the first attempt only: at a retry anybody is right."""

    def is_establish_response_valid(self, session: Session, packet: EstablishConnectionPacket) -> bool:
        return session.retrying or super().is_establish_response_valid(session, packet)


@fault("round-trip-in-whole-seconds", breaks="MQQB-3.1.5.3.2-05", blind=True)
class RoundTripInWholeSeconds(SessionOpening):
    """The round trip is taken in whole seconds, its fraction is lost."""

    def set_recoverable_ack_timeout(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        header = packet.EstablishConnectionHeader
        took_ms = (now.monotonic_ms - header.TimeStamp & 0xFFFFFFFF) // 1000 * 1000
        whole = replace(header, TimeStamp=now.monotonic_ms - took_ms & 0xFFFFFFFF)
        super().set_recoverable_ack_timeout(session, replace(packet, EstablishConnectionHeader=whole), now)


@fault("recoverable-ack-timeout-at-most-a-minute", breaks="MQQB-3.1.5.3.2-06", blind=True)
class RecoverableAckTimeoutAtMostAMinute(SessionOpening):
    """RecoverableAckSendTimeout is never above one minute."""

    def set_recoverable_ack_timeout(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        super().set_recoverable_ack_timeout(session, packet, now)
        session.RecoverableAckSendTimeout = min(session.RecoverableAckSendTimeout, 60_000)


@fault("state-after-request-waiting-ec-msg", breaks=("MQQB-3.1.5.2.3-13", "MQQB-3.1.5.3.2-D01"))
class StateAfterRequest(Establishing):
    """SessionState is WAITING_EC_MSG where it is to be WAITING_ECR_MSG."""

    def send_establish_request(self, session: Session, now: Now) -> None:
        super().send_establish_request(session, now)
        session.SessionState = SessionState.WAITING_EC_MSG
