"""Faults that break rules of MS-MQQB 3.1.3.2 Session Initialization in one role, beside another session, or on a second
connection only.
"""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.other_sessions import list_open_sessions
from harness.faults.parts import replace_part
from harness.faults.registry import Install, add
from reference_qm.codec import SequenceInfo
from reference_qm.core.part import QM
from reference_qm.core.sessions.session_initialization import SessionInitialization
from reference_qm.model.adm import Session
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now

SessionCondition = Callable[[QM, Session], bool]
SessionChangeFunction = Callable[[QM, Session, Now], None]


def _change_initialized_session(change: SessionChangeFunction, when: SessionCondition) -> Install:
    """Return an installer of a fault that changes a session after its initialization under a condition. The condition
    is evaluated before the initialization.
    """

    class InitializedSessionChanged(SessionInitialization):
        def initialize_session(self, session: Session, now: Now) -> None:
            changed = when(self.qm, session)
            super().initialize_session(session, now)
            if changed:
                change(self.qm, session, now)

    return replace_part(InitializedSessionChanged)


def _is_initiated_session(qm: QM, session: Session) -> bool:
    return session.initiator


def _is_accepted_session(qm: QM, session: Session) -> bool:
    return not session.initiator


def _is_other_session_open(qm: QM, session: Session) -> bool:
    return bool(list_open_sessions(qm, session))


def _is_session_initialized_again(qm: QM, session: Session) -> bool:
    return session.TxOutgoingSequence is not None


def _start_session_ack_send_timer(qm: QM, session: Session, now: Now) -> None:
    session.UnackedReceivedMsgCount = 1
    qm.session_timers.start(session, TimerName.SESSION_ACK_SEND, session.AckWaitTimeout // 2, now)


def _stop_session_cleanup_timer(qm: QM, session: Session, now: Now) -> None:
    qm.session_timers.stop(session, TimerName.SESSION_CLEANUP)


def _set_last_ack_number_to_one(qm: QM, session: Session, now: Now) -> None:
    if session.TxOutgoingSequence is not None:
        session.TxOutgoingSequence.LastAck = SequenceInfo(SeqNo=1)


def _set_session_active_to_true(qm: QM, session: Session, now: Now) -> None:
    session.SessionActive = True


def _set_received_ack_to_true(qm: QM, session: Session, now: Now) -> None:
    session.ReceivedAck = True


for _rule, _words, _change, _says in (
    (
        "MQQB-3.1.3.2-10",
        "session-ack-send-timer-running",
        _start_session_ack_send_timer,
        "starts the Session Ack Send Timer when a session begins",
    ),
    (
        "MQQB-3.1.3.2-13",
        "session-cleanup-timer-not-running",
        _stop_session_cleanup_timer,
        "does not start the Session Cleanup Timer when a session begins",
    ),
    ("MQQB-3.1.3.2-16", "last-ack-number-1", _set_last_ack_number_to_one, "begins a session with LastAck.SeqNo 1"),
    ("MQQB-3.1.3.2-25", "session-active-true", _set_session_active_to_true, "begins a session with SessionActive TRUE"),
    ("MQQB-3.1.3.2-26", "received-ack-true", _set_received_ack_to_true, "begins a session with ReceivedAck TRUE"),
):
    for _state, _condition, _when in (
        ("initiator", _is_initiated_session, "that it initiates"),
        ("acceptor", _is_accepted_session, "that it accepts"),
        ("beside-other-session", _is_other_session_open, "while another session is open"),
        ("second-connection", _is_session_initialized_again, "on its second connection"),
    ):
        if _state == "second-connection" and _change is not _start_session_ack_send_timer:
            continue  # as other faults of the rule
        add(
            f"initialization-{_state}-{_words}",
            _rule,
            f"The queue manager {_says} {_when}.",
            _change_initialized_session(_change, _condition),
            blind=True,
        )
