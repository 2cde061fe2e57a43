"""Faults that break rules of MS-MQQB 3.1.7.8 Receive Ping Response."""

from __future__ import annotations

from typing import Any

from harness.faults.datagrams import change_received_datagrams
from harness.faults.parts import fault
from harness.faults.primitives import omit_step
from harness.faults.registry import add
from reference_qm.codec import FormatError, PingPacket, parse_ping
from reference_qm.core.part import QM
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.ping_handling import PingHandling
from reference_qm.model.adm import Session
from reference_qm.model.states import AwaitedOpeningEvent, ConnectionStatus, SessionState
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import PingSocket

add(
    "initiator-ping-response-not-processed",
    ("MQQB-3.1.7.8-01", "MQQB-3.1.7.8-05", "MQQB-3.1.7.9-01"),
    "The initiator continues to wait when a Ping Response arrives.",
    omit_step(PingHandling.on_ping_response_processed),
)


@fault("initiator-ping-response-flags-taken-from-first-response", breaks="MQQB-3.1.7.8-02")
class InitiatorPingResponseFlagsTakenFromFirstResponse(PingHandling):
    """The initiator uses the flags of the first datagram that arrives after its Ping Request, even if the Cookie of
    this datagram is wrong.
    """

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self.first: dict[int, bytes] = {}

    def receive_response(self, data: bytes, now: Now) -> None:
        flags = self.first.setdefault(self.qm.adm.PingCookie, data[:2])
        super().receive_response(flags + data[2:], now)


@fault("initiator-wrong-signature-restarts-ping-response-timer", breaks="MQQB-3.1.7.8-03", blind=True)
class InitiatorWrongSignatureRestartsPingResponseTimer(PingHandling):
    """The initiator restarts the Ping Response Timer when a datagram with a wrong Signature arrives."""

    def receive_response(self, data: bytes, now: Now) -> None:
        try:
            parse_ping(data)
        except FormatError:
            for session in self.qm.sessions.values():
                if session.awaited_opening_event is AwaitedOpeningEvent.PING_RESPONSE:
                    duration_ms = self.qm.settings.ping_response_ms
                    self.qm.session_timers.start(session, TimerName.PING_RESPONSE, duration_ms, now)
        super().receive_response(data, now)


@fault("initiator-wrong-ping-response-ends-the-wait", breaks=("MQQB-3.1.7.8-03", "MQQB-3.1.7.8-04"), blind=True)
class InitiatorWrongPingResponseEndsTheWait(PingHandling):
    """The initiator abandons its attempt when it receives a datagram that is not the response to its Ping Request."""

    def receive_response(self, data: bytes, now: Now) -> None:
        waiting = [
            one for one in self.qm.sessions.values() if one.awaited_opening_event is AwaitedOpeningEvent.PING_RESPONSE
        ]
        super().receive_response(data, now)
        for session in waiting:
            if session.awaited_opening_event is AwaitedOpeningEvent.PING_RESPONSE:
                self.on_response_timer(session, now)


add(
    "initiator-ping-response-low-byte-of-signature-not-compared",
    "MQQB-3.1.7.8-03",
    "The initiator compares only the high byte of Signature of a Ping Response.",
    change_received_datagrams(PingSocket.SOURCE, lambda data: data[:2] + b"\x48" + data[3:]),
    blind=True,
)


@fault("initiator-ping-cookie-compared-in-16-bits", breaks="MQQB-3.1.7.8-04", blind=True)
class InitiatorPingCookieComparedIn16Bits(PingHandling):
    """The initiator compares only the lower two bytes of the Cookie of a Ping Response."""

    def receive_response(self, data: bytes, now: Now) -> None:
        cookie = self.qm.adm.PingCookie.to_bytes(4, "little")
        super().receive_response(data[:6] + cookie[2:] + data[8:] if data[4:6] == cookie[:2] else data, now)


@fault("initiator-ping-response-cookie-compared-by-16-bits", breaks="MQQB-3.1.7.8-04", blind=True)
class InitiatorPingResponseCookieComparedBy16Bits(PingHandling):
    """The initiator accepts a Ping Response if only the lower 16 bits of its Cookie equal those of PingCookie."""

    def receive_response(self, data: bytes, now: Now) -> None:
        cookie = self.qm.adm.PingCookie
        if len(data) == 24 and int.from_bytes(data[4:6], "little") == cookie & 0xFFFF:
            data = data[:4] + cookie.to_bytes(4, "little") + data[8:]
        super().receive_response(data, now)


@fault("initiator-ping-response-low-half-of-cookie-compared", breaks="MQQB-3.1.7.8-04", blind=True)
class InitiatorPingResponseLowHalfOfCookieCompared(PingHandling):
    """The initiator compares only the low 16 bits of Cookie of a Ping Response."""

    def receive_response(self, data: bytes, now: Now) -> None:
        if len(data) >= 8:
            high = (self.qm.adm.PingCookie >> 16).to_bytes(2, "little")
            data = data[:6] + high + data[8:]
        super().receive_response(data, now)


@fault("initiator-second-ping-response-to-second-request-ignored", breaks="MQQB-3.1.7.8-05", blind=True)
class InitiatorSecondPingResponseToSecondRequestIgnored(PingHandling):
    """The initiator ignores the Ping Response to its second Ping Request to the same address."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.done: set[str] = set()

    def on_ping_response_processed(self, session: Session, response: PingPacket, now: Now) -> None:
        if session.RemoteQMAddress in self.done:
            return
        self.done.add(session.RemoteQMAddress)
        super().on_ping_response_processed(session, response, now)


_COOKIE_SLICE = slice(4, 8)


def _has_requested_cookie(session: Session, data: bytes) -> bool:
    """Return whether a datagram has the Cookie of the session's Ping Request."""
    return data[_COOKIE_SLICE] == session.ping_cookie.to_bytes(4, "little")


