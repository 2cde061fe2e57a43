"""Faults of what follows on a Ping Request. Spec: MS-MQQB 3.1.5.2.2, 3.1.6.8, 3.1.7.6, 3.1.7.8, 3.1.7.9."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.ping import any_signature, connect_at_once, heard
from harness.faults.primitives import during, procedure, skip
from harness.faults.registry import add
from reference_qm.core.protocol.closing import Closing
from reference_qm.core.protocol.establishing import Establishing
from reference_qm.core.protocol.ping import Ping
from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.adm import Session
from reference_qm.model.states import ConnectionStatus
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import PingSocket

COOKIE = slice(4, 8)

add(
    "ping-answered-no-request",
    "MQQB-3.1.5.2.2-04",
    "After a positive Ping Response the initiator connects and sends no EstablishConnection.",
    skip(Establishing.send_establish_request),
)


add(
    "ping-expiry-opens-the-session",
    ("MQQB-3.1.6.8-01", "MQQB-3.1.7.6-11"),
    "When no Ping Response came in time the session is opened.",
    procedure(Ping.on_response_timer, connect_at_once),
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
