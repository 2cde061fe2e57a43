"""Find the session that a fault uses by mistake in place of the correct session."""

from __future__ import annotations

from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState


def list_open_sessions(qm: QueueManager, session: Session) -> list[Session]:
    """Return the open sessions except the given session, the oldest first."""
    return [one for one in qm.sessions.values() if one is not session and one.SessionState is SessionState.OPEN]


def get_newest_session(qm: QueueManager, session: Session) -> Session:
    """Return the newest open session (possibly the given session), or the given session if no session is open."""
    newest = [one for one in qm.sessions.values() if one.SessionState is SessionState.OPEN]
    return max(newest or [session], key=lambda one: one.number)


def find_other_session_with_next_hops(qm: QueueManager, session: Session, *, direct: bool) -> Session | None:
    """Return a session whose NextHops are known, of an outgoing queue other than the given session's queue, or None.
    The destination of this queue is a direct format name if ``direct`` is true, otherwise a GUID.
    """
    for queue in qm.adm.OutgoingQueues.values():
        other = queue.session
        if other is not session and other.NextHopCollection and other.is_destination_direct is direct:
            return other
    return None
