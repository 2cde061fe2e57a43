"""Faults of MS-MQQB 3.1.7.8 Receive Ping Response."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import skip
from harness.faults.registry import add
from reference_qm.codec import PingPacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.ping import Ping
from reference_qm.model.adm import Session
from reference_qm.model.states import Opening, SessionState
from reference_qm.surface.clock import Now

_COOKIE_SLICE = slice(4, 8)


def _has_requested_cookie(session: Session, data: bytes) -> bool:
    """Return whether a datagram has the Cookie of the session's Ping Request."""
    return data[_COOKIE_SLICE] == session.ping_cookie.to_bytes(4, "little")


add(
    "initiator-ping-response-not-processed",
    ("MQQB-3.1.7.8-01", "MQQB-3.1.7.8-05", "MQQB-3.1.7.9-01"),
    "The initiator continues to wait when a Ping Response arrives.",
    skip(Ping.response_processed),
)


@fault("initiator-ping-response-flags-taken-from-first-response", breaks="MQQB-3.1.7.8-02")
class InitiatorPingResponseFlagsTakenFromFirstResponse(Ping):
    """The initiator decides by the flags of the first datagram that arrives, even if its Cookie is wrong."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self.first: dict[int, bytes] = {}

    def receive_response(self, data: bytes, now: Now) -> None:
        flags = self.first.setdefault(self.qm.adm.PingCookie, data[:2])
        super().receive_response(flags + data[2:], now)


@fault("initiator-late-ping-response-accepted", breaks="MQQB-3.1.7.8-06")
class InitiatorLatePingResponseAccepted(Ping):
    """The initiator opens the session when a Ping Response arrives after the expiry of the Ping Response Timer."""

    def receive_response(self, data: bytes, now: Now) -> None:
        super().receive_response(data, now)
        for session in self.qm.sessions.values():
            late = session.SessionState is SessionState.WAITING_RECONNECT and session.opening is Opening.NOTHING
            if late and _has_requested_cookie(session, data):
                self.qm.connecting.connect_transport(session)


@fault("initiator-second-ping-response-closes-session", breaks="MQQB-3.1.7.8-06")
class InitiatorSecondPingResponseClosesSession(Ping):
    """The initiator closes the session when a second Ping Response, with RF set, arrives."""

    def receive_response(self, data: bytes, now: Now) -> None:
        super().receive_response(data, now)
        for session in list(self.qm.sessions.values()):
            opened = session.SessionState is SessionState.WAITING_ECR_MSG
            if opened and _has_requested_cookie(session, data) and data[0] & PingPacket.flags(RF=1):
                self.qm.closing.close(session, "a second Ping Response refuses it (fault)", now)


@fault("initiator-ping-cookie-compared-in-16-bits", breaks="MQQB-3.1.7.8-04", blind=True)
class InitiatorPingCookieComparedIn16Bits(Ping):
    """The initiator compares only the lower two bytes of the Cookie of a Ping Response."""

    def receive_response(self, data: bytes, now: Now) -> None:
        cookie = self.qm.adm.PingCookie.to_bytes(4, "little")
        super().receive_response(data[:6] + cookie[2:] + data[8:] if data[4:6] == cookie[:2] else data, now)


@fault("initiator-abandoned-attempt-reopened-by-ping-response", breaks="MQQB-3.1.7.8-06", blind=True)
class InitiatorAbandonedAttemptReopenedByPingResponse(Ping):
    """The initiator opens the session of an abandoned attempt when a Ping Response arrives late."""

    def receive_response(self, data: bytes, now: Now) -> None:
        super().receive_response(data, now)
        for session in list(self.qm.sessions.values()):
            late = data[4:8] == session.ping_cookie.to_bytes(4, "little") and session.ping_cookie
            if late and session.pinged and session.transport is None and not session.retrying:
                session.ping_cookie = 0
                self.qm.connecting.connect_transport(session)
