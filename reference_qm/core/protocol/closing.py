"""Closing sessions. Spec: MS-MQQB 3.1.5.9, 3.1.6.2, 3.1.6.6, 3.1.7.3."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference_qm.model.states import Opening, OutgoingQueueState, SessionState
from reference_qm.model.timers import SESSION_TIMERS, TimerName
from reference_qm.surface.effects import CloseTransport, Rejected

if TYPE_CHECKING:
    from reference_qm.core.queue_manager import QueueManager
    from reference_qm.model.adm import OutgoingQueue, Session
    from reference_qm.surface.clock import Now


def close_session(qm: QueueManager, session: Session, reason: str, now: Now) -> None:
    """Close a session, whatever its state. Spec: MS-MQQB 3.1.5.9. ``reason``: one line naming the section."""
    queue = _moving_queue(session)
    if queue is not None:
        queue.State = OutgoingQueueState.DISCONNECTING
    qm.procedures.close_transport(qm, session, reason)
    for name in (*SESSION_TIMERS, TimerName.PING_RESPONSE):
        qm.procedures.stop_timer(qm, session, name)
    session.opening = Opening.NOTHING
    session.SessionState = SessionState.CLOSED
    if queue is not None:
        queue.State = OutgoingQueueState.DISCONNECTED
    qm.procedures.await_reconnect(qm, session, now)
    qm.procedures.keep_final_acks(qm, session, now)
    qm.procedures.session_ended(qm, session, reason)


def close_transport(qm: QueueManager, session: Session, reason: str) -> None:
    """Close the underlying connection, unless it is gone. Spec: MS-MQQB 3.1.5.9."""
    if session.transport is not None and qm.transports.pop(session.transport, None) is not None:
        qm.emit(CloseTransport(session.transport, reason))


def await_reconnect(qm: QueueManager, session: Session, now: Now) -> None:
    """Try again later when messages wait. Spec: MS-MQQB 3.1.5.9, 3.1.5.2.1, 3.1.5.2.2.

    The states between a failed attempt and the next are not printed; WAITING_RECONNECT is what they mean (3.1.1.3.1).
    """
    if _moving_queue(session) is not None and len(session.OutgoingMessageTable):
        qm.procedures.start_timer(
            qm, session, TimerName.SESSION_RETRY_CONNECT, qm.settings.session_retry_connect_ms, now
        )
        session.SessionState = SessionState.WAITING_RECONNECT


def session_ended(qm: QueueManager, session: Session, reason: str) -> None:
    """Answer the commands that wait for the session to open; keep a closed one for inspection."""
    for token in session.awaited_by:
        qm.emit(Rejected(token, f"no session was opened: {reason}"))
    session.awaited_by.clear()
    if session.SessionState is SessionState.CLOSED and qm.sessions.pop(session.number, None) is not None:
        qm.closed_sessions.append(session)


def on_transport_lost(qm: QueueManager, session: Session, reason: str, now: Now) -> None:
    """Close the session of a lost connection. Spec: MS-MQQB 3.1.7.3, 3.1.7.1.6."""
    if session.initiator and session.OutgoingQueueReference is not None:
        qm.procedures.remove_queue_from_dispatch_collection(qm, session.OutgoingQueueReference)
    qm.procedures.close_session(qm, session, f"the transport was lost: {reason} (MS-MQQB 3.1.7.3)", now)


def on_session_cleanup_timer(qm: QueueManager, session: Session, now: Now) -> None:
    """Close an idle session. Spec: MS-MQQB 3.1.6.2."""
    if not session.SessionActive:
        qm.procedures.close_session(qm, session, "it was idle (MS-MQQB 3.1.6.2)", now)
        return
    qm.procedures.start_timer(qm, session, TimerName.SESSION_CLEANUP, qm.settings.session_cleanup_ms, now)
    session.SessionActive = False


def on_session_initialization_timer(qm: QueueManager, session: Session, now: Now) -> None:
    """Close a session that was not set up in time. Spec: MS-MQQB 3.1.6.6."""
    qm.procedures.close_session(qm, session, "it was not initialized in time (MS-MQQB 3.1.6.6)", now)


def _moving_queue(session: Session) -> OutgoingQueue | None:
    """Return the outgoing queue whose State follows the session: the initiator's, unless it is OnHold."""
    queue = session.OutgoingQueueReference if session.initiator else None
    return queue if queue is not None and queue.State is not OutgoingQueueState.ON_HOLD else None
