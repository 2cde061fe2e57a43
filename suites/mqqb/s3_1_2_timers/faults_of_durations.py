"""Faults that break rules of MS-MQQB 3.1.2 Timers: a timer has a wrong duration in one role, on one session or at
a later start.
"""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.parts import fault, replace_part
from harness.faults.registry import Install, add
from reference_qm.core.part import QM
from reference_qm.core.sessions.session_timers import SessionTimers
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.core.transfer.transactional_sending import TransactionalSending, get_outgoing_sequence
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now

SessionCondition = Callable[[QM, Session], bool]


def _double_timer_under_condition(name: TimerName, when: SessionCondition) -> Install:
    """Return an installer of a fault that doubles the duration of a timer of a session under a condition."""

    class TimerDoubled(SessionTimers):
        def start(self, session: Session, started: TimerName, duration_ms: int, now: Now) -> None:
            doubled = started is name and when(self.qm, session)
            super().start(session, started, duration_ms * (2 if doubled else 1), now)

    return replace_part(TimerDoubled)


def _double_timer_except_at_first_start(name: TimerName) -> Install:
    """Return an installer of a fault that doubles the duration of a timer of a session, except at its first start."""

    class LaterTimerDoubled(SessionTimers):
        def __init__(self, qm: QM) -> None:
            super().__init__(qm)
            self.started: set[int] = set()

        def start(self, session: Session, started: TimerName, duration_ms: int, now: Now) -> None:
            if started is name:
                duration_ms *= 2 if session.number in self.started else 1
                self.started.add(session.number)
            super().start(session, started, duration_ms, now)

    return replace_part(LaterTimerDoubled)


def _is_other_session_open(qm: QM, session: Session) -> bool:
    return any(other is not session and other.SessionState is SessionState.OPEN for other in qm.sessions.values())


def _is_initiated_session(qm: QM, session: Session) -> bool:
    return session.initiator


def _waits_for_connection_parameters(qm: QM, session: Session) -> bool:
    return session.SessionState is SessionState.WAITING_CP_MSG


def _is_session_to_direct_format_name(qm: QM, session: Session) -> bool:
    return session.DirectFormatSession


def _is_session_to_private_format_name(qm: QM, session: Session) -> bool:
    return not session.DirectFormatSession


for _name, _rule, _says, _install in (
    (
        "initiator-session-initialization-timer-doubled",
        "MQQB-3.1.2.1-01",
        "The Session Initialization Timer of an initiator expires after twice the configured time.",
        _double_timer_under_condition(TimerName.SESSION_INITIALIZATION, _is_initiated_session),
    ),
    (
        "acceptor-session-initialization-timer-doubled-after-response",
        "MQQB-3.1.2.1-01",
        "After the EstablishConnection response, the Session Initialization Timer expires after twice the configured "
        "time.",
        _double_timer_under_condition(TimerName.SESSION_INITIALIZATION, _waits_for_connection_parameters),
    ),
    (
        "session-initialization-timer-beside-other-session-doubled",
        "MQQB-3.1.2.1-01",
        "The Session Initialization Timer expires after twice the configured time while another session is open.",
        _double_timer_under_condition(TimerName.SESSION_INITIALIZATION, _is_other_session_open),
    ),
    (
        "session-cleanup-timer-beside-other-session-doubled",
        "MQQB-3.1.2.2-01",
        "The Session Cleanup Timer expires after twice the configured time if another session is open at its start.",
        _double_timer_under_condition(TimerName.SESSION_CLEANUP, _is_other_session_open),
    ),
    (
        "session-cleanup-timer-of-active-session-doubled",
        "MQQB-3.1.2.2-01",
        "The Session Cleanup Timer expires after twice the configured time when it starts again for an active session.",
        _double_timer_except_at_first_start(TimerName.SESSION_CLEANUP),
    ),
    (
        "order-ack-send-timer-of-direct-session-doubled",
        "MQQB-3.1.2.7-01",
        "The Order Ack Send Timer expires after twice OrderAckTimeout if the message had a direct format name.",
        _double_timer_under_condition(TimerName.ORDER_ACK_SEND, _is_session_to_direct_format_name),
    ),
    (
        "order-ack-send-timer-of-private-session-doubled",
        "MQQB-3.1.2.7-01",
        "The Order Ack Send Timer expires after twice OrderAckTimeout if the message had a private format name.",
        _double_timer_under_condition(TimerName.ORDER_ACK_SEND, _is_session_to_private_format_name),
    ),
):
    add(_name, _rule, _says, _install, blind=True)


