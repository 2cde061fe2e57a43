"""MS-MQQB 3.1.6.2 Session Cleanup Timer Event."""

from __future__ import annotations

from harness.expectations import facts, holds
from harness.peer.conversation import Conversation
from harness.run.marks import covers, needs, varied
from harness.sut.sut import Sut

CLEANUP_MS = 12_000
LONGEST_WAIT_IN_CLEANUP_TIMES = 5
"""The number of cleanup times after which a session that is still open counts as never closed."""


@covers("MQQB-3.1.6.2-01", "MQQB-3.1.6.2-02", "MQQB-3.1.6.2-03", "MQQB-3.1.2.2-01", "MQQB-3.1.5.8.2-13")
@needs("timers")
@varied("destination", priority=("3", "7"), body=("short", "5,000 bytes"))
def test_idle_session_closes_after_one_cleanup_time_and_used_one_after_two(peer, sut, judge):
    """Of three sessions, two receive a message (accepted or refused) half-way through the cleanup time: the idle
    session closes after one cleanup time, and the two used sessions after two.

    The document recommends that an idle session closes, and demands the time.
    """
    sut.slow_down(20)
    cleanup_ms = sut.timer_ms("session_cleanup_ms", CLEANUP_MS)
    idle, accepted, refused = peer.open_raw(), peer.open_raw(), peer.open_raw()
    peer.pass_time(sut.duration_ms(cleanup_ms) // 2)
    sent = [
        accepted.send(peer.message()),
        refused.send(peer.message(destination=peer.missing_queue)),
    ]
    for session in (idle, accepted, refused):
        session.wait_closed(LONGEST_WAIT_IN_CLEANUP_TIMES * sut.duration_ms(cleanup_ms))

    ended, ended_accepted, ended_refused = (
        _describe_session_end(session, sut, cleanup_ms) for session in (idle, accepted, refused)
    )
    first, second = ("closed after 1 cleanup time", "closed after 2 cleanup times")
    judge(
        "MQQB-3.1.6.2-02",
        expected=holds("closed", otherwise="still open"),
        observed=idle.record.closed_at_ms is not None,
        evidence=[idle.last],
        case="idle session",
    )
    judge("MQQB-3.1.2.2-01", expected=first, observed=ended, case="idle session", evidence=[idle.last])
    judge("MQQB-3.1.6.2-03", expected=second, observed=ended_accepted, case="used session", evidence=sent[:1])
    judge(
        "MQQB-3.1.5.8.2-13",
        expected=[second, second],
        observed=[ended_accepted, ended_refused],
        case="sessions with an accepted and with a refused message",
        evidence=sent,
    )
    judge(
        "MQQB-3.1.6.2-01",
        expected=facts(idle_session=first, used_session=second),
        observed={"idle_session": ended, "used_session": ended_accepted},
        evidence=[idle.last, *sent],
    )


@covers("MQQB-3.1.6.2-03")
@needs("timers")
@varied("priority", "extension", "label", "body", "destination")
def test_session_used_in_every_cleanup_time_stays_open(peer, sut, judge):
    """The peer sends a message in each of four cleanup times: the session is still open after each."""
    sut.slow_down(20)
    cleanup_ms = sut.timer_ms("session_cleanup_ms", CLEANUP_MS)
    used = peer.open_raw()
    for times in range(1, 5):
        peer.pass_time(sut.duration_ms(cleanup_ms) // 2)
        sent = used.send(peer.message())
        peer.pass_time(sut.duration_ms(cleanup_ms) // 2)
        judge(
            "MQQB-3.1.6.2-03",
            expected=holds("still open", otherwise="closed"),
            observed=used.record.closed_at_ms is None,
            case=f"after {times} cleanup times",
            evidence=[sent],
        )


def _describe_session_end(session: Conversation, sut: Sut, cleanup_ms: int) -> str:
    """Describe when a session ended, counted in cleanup times from its first packet."""
    if session.record.closed_at_ms is None:
        return "still open"
    took = session.peer.took(session.sent[0], session.record.closed_at_ms)
    slack_ms, each_ms = sut.slack_ms(cleanup_ms), sut.duration_ms(cleanup_ms)
    took.require_steady(slack_ms)
    for times in (2, 1):
        if times * each_ms * 9 // 10 <= took.ms <= times * each_ms + slack_ms:
            return f"closed after {times} cleanup time{'s' * (times > 1)}"
    took.allowed(each_ms * 9 // 10, each_ms + slack_ms)
    return f"closed after {took.ms} ms"
