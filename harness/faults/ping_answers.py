"""Faults of what follows on a Ping Request. Spec: MS-MQQB 3.1.5.2.2, 3.1.6.8, 3.1.7.6, 3.1.7.8, 3.1.7.9."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.datagrams import received_datagrams
from harness.faults.ping import RF, connect, connect_at_once
from harness.faults.primitives import afterwards, both, during, procedure, skip
from harness.faults.registry import add
from reference_qm.core.protocol.ping import Ping
from reference_qm.core.protocol.session_timers import SessionTimers
from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.adm import Session
from reference_qm.model.states import Opening, SessionState
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import PingSocket

COOKIE = slice(4, 8)

add(
    "ping-response-not-processed",
    ("MQQB-3.1.7.8-01", "MQQB-3.1.7.8-05", "MQQB-3.1.7.9-01"),
    "A Ping Response does not end the wait for it.",
    skip(Ping.response_processed),
)
add(
    "ping-response-refusal-overlooked",
    ("MQQB-3.1.7.6-12", "MQQB-3.1.7.6-13", "MQQB-3.1.7.9-01"),
    "A Ping Response with RF set opens the session.",
    received_datagrams(PingSocket.SOURCE, lambda data: bytes([data[0] & ~RF]) + data[1:]),
)


add(
    "ping-not-waited-for",
    "MQQB-3.1.7.6-10",
    "The initiator connects as soon as its Ping Request is sent.",
    afterwards(Ping.send_request, connect),
)
add(
    "ping-without-timer",
    "MQQB-3.1.7.6-09",
    "No Ping Response Timer is started: a ping that nobody answers is waited for without end.",
    during(Ping.send_request, SessionTimers.start, lambda original, *_: lambda *arguments: None),
)


add(
    "ping-expiry-opens-the-session",
    ("MQQB-3.1.6.8-01", "MQQB-3.1.7.6-11"),
    "When no Ping Response came in time the session is opened.",
    procedure(Ping.on_response_timer, connect_at_once),
)


def _expire_always(original: Callable[..., None]) -> Callable[..., None]:
    def expire(qm: QueueManager, session: Session, now: Now) -> None:
        qm.closing.close(session, "no Ping Response came (fault)", now)

    return expire


add(
    "ping-timer-not-cancelled",
    "MQQB-3.1.7.6-14",
    "The Ping Response Timer runs on after the response, and its expiry closes the session.",
    both(
        during(Ping.response_processed, SessionTimers.stop, lambda original, *_: lambda *arguments: None),
        procedure(Ping.on_response_timer, _expire_always),
    ),
)


def _first_flags_count(original: Callable[..., None]) -> Callable[..., None]:
    first: dict[int, bytes] = {}

    def receive(qm: QueueManager, data: bytes, now: Now) -> None:
        flags = first.setdefault(qm.adm.PingCookie, data[:2])
        original(qm, flags + data[2:], now)

    return receive


add(
    "ping-response-flags-of-another",
    "MQQB-3.1.7.8-02",
    "What decides are the flags of the first datagram that came, whatever it was.",
    procedure(Ping.receive_response, _first_flags_count),
)


def _late_is_welcome(qm: QueueManager, data: bytes, now: Now) -> None:
    for session in qm.sessions.values():
        late = session.SessionState is SessionState.WAITING_RECONNECT and session.opening is Opening.NOTHING
        if late and data[COOKIE] == session.ping_cookie.to_bytes(4, "little"):
            qm.establishing.connect_transport(session)


def _second_refuses(qm: QueueManager, data: bytes, now: Now) -> None:
    for session in list(qm.sessions.values()):
        opened = session.SessionState is SessionState.WAITING_ECR_MSG
        if opened and data[COOKIE] == session.ping_cookie.to_bytes(4, "little") and data[0] & RF:
            qm.closing.close(session, "a second Ping Response refuses it (fault)", now)


add(
    "ping-response-late-taken",
    "MQQB-3.1.7.8-06",
    "A Ping Response that comes too late opens the session.",
    afterwards(Ping.receive_response, _late_is_welcome),
)
add(
    "ping-response-second-taken",
    "MQQB-3.1.7.8-06",
    "A second Ping Response, with RF set, closes the session.",
    afterwards(Ping.receive_response, _second_refuses),
)
