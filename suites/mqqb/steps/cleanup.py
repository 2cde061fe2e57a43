"""Steps that measure when a session ends by its Session Cleanup Timer. The times are in durations of this timer."""

from __future__ import annotations

from harness.peer.conversation import Conversation
from harness.sut.sut import Sut

SESSION_CLEANUP_TIMER_MS = 12_000
GREATEST_TIMER_SPEED_UP = 20
LONGEST_WAIT_IN_CLEANUP_TIMES = 5
"""The number of cleanup times for which the check waits for the end of a session."""
CLOSED_AFTER_1_CLEANUP_TIME_OUTCOME, CLOSED_AFTER_2_CLEANUP_TIMES_OUTCOME, CLOSED_AFTER_3_CLEANUP_TIMES_OUTCOME = (
    f"closed by the SUT after {times} time{'s' * (times > 1)} the duration of the Session Cleanup Timer"
    for times in (1, 2, 3)
)


def limit_cleanup_timer_speed(sut: Sut) -> int:
    """Slow down the SUT's timers if necessary, so that a check can act before the Session Cleanup Timer expires; return
    the unscaled duration of this timer. The check needs ``timers``.
    """
    sut.limit_time_scale(GREATEST_TIMER_SPEED_UP)
    return sut.get_timer_duration_ms("session_cleanup_ms", SESSION_CLEANUP_TIMER_MS)


def await_session_cleanup(session: Conversation, sut: Sut, cleanup_ms: int) -> str:
    """Wait for the end of a session; return a description of when the session ended."""
    session.wait_closed(LONGEST_WAIT_IN_CLEANUP_TIMES * sut.duration_ms(cleanup_ms))
    return describe_session_cleanup_time(session, sut, cleanup_ms)


def describe_session_cleanup_time(session: Conversation, sut: Sut, cleanup_ms: int) -> str:
    """Return a description of when a session ended. The time is counted from the first packet of the peer, in durations
    of the Session Cleanup Timer.
    """
    if session.record.closed_at_ms is None:
        return "still open"
    took = session.peer.measure_duration(session.sent[0], session.record.closed_at_ms)
    slack_ms, each_ms = sut.slack_ms(cleanup_ms), sut.duration_ms(cleanup_ms)
    took.require_duration_without_long_stall(slack_ms)
    for times, said in (
        (3, CLOSED_AFTER_3_CLEANUP_TIMES_OUTCOME),
        (2, CLOSED_AFTER_2_CLEANUP_TIMES_OUTCOME),
        (1, CLOSED_AFTER_1_CLEANUP_TIME_OUTCOME),
    ):
        if times * each_ms * 9 // 10 <= took.ms <= times * each_ms + slack_ms:
            return said
    took.get_allowed_range(each_ms * 9 // 10, each_ms + slack_ms)
    return f"closed after {took.ms} ms"
