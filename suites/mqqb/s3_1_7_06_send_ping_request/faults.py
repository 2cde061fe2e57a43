"""Faults of MS-MQQB 3.1.7.6 Send Ping Request."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.datagrams import change_received_datagrams, change_sent_datagrams
from harness.faults.fields import bit_set, field_is, off_by, sent_as
from harness.faults.made_up import OTHER_GUID
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import both, skip_during
from harness.faults.registry import Install, add
from reference_qm.codec import PingPacket
from reference_qm.core.sessions.ping import Ping
from reference_qm.core.sessions.session_timers import SessionTimers
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import Endpoint, PingSocket

_RF_BIT = PingPacket.flags(RF=1)

# -- the request ---------------------------------------------------------------------------------------------------


def _increment_ping_cookie_by(step: int) -> Install:
    """Make the initiator increment PingCookie by a number other than one."""

    class CookieIncrementChanged(Ping):
        def send_request(self, session: Session, now: Now) -> None:
            self.qm.adm.PingCookie = self.qm.adm.PingCookie + step - 1 & 0xFFFFFFFF
            super().send_request(session, now)

    return replace_part(CookieIncrementChanged)


add(
    "initiator-ping-cookie-grows-by-2",
    "MQQB-3.1.7.6-03",
    "The initiator increments PingCookie by two for each Ping Request.",
    _increment_ping_cookie_by(2),
)
add(
    "initiator-ping-cookie-not-incremented",
    "MQQB-3.1.7.6-03",
    "The initiator does not increment PingCookie.",
    _increment_ping_cookie_by(0),
)
add(
    "initiator-ping-request-4-bytes-too-long",
    "MQQB-3.1.7.6-04",
    "The initiator's Ping Request has four bytes too many.",
    change_sent_datagrams(PingSocket.SOURCE, lambda sent: replace(sent, data=sent.data + bytes(4))),
)
add(
    "initiator-ping-request-qm-guid-wrong",
    "MQQB-3.1.7.6-05",
    "The initiator sends a Ping Request whose QMGuid belongs to no queue manager.",
    sent_as("initiator", field_is(PingPacket, "QMGuid", OTHER_GUID)),
)
add(
    "initiator-ping-request-cookie-wrong",
    "MQQB-3.1.7.6-06",
    "The initiator's Ping Request has a Cookie other than PingCookie.",
    sent_as("initiator", off_by(PingPacket, "Cookie", 0x100)),
)
add(
    "initiator-ping-request-to-wrong-port",
    "MQQB-3.1.7.6-08",
    "The initiator sends the Ping Request to a port number that is one above the acceptor's ping port.",
    change_sent_datagrams(
        PingSocket.SOURCE, lambda sent: replace(sent, remote=Endpoint(sent.remote.host, sent.remote.port + 1))
    ),
)

# -- the wait for the response -------------------------------------------------------------------------------------

add(
    "initiator-ping-response-timer-not-started",
    "MQQB-3.1.7.6-09",
    "The initiator starts no Ping Response Timer and waits without limit for a Ping Response.",
    skip_during(Ping.send_request, SessionTimers.start),
)


@fault("initiator-connects-before-ping-response", breaks="MQQB-3.1.7.6-10")
class InitiatorConnectsBeforePingResponse(Ping):
    """The initiator connects at once after its Ping Request."""

    def send_request(self, session: Session, now: Now) -> None:
        super().send_request(session, now)
        self.qm.connecting.connect_transport(session)


add(
    "initiator-ping-response-rf-ignored",
    ("MQQB-3.1.7.6-12", "MQQB-3.1.7.6-13", "MQQB-3.1.7.9-01"),
    "The initiator opens the session although the Ping Response has RF set.",
    change_received_datagrams(PingSocket.SOURCE, lambda data: bytes([data[0] & ~_RF_BIT]) + data[1:]),
)


class _ExpiryCloses(Ping):
    def on_response_timer(self, session: Session, now: Now) -> None:
        self.qm.closing.close(session, "no Ping Response arrived (fault)", now)


add(
    "initiator-ping-response-timer-not-stopped",
    "MQQB-3.1.7.6-14",
    "The initiator does not stop the Ping Response Timer, whose expiry closes the session.",
    both(skip_during(Ping.response_processed, SessionTimers.stop), replace_part(_ExpiryCloses)),
)


@fault("initiator-session-opened-at-ping-timer-expiry", breaks=("MQQB-3.1.6.8-01", "MQQB-3.1.7.6-11"))
class InitiatorSessionOpenedAtPingTimerExpiry(Ping):
    """The initiator opens the session although the Ping Response Timer expires without a response."""

    def on_response_timer(self, session: Session, now: Now) -> None:
        self.qm.connecting.connect_transport(session)


add(
    "initiator-ping-request-rf-set",
    ("MQQB-2.2.7-05", "MQQB-3.1.7.6-07"),
    "The initiator's Ping Request has RF set.",
    sent_as("initiator", bit_set(PingPacket, "RF")),
)
