"""Alternative readings of errata about the opening, the timers and the end of a session."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import faulty_only_if, follows_reading_of_erratum, replace_part
from harness.faults.primitives import combine_installers
from harness.faults.registry import register_variant_of_reading
from reference_qm.codec import (
    ConnectionParametersPacket,
    EstablishConnectionPacket,
    FormatError,
    Packet,
    PingPacket,
    UserMessagePacket,
)
from reference_qm.core.sessions.ping_handling import PingHandling
from reference_qm.core.sessions.session_establishing import SessionEstablishing
from reference_qm.core.sessions.session_opening import (
    ACK_TIMEOUT_RANGE_MS,
    RECOVERABLE_ACK_TIMEOUT_RANGE_MS,
    SessionOpening,
)
from reference_qm.core.sessions.session_timers import SessionTimers
from reference_qm.core.transfer.identifying import Identifying
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now


@follows_reading_of_erratum("E10.2")
class ResponseToRefusedRequestRepeatsServerGuid(SessionOpening):
    """The acceptor repeats the requested ServerGuid in the response to a refused request."""

    @faulty_only_if(lambda part, session, request: session.was_session_refused)
    def build_establish_response(
        self, session: Session, request: EstablishConnectionPacket
    ) -> EstablishConnectionPacket:
        response = super().build_establish_response(session, request)
        asked = request.EstablishConnectionHeader.ServerGuid
        return replace(
            response, EstablishConnectionHeader=replace(response.EstablishConnectionHeader, ServerGuid=asked)
        )


@follows_reading_of_erratum("E12.2")
class RefusedSessionRequestClosesConnection(SessionOpening):
    """The acceptor closes the connection immediately after it has refused a session."""

    @faulty_only_if(lambda part, session, packet, now: not part.is_establish_request_valid(packet))
    def receive_establish_request(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        super().receive_establish_request(session, packet, now)
        if session.was_session_refused and session.SessionState is SessionState.WAITING_CP_MSG:
            self.qm.session_closing.close(session, "the connection was refused (MS-MQQB 3.1.5.3.1)", now)


@follows_reading_of_erratum("E13.2")
class OneInitializationTimerForAllSessions(SessionTimers):
    """The queue manager has one Session Initialization Timer for all sessions, so that each start or stop of the timer
    affects all sessions.
    """

    @faulty_only_if(lambda part, session, name, *_: _is_initialization_timer_shared(part, session, name))
    def start(self, session: Session, name: TimerName, duration_ms: int, now: Now) -> None:
        super().start(session, name, duration_ms, now)
        for other in _list_initializing_sessions(self):
            super().start(other, name, duration_ms, now)

    @faulty_only_if(lambda part, session, name: _is_initialization_timer_shared(part, session, name))
    def stop(self, session: Session, name: TimerName) -> None:
        if session in _list_initializing_sessions(self):
            for other in _list_initializing_sessions(self):
                super().stop(other, name)
        super().stop(session, name)


def _is_initialization_timer_shared(part: SessionTimers, session: Session, name: TimerName) -> bool:
    return name is TimerName.SESSION_INITIALIZATION and any(
        one is not session for one in _list_initializing_sessions(part)
    )


def _list_initializing_sessions(part: SessionTimers) -> list[Session]:
    timers, name = part.qm.timers, TimerName.SESSION_INITIALIZATION
    return [one for one in part.qm.sessions.values() if timers.is_running(TimerKey(name, one.number))]


@follows_reading_of_erratum("E14.2")
class ConnectionParametersOutsideRangeAreAccepted(Identifying):
    """The acceptor accepts values of a ConnectionParameters request that are outside their valid ranges, and does not
    change them.
    """

    @faulty_only_if(
        lambda part, packet: (
            isinstance(packet, ConnectionParametersPacket) and packet != _clamp_parameters_to_ranges(packet)
        )
    )
    def check_field_values(self, packet: Packet) -> None:
        """Accept ConnectionParameters with any values."""


@follows_reading_of_erratum("E14.3")
class ConnectionParametersOutsideRangeAreLimited(Identifying):
    """The acceptor replaces parameters outside their ranges by the nearest valid values, and repeats these values in
    its response.
    """

    def identify_packet(self, data: bytes) -> Packet:
        packet = super().identify_packet(data)
        return _clamp_parameters_to_ranges(packet) if isinstance(packet, ConnectionParametersPacket) else packet


def _clamp_parameters_to_ranges(packet: ConnectionParametersPacket) -> ConnectionParametersPacket:
    header = packet.ConnectionParametersHeader
    return replace(
        packet,
        ConnectionParametersHeader=replace(
            header,
            RecoverableAckTimeout=_clamp_value(header.RecoverableAckTimeout, RECOVERABLE_ACK_TIMEOUT_RANGE_MS),
            AckTimeout=_clamp_value(header.AckTimeout, ACK_TIMEOUT_RANGE_MS),
        ),
    )


def _clamp_value(value: int, limits: tuple[int, int]) -> int:
    return min(max(value, limits[0]), limits[1])


@follows_reading_of_erratum("E15.2")
class EveryPingCookieIsOne(PingHandling):
    """The initiator resets PingCookie to 0 for every new session, so every ping has Cookie 1."""

    @faulty_only_if(lambda part, session, now: part.qm.adm.PingCookie != 0)
    def send_request(self, session: Session, now: Now) -> None:
        self.qm.adm.PingCookie = 0
        super().send_request(session, now)


@follows_reading_of_erratum("E31.2")
class UnusedTransactionBitsCloseSession(Identifying):
    """The receiver closes the session when an unused bit of TransactionHeader.Flags is set."""

    @faulty_only_if(lambda part, packet: _has_unused_transaction_bits(packet))
    def check_field_values(self, packet: Packet) -> None:
        super().check_field_values(packet)
        raise FormatError("TransactionHeader.Flags", 0, "MS-MQMQ 2.2.20.5", "unused bits are set")


def _has_unused_transaction_bits(packet: Packet) -> bool:
    header = packet.TransactionHeader if isinstance(packet, UserMessagePacket) else None
    return header is not None and header.Flags >> 24 != 0


@follows_reading_of_erratum("E33.1")
class TracedPacketWithoutDebugHeaderIsMalformed(Identifying):
    """The receiver treats a packet with TR and without DH as malformed and closes the session."""

    @faulty_only_if(
        lambda part, packet: isinstance(packet, UserMessagePacket) and packet.BaseHeader.TR > packet.BaseHeader.DH
    )
    def check_field_values(self, packet: Packet) -> None:
        super().check_field_values(packet)
        raise FormatError("BaseHeader.Flags", 0, "MS-MQMQ 2.2.19.1", "TR is set, but DH is clear")


@follows_reading_of_erratum("E50.2")
class OpeningPacketsLeaveReceivedAckFalse(Identifying):
    """The sender does not set ReceivedAck for packets that set up the session, so that the first expiry of the Session
    Ack Wait Timer closes the session.
    """

    @faulty_only_if(lambda part, session: session.SessionState is not SessionState.OPEN)
    def note_packet_received(self, session: Session) -> None:
        """Leave ReceivedAck unchanged."""


class _RemoteGuidTakenFromPingResponse(PingHandling):
    @faulty_only_if(lambda part, session, *_: session.is_destination_direct)
    def on_ping_response_processed(self, session: Session, response: PingPacket, now: Now) -> None:
        session.RemoteQMGuid = response.QMGuid
        super().on_ping_response_processed(session, response, now)


class _EstablishRequestWithGuidOfPingResponse(SessionEstablishing):
    @faulty_only_if(lambda part, session, now: session.is_destination_direct and session.is_ping_sent_before_session)
    def build_establish_request(self, session: Session, now: Now) -> EstablishConnectionPacket:
        request = super().build_establish_request(session, now)
        header = replace(request.EstablishConnectionHeader, ServerGuid=session.RemoteQMGuid)
        return replace(request, EstablishConnectionHeader=header)


register_variant_of_reading(
    "E11.2",
    "For a direct name, the initiator takes RemoteQMGuid from the Ping Response and uses it in its request.",
    combine_installers(
        replace_part(_RemoteGuidTakenFromPingResponse), replace_part(_EstablishRequestWithGuidOfPingResponse)
    ),
)
