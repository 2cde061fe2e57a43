"""Faults of closing and of connecting again. Spec: MS-MQQB 3.1.5.9, 3.1.6.1, 3.1.6.2, 3.1.7.3."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.primitives import afterwards, beforehand, both, procedure, skip
from harness.faults.registry import Install, add
from reference_qm.core.protocol.closing import Closing
from reference_qm.core.protocol.establishing import Establishing
from reference_qm.core.protocol.resolving import Resolving
from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.adm import Session
from reference_qm.model.states import OutgoingQueueState, SessionState
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now

Original = Callable[..., Any]


def _still_open(qm: QueueManager, session: Session, reason: str, now: Now) -> None:
    if session.SessionState is SessionState.CLOSED:
        session.SessionState = SessionState.OPEN


def _still_connected(qm: QueueManager, session: Session, reason: str, now: Now) -> None:
    if session.OutgoingQueueReference is not None:
        session.OutgoingQueueReference.State = OutgoingQueueState.CONNECTED


def _retrying(change: Callable[[Session], None]) -> Install:
    """Change a session that is about to be tried again; the timer runs also while it is set up (3.1.3.2)."""

    def spoil(qm: QueueManager, session: Session, now: Now) -> None:
        if session.SessionState is SessionState.WAITING_RECONNECT:
            change(session)

    return beforehand(Closing.on_session_retry_connect_timer, spoil)


def _forget_one(session: Session) -> None:
    session.OutgoingMessageTable.remove(next(iter(session.OutgoingMessageTable)))


def _connect_in_silence(original: Original) -> Original:
    return lambda qm, session, now: None if session.retrying else original(qm, session, now)


def _wait_again_with_nothing_left(qm: QueueManager, session: Session, reason: str, now: Now) -> None:
    if session.initiator and not len(session.OutgoingMessageTable):
        qm.session_timers.start(session, TimerName.SESSION_RETRY_CONNECT, qm.settings.session_retry_connect_ms, now)
        session.SessionState = SessionState.WAITING_RECONNECT
        qm.sessions[session.number] = session


def _connect_anyway(original: Original) -> Original:
    def retry(qm: QueueManager, session: Session, now: Now) -> None:
        if len(session.OutgoingMessageTable):
            original(qm, session, now)
        elif session.SessionState is SessionState.WAITING_RECONNECT:
            qm.establishing.establish(session, now)

    return retry


def _stay(session: Session) -> None:
    session.NextHopIndexer = -1


def _begin_again(session: Session) -> None:
    session.NextHopIndexer = len(session.NextHopCollection)


def _first_address(qm: QueueManager, session: Session) -> None:
    session.RemoteQMAddress = session.NextHopCollection[0].Address


def _no_host_name(qm: QueueManager, session: Session) -> None:
    session.RemoteQMHostName = ""


def _other_guid(qm: QueueManager, session: Session) -> None:
    session.RemoteQMGuid = qm.adm.Identifier


def _active(value: bool) -> Callable[..., None]:
    def change(qm: QueueManager, session: Session, now: Now) -> None:
        session.SessionActive = value

    return change


add(
    "closed-session-state-open",
    "MQQB-3.1.5.9-02",
    "SessionState stays OPEN when a session is closed.",
    afterwards(Closing.close, _still_open),
)
add(
    "closed-session-queue-connected",
    "MQQB-3.1.5.9-03",
    "The outgoing queue of a closed session is Connected.",
    afterwards(Closing.close, _still_connected),
)
add(
    "session-retry-not-started",
    "MQQB-3.1.5.9-04",
    "A session that is closed with messages left is not tried again.",
    skip(Closing.await_reconnect),
)
add(
    "session-retry-does-nothing",
    "MQQB-3.1.6.1-01",
    "Nothing is done when the Session Retry Connect Timer expires.",
    skip(Closing.on_session_retry_connect_timer),
)
add(
    "session-retry-without-messages",
    ("MQQB-3.1.5.9-04", "MQQB-3.1.6.1-01"),
    "A session that is closed with nothing left to send is established again, too.",
    both(
        afterwards(Closing.close, _wait_again_with_nothing_left),
        procedure(Closing.on_session_retry_connect_timer, _connect_anyway),
    ),
)
add(
    "session-retry-connects-in-silence",
    "MQQB-3.1.6.1-03",
    "A session is tried again by a connection on which no EstablishConnection is sent.",
    procedure(Establishing.send_establish_request, _connect_in_silence),
)
add(
    "next-hop-not-advanced",
    ("MQQB-3.1.6.1-04", "MQQB-3.1.6.1-05"),
    "Every attempt goes to the first address of a host.",
    _retrying(_stay),
)
add(
    "next-hop-address-not-taken",
    "MQQB-3.1.6.1-06",
    "RemoteQMAddress stays the address of the first next hop.",
    afterwards(Resolving.select_next_hop, _first_address),
)
add(
    "next-hop-host-name-not-taken",
    "MQQB-3.1.6.1-07",
    "RemoteQMHostName is empty once a next hop was selected.",
    afterwards(Resolving.select_next_hop, _no_host_name),
)
add(
    "next-hop-guid-not-taken",
    "MQQB-3.1.6.1-08",
    "RemoteQMGuid is the own one once a next hop was selected.",
    afterwards(Resolving.select_next_hop, _other_guid),
)
add(
    "next-hop-resolved-again",
    "MQQB-3.1.6.1-09",
    "The host name is resolved again for each attempt, which then begins with its first address.",
    _retrying(_begin_again),
)
add(
    "message-forgotten-by-session-retry",
    "MQQB-3.1.6.1-10",
    "The first of the messages left is forgotten when the session is tried again.",
    _retrying(_forget_one),
)
add(
    "idle-session-never-closed",
    ("MQQB-3.1.6.2-01", "MQQB-3.1.6.2-02"),
    "Nothing is done when the Session Cleanup Timer expires.",
    skip(Closing.on_session_cleanup_timer),
)
add(
    "used-session-closed-as-idle",
    ("MQQB-3.1.6.2-01", "MQQB-3.1.6.2-03"),
    "The Session Cleanup Timer closes sessions whether they were used or not.",
    beforehand(Closing.on_session_cleanup_timer, _active(False)),
)
add(
    "used-session-stays-active",
    ("MQQB-3.1.6.2-01", "MQQB-3.1.6.2-03"),
    "SessionActive is never set to FALSE again.",
    afterwards(Closing.on_session_cleanup_timer, _active(True)),
)
