"""Faults of what follows on a Ping Request. Spec: MS-MQQB 3.1.5.2.2, 3.1.6.8, 3.1.7.6, 3.1.7.8, 3.1.7.9."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.ping import RF, any_signature, connect, heard
from harness.faults.primitives import afterwards, both, during, procedure, skip
from harness.faults.registry import add
from reference_qm.core.protocol.closing import Closing
from reference_qm.core.protocol.establishing import Establishing
from reference_qm.core.protocol.ping import Ping
from reference_qm.core.protocol.session_timers import SessionTimers
from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.adm import Session
from reference_qm.model.states import ConnectionStatus, Opening, SessionState
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
    "ping-answered-no-request",
    "MQQB-3.1.5.2.2-04",
    "After a positive Ping Response the initiator connects and sends no EstablishConnection.",
    skip(Establishing.send_establish_request),
)
add(
    "ping-response-refusal-overlooked",
    ("MQQB-3.1.7.6-12", "MQQB-3.1.7.6-13", "MQQB-3.1.7.9-01"),
    "A Ping Response with RF set opens the session.",
    heard(PingSocket.SOURCE, lambda data: bytes([data[0] & ~RF]) + data[1:]),
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


def _no_entry(original: Callable[..., None], *_: Any) -> Callable[..., None]:
    def add_history(qm: QueueManager, session: Session, status: ConnectionStatus, now: Now) -> None:
        if status is not ConnectionStatus.PING_FAILURE:
            original(qm, session, status, now)

    return add_history


def _other_entry(original: Callable[..., None], *_: Any) -> Callable[..., None]:
    def add_history(qm: QueueManager, session: Session, status: ConnectionStatus, now: Now) -> None:
        other = ConnectionStatus.DNS_FAILURE if status is ConnectionStatus.PING_FAILURE else status
        original(qm, session, other, now)

    return add_history


add(
    "ping-failure-not-recorded",
    "MQQB-3.1.5.2.2-06",
    "A failed ping leaves no entry in ConnectionHistory.",
    procedure(Establishing.add_connection_history, _no_entry),
)
add(
    "ping-failure-recorded-as-another",
    "MQQB-3.1.5.2.2-07",
    "A failed ping is recorded as a failure to resolve the name.",
    procedure(Establishing.add_connection_history, _other_entry),
)


def _give_up(original: Callable[..., None], qm: QueueManager, session: Session, status: Any, *_: Any) -> Any:
    return (lambda *arguments: None) if status is ConnectionStatus.PING_FAILURE else original


add(
    "ping-failure-gives-up",
    "MQQB-3.1.5.2.2-08",
    "After a failed ping the Session Retry Connect Timer is not started.",
    during(Establishing.fail_to_establish, Closing.await_reconnect, _give_up),
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
add(
    "ping-response-any-signature",
    ("MQQB-2.2.7-21", "MQQB-3.1.7.8-03"),
    "A Ping Response is taken whatever its Signature.",
    heard(PingSocket.SOURCE, any_signature),
)


def _any_cookie(original: Callable[..., None]) -> Callable[..., None]:
    def receive(qm: QueueManager, data: bytes, now: Now) -> None:
        original(qm, data[: COOKIE.start] + qm.adm.PingCookie.to_bytes(4, "little") + data[COOKIE.stop :], now)

    return receive


add(
    "ping-response-any-cookie",
    ("MQQB-2.2.7-23", "MQQB-3.1.7.8-04"),
    "A Ping Response is taken whatever its Cookie.",
    procedure(Ping.receive_response, _any_cookie),
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
