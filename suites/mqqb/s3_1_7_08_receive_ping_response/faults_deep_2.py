"""Faults of MS-MQQB 3.1.7.8 Receive Ping Response that concern parts of fields, and responses at other times."""

from __future__ import annotations

from harness.faults.datagrams import change_received_datagrams
from harness.faults.parts import fault
from harness.faults.registry import add
from reference_qm.codec import FormatError, PingPacket, parse_ping
from reference_qm.core.part import QM
from reference_qm.core.sessions.ping import Ping
from reference_qm.model.adm import Session
from reference_qm.model.states import Opening
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import PingSocket

add(
    "initiator-ping-response-low-byte-of-signature-not-compared",
    "MQQB-3.1.7.8-03",
    "The initiator compares only the high byte of Signature of a Ping Response.",
    change_received_datagrams(PingSocket.SOURCE, lambda data: data[:2] + b"\x48" + data[3:]),
    blind=True,
)


@fault("initiator-ping-response-low-half-of-cookie-compared", breaks="MQQB-3.1.7.8-04", blind=True)
class InitiatorPingResponseLowHalfOfCookieCompared(Ping):
    """The initiator compares only the low 16 bits of Cookie of a Ping Response."""

    def receive_response(self, data: bytes, now: Now) -> None:
        if len(data) >= 8:
            high = (self.qm.adm.PingCookie >> 16).to_bytes(2, "little")
            data = data[:6] + high + data[8:]
        super().receive_response(data, now)


@fault("initiator-ping-response-during-session-with-rf-closes-session", breaks="MQQB-3.1.7.8-06", blind=True)
class InitiatorPingResponseDuringSessionWithRfClosesSession(Ping):
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
            later = session.opening is not Opening.PING_RESPONSE and session.transport is not None
            if later and session.pinged and session.ping_cookie == response.Cookie and response.RF:
                self.qm.closing.close(session, "a fault", now)


@fault("initiator-late-ping-response-opens-session-after-timeout", breaks="MQQB-3.1.7.8-06", blind=True)
class InitiatorLatePingResponseOpensSessionAfterTimeout(Ping):
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
        if session is not None and session.number in self.qm.sessions and session.opening is Opening.NOTHING:
            self.qm.establishing.establish(session, now, again=True)
            return
        super().receive_response(data, now)


@fault("initiator-second-ping-response-to-second-request-ignored", breaks="MQQB-3.1.7.8-05", blind=True)
class InitiatorSecondPingResponseToSecondRequestIgnored(Ping):
    """The initiator ignores the Ping Response to its second Ping Request to the same address."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.done: set[str] = set()

    def response_processed(self, session: Session, response: PingPacket, now: Now) -> None:
        if session.RemoteQMAddress in self.done:
            return
        self.done.add(session.RemoteQMAddress)
        super().response_processed(session, response, now)
