"""Faults of MS-MQQB 3.1.7.6 Send Ping Request."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.datagrams import received_datagrams, sent_datagrams
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

_RF = PingPacket.flags(RF=1)

# -- the request ---------------------------------------------------------------------------------------------------


def _counted_by(step: int) -> Install:
    """Let PingCookie grow by something else than one."""

    class CountedBy(Ping):
        def send_request(self, session: Session, now: Now) -> None:
            self.qm.adm.PingCookie = self.qm.adm.PingCookie + step - 1 & 0xFFFFFFFF
            super().send_request(session, now)

    return replace_part(CountedBy)


add("ping-cookie-by-two", "MQQB-3.1.7.6-03", "PingCookie grows by two.", _counted_by(2))
add("ping-cookie-stands", "MQQB-3.1.7.6-03", "PingCookie is not incremented.", _counted_by(0))
add(
    "ping-request-too-long",
    "MQQB-3.1.7.6-04",
    "A Ping Request has four bytes too many.",
    sent_datagrams(PingSocket.SOURCE, lambda sent: replace(sent, data=sent.data + bytes(4))),
)
add(
    "ping-request-other-guid",
    "MQQB-3.1.7.6-05",
    "QMGuid of a Ping Request is that of no queue manager.",
    sent_as("initiator", field_is(PingPacket, "QMGuid", OTHER_GUID)),
)
add(
    "ping-request-other-cookie",
    "MQQB-3.1.7.6-06",
    "Cookie of a Ping Request is not PingCookie.",
    sent_as("initiator", off_by(PingPacket, "Cookie", 0x100)),
)
add(
    "ping-request-to-another-port",
    "MQQB-3.1.7.6-08",
    "A Ping Request is sent to the port beside the acceptor's ping port.",
    sent_datagrams(
        PingSocket.SOURCE, lambda sent: replace(sent, remote=Endpoint(sent.remote.host, sent.remote.port + 1))
    ),
)

# -- the wait for the response -------------------------------------------------------------------------------------

add(
    "ping-without-timer",
    "MQQB-3.1.7.6-09",
    "No Ping Response Timer is started: a ping that nobody answers is waited for without end.",
    skip_during(Ping.send_request, SessionTimers.start),
)


@fault("ping-not-waited-for", breaks="MQQB-3.1.7.6-10")
class ResponseNotWaitedFor(Ping):
    """The initiator connects as soon as its Ping Request is sent."""

    def send_request(self, session: Session, now: Now) -> None:
        super().send_request(session, now)
        self.qm.connecting.connect_transport(session)


add(
    "ping-response-refusal-overlooked",
    ("MQQB-3.1.7.6-12", "MQQB-3.1.7.6-13", "MQQB-3.1.7.9-01"),
    "A Ping Response with RF set opens the session.",
    received_datagrams(PingSocket.SOURCE, lambda data: bytes([data[0] & ~_RF]) + data[1:]),
)


class _ExpiryCloses(Ping):
    def on_response_timer(self, session: Session, now: Now) -> None:
        self.qm.closing.close(session, "no Ping Response came (fault)", now)


add(
    "ping-timer-not-cancelled",
    "MQQB-3.1.7.6-14",
    "The Ping Response Timer runs on after the response, and its expiry closes the session.",
    both(skip_during(Ping.response_processed, SessionTimers.stop), replace_part(_ExpiryCloses)),
)


@fault("ping-expiry-opens-the-session", breaks=("MQQB-3.1.6.8-01", "MQQB-3.1.7.6-11"))
class ExpiryOpensTheSession(Ping):
    """When no Ping Response came in time the session is opened."""

    def on_response_timer(self, session: Session, now: Now) -> None:
        self.qm.connecting.connect_transport(session)


add(
    "ping-request-refuses",
    ("MQQB-2.2.7-05", "MQQB-3.1.7.6-07"),
    "RF is set in Ping Requests.",
    sent_as("initiator", bit_set(PingPacket, "RF")),
)
