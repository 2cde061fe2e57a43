"""Connecting again. Spec: MS-MQQB 3.1.6.1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference_qm.model.states import SessionState

if TYPE_CHECKING:
    from reference_qm.core.queue_manager import QueueManager
    from reference_qm.model.adm import Session
    from reference_qm.surface.clock import Now


def on_session_retry_connect_timer(qm: QueueManager, session: Session, now: Now) -> None:
    """Connect again, to the next hop if there is one. Spec: MS-MQQB 3.1.6.1.

    The timer also runs while a session with messages is set up (3.1.3.2): then there is nothing to retry. The messages
    wait in the table already and are dispatched when the session is open. When acknowledgments that came on other
    sessions left nothing to be sent, the session is closed, so that the next message establishes it.
    """
    if session.SessionState is not SessionState.WAITING_RECONNECT or not qm.procedures.may_connect(qm):
        return
    if not len(session.OutgoingMessageTable):
        session.SessionState = SessionState.CLOSED
        qm.procedures.session_ended(qm, session, "nothing is left to be sent (MS-MQQB 3.1.6.1)")
        return
    session.retrying = True
    if session.NextHopIndexer + 1 >= len(session.NextHopCollection):
        qm.procedures.establish_session(qm, session, now)
        return
    session.NextHopIndexer += 1
    qm.procedures.initialize_session(qm, session, now)
    qm.procedures.select_next_hop(qm, session)
    qm.procedures.ping_before_session(qm, session, now)