@fault("session-cleanup-timer-restarted-by-message", breaks="MQQB-3.1.2.2-01", blind=True)
class SessionCleanupTimerRestartedByMessage(SessionTimers):
    """The queue manager restarts the Session Cleanup Timer whenever it receives a message."""

    def start(self, session: Session, name: TimerName, duration_ms: int, now: Now) -> None:
        super().start(session, name, duration_ms, now)
        if name is TimerName.SESSION_ACK_SEND and session.SessionState is SessionState.OPEN:
            super().start(session, TimerName.SESSION_CLEANUP, self.qm.settings.session_cleanup_ms, now)


@fault("session-ack-wait-timer-longer-while-other-session-is-open", breaks="MQQB-3.1.2.4-01", blind=True)
class SessionAckWaitTimerLongerWhileOtherSessionIsOpen(SessionAcks):
    """While another session is open, the Session Ack Wait Timer runs for one and a half times AckWaitTimeout."""

    def start_session_ack_wait_timer(self, session: Session, now: Now) -> None:
        super().start_session_ack_wait_timer(session, now)
        if _is_other_session_open(self.qm, session):
            duration_ms = session.AckWaitTimeout * 3 // 2
            self.qm.session_timers.start(session, TimerName.SESSION_ACK_WAIT, duration_ms, now)


@fault("session-ack-wait-timer-default-timeout", breaks="MQQB-3.1.2.4-01", blind=True)
class SessionAckWaitTimerDefaultTimeout(SessionAcks):
    """The Session Ack Wait Timer runs for 30 s instead of a multiple of AckWaitTimeout."""

    def start_session_ack_wait_timer(self, session: Session, now: Now) -> None:
        self.qm.session_timers.start(session, TimerName.SESSION_ACK_WAIT, 30_000, now)


@fault("session-ack-wait-timer-halved-after-session-ack", breaks="MQQB-3.1.2.4-01", blind=True)
class SessionAckWaitTimerHalvedAfterSessionAck(SessionAcks):
    """When a SessionAck restarts the Session Ack Wait Timer, the timer runs for only half of AckWaitTimeout."""

    def start_session_ack_wait_timer(self, session: Session, now: Now) -> None:
        super().start_session_ack_wait_timer(session, now)
        if session.last_ack_number:
            self.qm.session_timers.start(session, TimerName.SESSION_ACK_WAIT, session.AckWaitTimeout // 2, now)


@fault("transactional-ack-wait-timer-of-later-sequence-too-long", breaks="MQQB-3.1.2.6-01", blind=True)
class TransactionalAckWaitTimerOfLaterSequenceTooLong(TransactionalSending):
    """The Transactional Ack Wait Timer of every sequence except the first expires after the fourth entry of
    ResendTimerTable.
    """

    def start_ack_wait_timer(self, session: Session, now: Now) -> None:
        super().start_ack_wait_timer(session, now)
        if session.OutgoingTxSequenceID.Ordinal > 1:
            duration_ms = 1_000 * self.qm.adm.ResendTimerTable[3]
            self.qm.session_timers.start(session, TimerName.TRANSACTIONAL_ACK_WAIT, duration_ms, now)


@fault("transactional-ack-wait-timer-of-second-queue-doubled", breaks="MQQB-3.1.2.6-01", blind=True)
class TransactionalAckWaitTimerOfSecondQueueDoubled(TransactionalSending):
    """The Transactional Ack Wait Timer of every outgoing queue except the first expires after twice ResendInterval."""

    def start_ack_wait_timer(self, session: Session, now: Now) -> None:
        super().start_ack_wait_timer(session, now)
        first = next(iter(self.qm.adm.OutgoingQueues.values()))
        if session.OutgoingQueueReference is not first:
            duration_ms = 2_000 * get_outgoing_sequence(session).ResendInterval
            self.qm.session_timers.start(session, TimerName.TRANSACTIONAL_ACK_WAIT, duration_ms, now)


@fault("resend-time-not-updated-at-later-timer-start", breaks="MQQB-3.1.2.6-D01", blind=True)
class ResendTimeNotUpdatedAtLaterTimerStart(TransactionalSending):
    """The sender sets ResendTime only when the Transactional Ack Wait Timer starts for the first time on a
    connection.
    """

    def start_ack_wait_timer(self, session: Session, now: Now) -> None:
        before = get_outgoing_sequence(session).ResendTime
        super().start_ack_wait_timer(session, now)
        if before:
            get_outgoing_sequence(session).ResendTime = before


@fault("resend-time-of-each-queue-copied-from-first-queue", breaks="MQQB-3.1.2.6-D01", blind=True)
class ResendTimeOfEachQueueCopiedFromFirstQueue(TransactionalSending):
    """The sender sets ResendTime of every outgoing queue to the ResendTime of the first queue."""

    def start_ack_wait_timer(self, session: Session, now: Now) -> None:
        super().start_ack_wait_timer(session, now)
        first = next(iter(self.qm.adm.OutgoingQueues.values())).session.TxOutgoingSequence
        if first is not None and first.ResendTime:
            get_outgoing_sequence(session).ResendTime = first.ResendTime
