"""Steps that several fault files of this section share."""

from __future__ import annotations

from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState


def find_oldest_open_session(part: SessionOpening, session: Session) -> Session:
    """Return the oldest open session that the queue manager accepted, or the given session if none is open."""
    accepted = [one for one in part.qm.sessions.values() if not one.initiator]
    opened = [one for one in accepted if one.SessionState is SessionState.OPEN]
    return (opened or [session])[0]
