"""Faults of MS-MQQB 3.1.5.9 Closing a Session."""

from __future__ import annotations

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import both, skip, skip_during
from harness.faults.registry import add
from reference_qm.core.sessions.closing import Closing
from reference_qm.core.sessions.establishing import Establishing
from reference_qm.core.sessions.session_timers import SessionTimers
from reference_qm.model.adm import Session
from reference_qm.model.states import OutgoingQueueState, SessionState
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now


@fault("closed-session-state-open", breaks="MQQB-3.1.5.9-02")
class ClosedSessionStateOpen(Closing):
    """SessionState stays OPEN when a session is closed."""

    def close(self, session: Session, reason: str, now: Now) -> None:
        super().close(session, reason, now)
        if session.SessionState is SessionState.CLOSED:
            session.SessionState = SessionState.OPEN


@fault("closed-session-queue-connected", breaks="MQQB-3.1.5.9-03")
class ClosedSessionQueueConnected(Closing):
    """The outgoing queue of a closed session is Connected."""

    def close(self, session: Session, reason: str, now: Now) -> None:
        super().close(session, reason, now)
        if session.OutgoingQueueReference is not None:
            session.OutgoingQueueReference.State = OutgoingQueueState.CONNECTED


@fault("closed-session-queue-not-on-hold", breaks=("MQQB-3.1.5.9-03", "MQQB-3.1.5.9-04"))
class ClosedSessionQueueNotOnHold(Closing):
    """A queue that is on hold is not any more when its session is closed."""

    def close(self, session: Session, reason: str, now: Now) -> None:
        queue = session.OutgoingQueueReference
        if session.initiator and queue is not None and queue.State is OutgoingQueueState.ON_HOLD:
            queue.State = OutgoingQueueState.CONNECTED
        super().close(session, reason, now)


add(
    "session-retry-not-started",
    "MQQB-3.1.5.9-04",
    "A session that is closed with messages left is not tried again.",
    skip(Closing.await_reconnect),
)


class _AwaitedWithoutMessages(Closing):
    """A session that is closed with nothing left to send is tried again later, too."""

    def close(self, session: Session, reason: str, now: Now) -> None:
        super().close(session, reason, now)
        if session.initiator and not len(session.OutgoingMessageTable):
            duration_ms = self.qm.settings.session_retry_connect_ms
            self.qm.session_timers.start(session, TimerName.SESSION_RETRY_CONNECT, duration_ms, now)
            session.SessionState = SessionState.WAITING_RECONNECT
            self.qm.sessions[session.number] = session


class _EstablishedWithoutMessages(Establishing):
    """A session with nothing to send is established again, too."""

    def on_session_retry_connect_timer(self, session: Session, now: Now) -> None:
        if len(session.OutgoingMessageTable):
            super().on_session_retry_connect_timer(session, now)
        elif session.SessionState is SessionState.WAITING_RECONNECT:
            self.establish(session, now, again=True)


add(
    "session-retry-without-messages",
    ("MQQB-3.1.5.9-04", "MQQB-3.1.6.1-01"),
    "A session that is closed with nothing left to send is established again, too.",
    both(replace_part(_AwaitedWithoutMessages), replace_part(_EstablishedWithoutMessages)),
)


@fault("session-closed-with-a-word", breaks="MQQB-3.1.5.9-D01")
class ClosedWithAWord(Closing):
    """A last SessionAck is sent when a session is closed."""

    def close(self, session: Session, reason: str, now: Now) -> None:
        if session.SessionState is SessionState.OPEN:
            self.qm.session_acks.send(session, now)
        super().close(session, reason, now)


add(
    "closed-session-keeps-its-connection",
    "MQQB-3.1.5.9-D02",
    "The connection of a session that is closed stays open.",
    skip(Closing.close_transport),
)
add(
    "closed-session-timers-go-on",
    "MQQB-3.1.5.9-D03",
    "The timers of a session go on when it is closed.",
    skip_during(Closing.close, SessionTimers.stop),
)


@fault("only-one-retry", breaks="MQQB-3.1.5.9-04", blind=True)
class OnlyOneRetry(Closing):
    """An initiator whose retry failed does not try again."""

    def await_reconnect(self, session: Session, now: Now) -> None:
        if not session.retrying:
            super().await_reconnect(session, now)