@fault("initiator-late-ping-response-accepted", breaks="MQQB-3.1.7.8-06")
class InitiatorLatePingResponseAccepted(PingHandling):
    """The initiator opens the session when a Ping Response arrives after the expiry of the Ping Response Timer."""

    def receive_response(self, data: bytes, now: Now) -> None:
        super().receive_response(data, now)
        for session in self.qm.sessions.values():
            late = (
                session.SessionState is SessionState.WAITING_RECONNECT
                and session.awaited_opening_event is AwaitedOpeningEvent.NOTHING
            )
            if late and _has_requested_cookie(session, data):
                self.qm.session_connecting.connect_transport(session)


@fault("initiator-second-ping-response-closes-session", breaks="MQQB-3.1.7.8-06")
class InitiatorSecondPingResponseClosesSession(PingHandling):
    """The initiator closes the session when a second Ping Response, with RF set, arrives."""

    def receive_response(self, data: bytes, now: Now) -> None:
        super().receive_response(data, now)
        for session in list(self.qm.sessions.values()):
            opened = session.SessionState is SessionState.WAITING_ECR_MSG
            if opened and _has_requested_cookie(session, data) and data[0] & PingPacket.flags(RF=1):
                self.qm.session_closing.close(session, "a second Ping Response refuses it (fault)", now)


@fault("initiator-abandoned-attempt-reopened-by-ping-response", breaks="MQQB-3.1.7.8-06", blind=True)
class InitiatorAbandonedAttemptReopenedByPingResponse(PingHandling):
    """The initiator opens the session of an abandoned attempt when a Ping Response arrives late."""

    def receive_response(self, data: bytes, now: Now) -> None:
        super().receive_response(data, now)
        for session in list(self.qm.sessions.values()):
            late = data[4:8] == session.ping_cookie.to_bytes(4, "little") and session.ping_cookie
            if (
                late
                and session.is_ping_sent_before_session
                and session.transport is None
                and not session.is_retrying_connection
            ):
                session.ping_cookie = 0
                self.qm.session_connecting.connect_transport(session)


@fault("initiator-ping-response-during-session-with-rf-closes-session", breaks="MQQB-3.1.7.8-06", blind=True)
class InitiatorPingResponseDuringSessionWithRfClosesSession(PingHandling):
    """When a second Ping Response with RF set arrives, the initiator closes the session that the first
    response allowed.
    """

    def receive_response(self, data: bytes, now: Now) -> None:
        super().receive_response(data, now)
        try:
            response = parse_ping(data)
        except FormatError:
            return
        for session in list(self.qm.sessions.values()):
            later = (
                session.awaited_opening_event is not AwaitedOpeningEvent.PING_RESPONSE and session.transport is not None
            )
            if later and session.is_ping_sent_before_session and session.ping_cookie == response.Cookie and response.RF:
                self.qm.session_closing.close(session, "a fault", now)


@fault("initiator-late-ping-response-opens-session-after-timeout", breaks="MQQB-3.1.7.8-06", blind=True)
class InitiatorLatePingResponseOpensSessionAfterTimeout(PingHandling):
    """When a Ping Response arrives after the expiry of the timer, the initiator opens the session before
    the next retry.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.timed_out: Session | None = None

    def on_response_timer(self, session: Session, now: Now) -> None:
        super().on_response_timer(session, now)
        self.timed_out = session

    def receive_response(self, data: bytes, now: Now) -> None:
        session, self.timed_out = self.timed_out, None
        if (
            session is not None
            and session.number in self.qm.sessions
            and session.awaited_opening_event is AwaitedOpeningEvent.NOTHING
        ):
            self.qm.session_establishing.establish(session, now, again=True)
            return
        super().receive_response(data, now)


@fault("initiator-ping-response-after-other-datagram-ignored", breaks="MQQB-3.1.7.8-01", blind=True)
class InitiatorPingResponseAfterOtherDatagramIgnored(PingHandling):
    """The initiator reads only the first datagram after its request, so that it ignores a later response."""

    read: Any = False

    def send_request(self, session: Session, now: Now) -> None:
        self.read = False
        super().send_request(session, now)

    def receive_response(self, data: bytes, now: Now) -> None:
        if not self.read:
            self.read = True
            super().receive_response(data, now)


@fault("initiator-second-ping-response-with-rf-ends-session", breaks="MQQB-3.1.7.8-06", blind=True)
class InitiatorSecondPingResponseWithRfEndsSession(PingHandling):
    """The initiator ends the session, or the attempt to establish the session, when a further Ping Response to its
    last Ping Request has RF set.
    """

    def receive_response(self, data: bytes, now: Now) -> None:
        waiting = {
            one.number
            for one in self.qm.sessions.values()
            if one.awaited_opening_event is AwaitedOpeningEvent.PING_RESPONSE
        }
        super().receive_response(data, now)
        try:
            response = parse_ping(data)
        except FormatError:
            return
        if not response.RF or response.Cookie != self.qm.adm.PingCookie:
            return
        for session in list(self.qm.sessions.values()):
            idle = session.number in waiting or session.SessionState is SessionState.WAITING_RECONNECT
            if (
                session.initiator
                and session.is_ping_sent_before_session
                and session.ping_cookie == response.Cookie
                and not idle
            ):
                reason = "the Ping Response announces that a session would be refused (MS-MQQB 3.1.7.6)"
                self.qm.session_closing.close_session_after_failed_establishment(
                    session, ConnectionStatus.PING_FAILURE, reason, now
                )
