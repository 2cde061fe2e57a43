"""Conditions that select the sessions that the queue manager opens, for faults in only some of these sessions."""

from __future__ import annotations

from collections.abc import Callable

from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.adm import Session
from reference_qm.model.states import AwaitedOpeningEvent, DeliveryGuarantee, SessionState

OpeningCondition = Callable[[QueueManager, Session], bool]
"""The type of conditions for a session that is being opened."""


def sends_transactional_message(qm: QueueManager, session: Session) -> bool:
    """Return whether a transactional message waits for the session."""
    return any(position.TxSequenceNumber for position in session.OutgoingMessageTable)


def sends_express_message(qm: QueueManager, session: Session) -> bool:
    """Return whether an express message waits for the session."""
    return any(
        position.MessagePosition.MessageReference.DeliveryGuarantee is DeliveryGuarantee.EXPRESS
        for position in session.OutgoingMessageTable
    )


def is_later_attempt(qm: QueueManager, session: Session) -> bool:
    """Return whether this is a further attempt to open the session, which began because the Session Retry Connect Timer
    expired.
    """
    return session.is_retrying_connection


def has_other_outgoing_queue(qm: QueueManager, session: Session) -> bool:
    """Return whether this queue manager has an outgoing queue in addition to the queue of the given session."""
    return len(qm.adm.OutgoingQueues) > 1


def is_destination_not_direct_name(qm: QueueManager, session: Session) -> bool:
    """Return whether the destination is not a direct format name."""
    return not session.is_destination_direct


def has_open_session(qm: QueueManager, session: Session) -> bool:
    """Return whether a session other than the given session is open."""
    return any(one is not session and one.SessionState is SessionState.OPEN for one in qm.sessions.values())


def find_other_pinging_session(qm: QueueManager, session: Session) -> Session | None:
    """Return a session other than the given session that waits for a Ping Response, or None."""
    for one in qm.sessions.values():
        if one is not session and one.awaited_opening_event is AwaitedOpeningEvent.PING_RESPONSE:
            return one
    return None


def has_other_pinging_session(qm: QueueManager, session: Session) -> bool:
    """Return whether a session other than the given session waits for a Ping Response."""
    return find_other_pinging_session(qm, session) is not None


def has_pinged_before(qm: QueueManager, session: Session) -> bool:
    """Return whether the queue manager sent any Ping Request before its current Ping Request."""
    return qm.adm.PingCookie > 1
