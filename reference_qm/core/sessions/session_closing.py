from __future__ import annotations

from reference_qm.codec import FormatError, Packet, StreamFramer
from reference_qm.core.events import SessionClosed
from reference_qm.core.part import QueueManagerPart
from reference_qm.model.adm import OutgoingQueue, Session
from reference_qm.model.states import AwaitedOpeningEvent, ConnectionStatus, OutgoingQueueState, SessionState
from reference_qm.model.timers import SESSION_TIMERS, TimerName
from reference_qm.surface.clock import Now
from reference_qm.surface.effects import CloseTransport, CommandRejected


class SessionClosing(QueueManagerPart):
    """Closes sessions, and starts the timer for the next attempt to connect. Spec: MS-MQQB 3.1.5.9, 3.1.6.1,
    3.1.6.2, 3.1.6.6, 3.1.7.3.
    """

    __slots__ = ()

    def close(self, session: Session, reason: str, now: Now) -> None:
        """Close a session in any state. Spec: MS-MQQB 3.1.5.9. ``reason`` is one line that states why the session is
        closed and names the section.
        """
        queue = _find_queue_that_follows_session(session)
        if queue is not None:
            queue.State = OutgoingQueueState.DISCONNECTING
        self.close_transport(session, reason)
        for name in (*SESSION_TIMERS, TimerName.PING_RESPONSE):
            self.qm.session_timers.stop(session, name)
        session.awaited_opening_event = AwaitedOpeningEvent.NOTHING
        session.SessionState = SessionState.CLOSED
        if queue is not None:
            queue.State = OutgoingQueueState.DISCONNECTED
            self.qm.destination_resolving.start_outgoing_queue_idle_timer(queue, now)
        self.await_reconnect(session, now)
        self.qm.post_event(SessionClosed(session))
        self.report_session_end_to_waiting_commands(session, reason)

    def close_transport(self, session: Session, reason: str) -> None:
        """Close the connection of a session if the connection is still open. Spec: MS-MQQB 3.1.5.9."""
        if session.transport is None:
            return
        self.qm.unfinished.note(session.transport, 0)
        session.framer = StreamFramer()
        if self.qm.transports.pop(session.transport, None) is not None:
            self.qm.emit_effect(CloseTransport(session.transport, reason))

    def await_reconnect(self, session: Session, now: Now) -> None:
        """Start the retry timer of a closed session if the session still has messages to send.

        Spec: MS-MQQB 3.1.5.9, 3.1.5.2.1, 3.1.5.2.2. The document does not specify the state of the session between
        a failed attempt and the next attempt. Here the state is WAITING_RECONNECT (3.1.1.3.1).
        """
        if _find_queue_that_follows_session(session) is not None and len(session.OutgoingMessageTable):
            self.qm.session_timers.start(
                session, TimerName.SESSION_RETRY_CONNECT, self.qm.settings.session_retry_connect_ms, now
            )
            session.SessionState = SessionState.WAITING_RECONNECT

    def report_session_end_to_waiting_commands(self, session: Session, reason: str) -> None:
        """Answer the commands that wait until the session is open, and store the closed session for inspection."""
        for token in session.awaiting_command_tokens:
            self.qm.emit_effect(CommandRejected(token, f"no session was opened: {reason}"))
        session.awaiting_command_tokens.clear()
        if session.SessionState is SessionState.CLOSED and self.qm.sessions.pop(session.number, None) is not None:
            self.qm.closed_sessions.append(session)

    def on_transport_lost(self, session: Session, reason: str, now: Now) -> None:
        """Close a session whose connection was lost. Spec: MS-MQQB 3.1.7.3, 3.1.7.1.6.

        The messages that were sent on the session are marked as unsent again when the next session is initialized
        (``initialize_messages``).
        """
        self.close(session, f"the transport was lost: {reason} (MS-MQQB 3.1.7.3)", now)

    def on_session_cleanup_timer(self, session: Session, now: Now) -> None:
        """Close a session that is idle. Spec: MS-MQQB 3.1.6.2."""
        if not session.SessionActive:
            self.close(session, "the session was idle (MS-MQQB 3.1.6.2)", now)
            return
        self.qm.session_timers.start(session, TimerName.SESSION_CLEANUP, self.qm.settings.session_cleanup_ms, now)
        session.SessionActive = False

    def on_session_initialization_timer(self, session: Session, now: Now) -> None:
        """Close a session that was not established in time. Spec: MS-MQQB 3.1.6.6."""
        self.close(session, "the session was not initialized in time (MS-MQQB 3.1.6.6)", now)

    def close_session_after_malformed_packet(self, session: Session, error: FormatError, now: Now) -> None:
        """Close the session after a malformed packet. Spec: MS-MQQB 3.1.5.1.3, section 2."""
        self.close(session, f"{error} (MS-MQQB 3.1.5.1.3)", now)

    def close_session_after_unexpected_packet(self, session: Session, packet: Packet, now: Now) -> None:
        """Close the session after a packet that its state does not allow.

        Spec: MS-MQQB 3.1.5.3, 3.1.5.4, 3.1.5.5, 3.1.5.8.
        """
        kind = type(packet).__name__.removesuffix("Packet")
        state = session.SessionState.value
        self.close(session, f"a {kind} is not allowed in the state {state} (MS-MQQB 3.1.5.3 to 3.1.5.8)", now)

    def close_session_after_failed_establishment(
        self, session: Session, status: ConnectionStatus, reason: str, now: Now
    ) -> None:
        """Record why a session cannot be established, and end the attempt to establish it. Spec: MS-MQQB 3.1.5.2,
        3.1.5.2.2.
        """
        self.qm.session_connecting.add_connection_history(session, status, now)
        self.close(session, reason, now)


def _find_queue_that_follows_session(session: Session) -> OutgoingQueue | None:
    """Return the outgoing queue of a session, or None if the State of this queue must not change when the session is
    closed.

    Return None if the queue is OnHold or Locked.
    """
    queue = session.OutgoingQueueReference if session.initiator else None
    return queue if queue is not None and queue.State not in _QUEUE_STATES_KEPT_AT_CLOSE else None


_QUEUE_STATES_KEPT_AT_CLOSE = (OutgoingQueueState.ON_HOLD, OutgoingQueueState.LOCKED)
