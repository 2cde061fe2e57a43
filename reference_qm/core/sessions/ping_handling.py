from __future__ import annotations

from reference_qm.codec import FormatError, PingPacket, parse_ping
from reference_qm.core.part import QueueManagerPart
from reference_qm.model.adm import Session
from reference_qm.model.states import AwaitedOpeningEvent, ConnectionStatus
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now
from reference_qm.surface.effects import SendDatagram
from reference_qm.surface.inputs import Endpoint, PingSocket


class PingHandling(QueueManagerPart):
    """Sends and answers Ping packets. Spec: MS-MQQB 2.1.2, 3.1.5.2.2, 3.1.6.8, 3.1.7.6 to 3.1.7.9."""

    __slots__ = ()

    def ping_before_session(self, session: Session, now: Now) -> None:
        """Send a Ping Request to the acceptor before a session is established, unless the attempt is a retry. Spec:
        MS-MQQB 3.1.5.2.2.
        """
        session.is_ping_sent_before_session = self.qm.config.send_ping and not session.is_retrying_connection
        if session.is_ping_sent_before_session:
            self.send_request(session, now)
        else:
            self.qm.session_connecting.connect_transport(session)

    def send_request(self, session: Session, now: Now) -> None:
        """Send a Ping Request, and start a timer of one second for its response. Spec: MS-MQQB 3.1.7.6."""
        self.qm.adm.PingCookie = self.qm.adm.PingCookie + 1 & 0xFFFFFFFF
        session.ping_cookie = self.qm.adm.PingCookie
        session.awaited_opening_event = AwaitedOpeningEvent.PING_RESPONSE
        request = self.build_request()
        remote = Endpoint(session.RemoteQMAddress, self.qm.config.remote_ping_port)
        self.qm.emit_effect(SendDatagram(PingSocket.SOURCE, remote, request.build()))
        self.qm.session_timers.start(session, TimerName.PING_RESPONSE, self.qm.settings.ping_response_ms, now)

    def build_request(self) -> PingPacket:
        """Build a Ping Request. Spec: MS-MQQB 3.1.7.6, 2.2.7 (RC states whether this system is server-class)."""
        return PingPacket(
            Flags=PingPacket.flags(RC=int(not self.qm.config.operating_system.is_server), RF=0),
            Cookie=self.qm.adm.PingCookie,
            QMGuid=self.qm.adm.Identifier,
        )

    def receive_request(self, remote: Endpoint, data: bytes) -> None:
        """Answer a Ping Request; ignore any other datagram. Spec: MS-MQQB 3.1.7.7, notes <10>, <42>."""
        request = _parse_ping_or_none(data)
        if request is not None and self.qm.config.answer_pings:
            response = self.build_response(request)
            self.qm.emit_effect(SendDatagram(PingSocket.LISTENER, remote, response.build()))

    def build_response(self, request: PingPacket) -> PingPacket:
        """Build a Ping Response. Spec: MS-MQQB 3.1.7.7, 2.2.7 (RF is set if a session would be refused now)."""
        return PingPacket(
            Flags=PingPacket.flags(RC=request.RC, RF=int(not self.qm.session_connecting.is_session_acceptable())),
            Cookie=request.Cookie,
            QMGuid=self.qm.adm.Identifier,
        )

    def receive_response(self, data: bytes, now: Now) -> None:
        """Accept the response to the last Ping Request, and ignore any other datagram.

        Spec: MS-MQQB 3.1.7.8, 2.2.7.
        """
        response = _parse_ping_or_none(data)
        if response is None or response.Cookie != self.qm.adm.PingCookie:
            return
        for session in list(self.qm.sessions.values()):
            if (
                session.awaited_opening_event is AwaitedOpeningEvent.PING_RESPONSE
                and session.ping_cookie == response.Cookie
            ):
                self.on_ping_response_processed(session, response, now)
                return

    def on_ping_response_processed(self, session: Session, response: PingPacket, now: Now) -> None:
        """Continue to establish the session, or end the attempt, depending on the Ping Response. Spec: MS-MQQB
        3.1.7.9, 3.1.7.6 step 10.
        """
        self.qm.session_timers.stop(session, TimerName.PING_RESPONSE)
        if response.RF:
            reason = "the Ping Response announces that a session would be refused (MS-MQQB 3.1.7.6)"
            self.qm.session_closing.close_session_after_failed_establishment(
                session, ConnectionStatus.PING_FAILURE, reason, now
            )
        else:
            self.qm.session_connecting.connect_transport(session)

    def on_response_timer(self, session: Session, now: Now) -> None:
        """End the wait for a Ping Response. Spec: MS-MQQB 3.1.6.8, 3.1.7.6 step 9."""
        if session.awaited_opening_event is AwaitedOpeningEvent.PING_RESPONSE:
            reason = "no Ping Response arrived (MS-MQQB 3.1.6.8)"
            self.qm.session_closing.close_session_after_failed_establishment(
                session, ConnectionStatus.PING_FAILURE, reason, now
            )


def _parse_ping_or_none(data: bytes) -> PingPacket | None:
    try:
        return parse_ping(data)
    except FormatError:
        return None
