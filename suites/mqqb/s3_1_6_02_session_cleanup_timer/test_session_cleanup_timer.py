"""MS-MQQB 3.1.6.2 Session Cleanup Timer Event."""

from __future__ import annotations

from harness.expectations import facts, holds
from harness.peer.conversation import Conversation
from harness.run.marks import covers, needs
from harness.sut.sut import Sut

CLEANUP_MS = 12_000
LONG = 5
"""Cleanup times after which a session that is still open is not closed for being idle."""


@covers("MQQB-3.1.6.2-01", "MQQB-3.1.6.2-02", "MQQB-3.1.6.2-03", "MQQB-3.1.2.2-01", "MQQB-3.1.5.8.2-13")
@needs("set_timers")
def test_idle_session_is_closed_and_a_used_one_a_cleanup_time_later(peer, sut, judge):
    """Of three sessions two get a message half-way, one that is taken and one that is refused: the idle one ends with
    the cleanup time, these with the next. When it ends at all is advice; that the time is the configured one is not.
    """
    sut.slow_down(20)
    sut.set_timers(session_cleanup_ms=CLEANUP_MS)
    idle, taken, refused = peer.open_raw(), peer.open_raw(), peer.open_raw()
    peer.pass_time(sut.duration_ms(CLEANUP_MS) // 2)
    sent = [
        taken.send(peer.message()),
        refused.send(peer.message(destination=peer.missing_queue)),
    ]
    for session in (idle, taken, refused):
        session.wait_closed(LONG * sut.duration_ms(CLEANUP_MS))

    ended, ended_taken, ended_refused = (_ended(session, sut) for session in (idle, taken, refused))
    first, second = ("closed after 1 cleanup time", "closed after 2 cleanup times")
    judge(
        "MQQB-3.1.6.2-02",
        expected=holds("closed", otherwise="still open"),
        observed=idle.record.closed_at_ms is not None,
        evidence=[idle.last],
    )
    judge("MQQB-3.1.2.2-01", expected=first, observed=ended, evidence=[idle.last])
    judge("MQQB-3.1.6.2-03", expected=second, observed=ended_taken, evidence=sent[:1])
    judge("MQQB-3.1.5.8.2-13", expected=[second, second], observed=[ended_taken, ended_refused], evidence=sent)
    judge(
        "MQQB-3.1.6.2-01",
        expected=facts(idle=first, used=second),
        observed={"idle": ended, "used": ended_taken},
        evidence=[idle.last, *sent],
    )


@covers("MQQB-3.1.6.2-03")
@needs("set_timers")
def test_a_session_that_is_used_again_and_again_stays_open(peer, sut, judge):
    """A session that gets a message in each of several cleanup times is open after all of them."""
    sut.slow_down(20)
    sut.set_timers(session_cleanup_ms=CLEANUP_MS)
    used = peer.open_raw()
    for times in range(1, 5):
        peer.pass_time(sut.duration_ms(CLEANUP_MS) // 2)
        sent = used.send(peer.message())
        peer.pass_time(sut.duration_ms(CLEANUP_MS) // 2)
        judge(
            "MQQB-3.1.6.2-03",
            expected=holds("still open", otherwise="closed"),
            observed=used.record.closed_at_ms is None,
            case=f"after {times} cleanup times",
            evidence=[sent],
        )


def _ended(session: Conversation, sut: Sut) -> str:
    """Describe when a session ended, counted in cleanup times from its first packet."""
    if session.record.closed_at_ms is None:
        return "still open"
    took = session.peer.took(session.sent[0], session.record.closed_at_ms)
    slack_ms, each_ms = sut.slack_ms(CLEANUP_MS), sut.duration_ms(CLEANUP_MS)
    took.require_steady(slack_ms)
    for times in (2, 1):
        if times * each_ms * 9 // 10 <= took.ms <= times * each_ms + slack_ms:
            return f"closed after {times} cleanup time{'s' * (times > 1)}"
    took.allowed(each_ms * 9 // 10, each_ms + slack_ms)
    return f"closed after {took.ms} ms"
