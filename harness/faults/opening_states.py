"""Faults of states and times in a session's opening. Spec: MS-MQQB 3.1.5.2.3, 3.1.5.3, 3.1.5.4, 3.1.5.10, 3.1.6.6."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.primitives import afterwards, procedure, skip
from harness.faults.registry import Install, add
from reference_qm.core.protocol.closing import Closing
from reference_qm.core.protocol.initialization import Initialization
from reference_qm.core.protocol.session_opening import SessionOpening
from reference_qm.core.protocol.session_timers import SessionTimers
from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import TransportAccepted

Original = Callable[..., Any]


def _wait_for_parameters(qm: QueueManager, event: TransportAccepted, now: Now) -> None:
    qm.transports[event.transport].SessionState = SessionState.WAITING_CP_MSG


add(
    "state-of-new-connection-waiting-cp-msg",
    "MQQB-3.1.5.10-02",
    "SessionState of a new connection is WAITING_CP_MSG.",
    afterwards(SessionOpening.accept_transport, _wait_for_parameters),
)


def _counts_go_on(qm: QueueManager, session: Session, now: Now) -> None:
    session.MessageReceivedCount = max(one.MessageReceivedCount for one in qm.sessions.values())


add(
    "accepted-session-counts-on",
    "MQQB-3.1.5.10-01",
    "A new connection goes on with the MessageReceivedCount of an earlier one.",
    afterwards(Initialization.initialize_session, _counts_go_on),
)


# -- the Session Initialization Timer ------------------------------------------------------------------------------


def _never_started(*states: SessionState) -> Install:
    """Do not start the timer in some states."""

    def make(original: Original) -> Original:
        def start(qm: QueueManager, session: Session, name: TimerName, *rest: Any) -> None:
            if name is not TimerName.SESSION_INITIALIZATION or session.SessionState not in states:
                original(qm, session, name, *rest)

        return start

    return procedure(SessionTimers.start, make)


add(
    "initialization-timer-not-started-with-connection",
    "MQQB-3.1.5.10-03",
    "The acceptor starts no Session Initialization Timer when it accepts a connection.",
    _never_started(SessionState.WAITING_EC_MSG),
)
add(
    "initialization-timer-without-effect",
    "MQQB-3.1.6.6-01",
    "Nothing happens when the Session Initialization Timer expires.",
    skip(Closing.on_session_initialization_timer),
)
