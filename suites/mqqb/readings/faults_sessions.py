"""Other readings of what opens, times and ends a session."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import follows, replaced
from harness.faults.primitives import both
from harness.faults.registry import add_reading
from reference_qm.codec import (
    ConnectionParametersPacket,
    EstablishConnectionPacket,
    FormatError,
    Packet,
    PingPacket,
    UserMessagePacket,
)
from reference_qm.core.protocol.establishing import Establishing
from reference_qm.core.protocol.identifying import Identifying
from reference_qm.core.protocol.ping import Ping
from reference_qm.core.protocol.session_opening import (
    ACK_TIMEOUT_MS,
    RECOVERABLE_ACK_TIMEOUT_MS,
    SessionOpening,
)
from reference_qm.core.protocol.session_timers import SessionTimers
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now


@follows("E10.2")
class RefusalRepeatsServerGuid(SessionOpening):
    """The response to a refused request repeats the ServerGuid asked for."""

    def build_establish_response(
        self, session: Session, request: EstablishConnectionPacket
    ) -> EstablishConnectionPacket:
        response = super().build_establish_response(session, request)
        if not session.refused:
            return response
        asked = request.EstablishConnectionHeader.ServerGuid
        return replace(
            response, EstablishConnectionHeader=replace(response.EstablishConnectionHeader, ServerGuid=asked)
        )


@follows("E12.2")
class RefusalCloses(SessionOpening):
    """The acceptor closes at once after its refusal."""

    def receive_establish_request(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        super().receive_establish_request(session, packet, now)
        if session.refused and session.SessionState is SessionState.WAITING_CP_MSG:
            self.qm.closing.close(session, "the connection was refused (MS-MQQB 3.1.5.3.1)", now)


@follows("E13.2")
class OneInitializationTimer(SessionTimers):
    """One Session Initialization Timer serves all sessions: opening one lets another wait on."""

    def start(self, session: Session, name: TimerName, duration_ms: int, now: Now) -> None:
        super().start(session, name, duration_ms, now)
        if name is TimerName.SESSION_INITIALIZATION:
            for other in self._running():
                super().start(other, name, duration_ms, now)

    def stop(self, session: Session, name: TimerName) -> None:
        if name is TimerName.SESSION_INITIALIZATION and session in self._running():
            for other in self._running():
                super().stop(other, name)
        super().stop(session, name)

    def _running(self) -> list[Session]:
        timers, name = self.qm.timers, TimerName.SESSION_INITIALIZATION
        return [one for one in self.qm.sessions.values() if timers.is_running(TimerKey(name, one.number))]


@follows("E14.2")
class ParametersTakenAsTheyAre(Identifying):
    """Parameters outside of their ranges are taken as they are."""

    def check_form(self, packet: Packet) -> None:
        if not isinstance(packet, ConnectionParametersPacket):
            super().check_form(packet)


@follows("E14.3")
class ParametersPutIntoRange(Identifying):
    """Parameters outside of their ranges are put into range, and the response has those."""

    def identify_packet(self, data: bytes) -> Packet:
        packet = super().identify_packet(data)
        if not isinstance(packet, ConnectionParametersPacket):
            return packet
        header = packet.ConnectionParametersHeader
        return replace(
            packet,
            ConnectionParametersHeader=replace(
                header,
                RecoverableAckTimeout=_within(header.RecoverableAckTimeout, RECOVERABLE_ACK_TIMEOUT_MS),
                AckTimeout=_within(header.AckTimeout, ACK_TIMEOUT_MS),
            ),
        )


def _within(value: int, limits: tuple[int, int]) -> int:
    return min(max(value, limits[0]), limits[1])


@follows("E15.2")
class EveryCookieIsOne(Ping):
    """PingCookie is 0 for every new session, so that every ping has cookie 1."""

    def send_request(self, session: Session, now: Now) -> None:
        self.qm.adm.PingCookie = 0
        super().send_request(session, now)


@follows("E31.2")
class UnusedTransactionBitsAreWrong(Identifying):
    """A set unused bit of TransactionHeader.Flags closes the session."""

    def check_form(self, packet: Packet) -> None:
        super().check_form(packet)
        header = packet.TransactionHeader if isinstance(packet, UserMessagePacket) else None
        if header is not None and header.Flags >> 24:
            raise FormatError("TransactionHeader.Flags", 0, "MS-MQMQ 2.2.20.5", "has unused bits")


@follows("E33.1")
class TracedWithoutDebugHeaderIsMalformed(Identifying):
    """TR without DH is malformed, and closes the session."""

    def check_form(self, packet: Packet) -> None:
        super().check_form(packet)
        if isinstance(packet, UserMessagePacket) and packet.BaseHeader.TR and not packet.BaseHeader.DH:
            raise FormatError("BaseHeader.Flags", 0, "MS-MQMQ 2.2.19.1", "has TR without DH")


@follows("E50.2")
class OpeningIsNoAcknowledgment(Identifying):
    """Packets that open a session do not set ReceivedAck: an unacknowledged session ends with the first expiry."""

    def note_received(self, session: Session) -> None:
        if session.SessionState is SessionState.OPEN:
            super().note_received(session)


class _PingNamesTheAcceptor(Ping):
    def response_processed(self, session: Session, response: PingPacket, now: Now) -> None:
        if session.direct:
            session.RemoteQMGuid = response.QMGuid
        super().response_processed(session, response, now)


class _RequestNamesTheAcceptor(Establishing):
    def build_establish_request(self, session: Session, now: Now) -> EstablishConnectionPacket:
        request = super().build_establish_request(session, now)
        if not (session.direct and session.pinged):
            return request
        header = replace(request.EstablishConnectionHeader, ServerGuid=session.RemoteQMGuid)
        return replace(request, EstablishConnectionHeader=header)


add_reading(
    "E11.2",
    "With a direct name RemoteQMGuid is what the Ping Response said, and goes into the request.",
    both(replaced(_PingNamesTheAcceptor), replaced(_RequestNamesTheAcceptor)),
)
