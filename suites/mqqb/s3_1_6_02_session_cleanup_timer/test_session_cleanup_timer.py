"""MS-MQQB 3.1.6.2 Session Cleanup Timer Event."""

from __future__ import annotations

from harness.expectations import facts, holds
from harness.run.marks import covers, needs, varied
from suites.mqqb.steps.cleanup import (
    LONGEST_WAIT_IN_CLEANUP_TIMES,
    ONCE,
    TWICE,
    begin_cleanups,
    describe_cleanup,
)


@covers("MQQB-3.1.6.2-01", "MQQB-3.1.6.2-02", "MQQB-3.1.6.2-03", "MQQB-3.1.2.2-01", "MQQB-3.1.5.8.2-13")
@needs("timers")
@varied("destination", priority=("3", "7"), body=("short", "5,000 bytes"))
def test_idle_session_closes_after_one_cleanup_time_and_used_one_after_two(peer, sut, judge):
    """The peer opens three sessions, and sends a message on two of them after half of the cleanup time; one message is
    accepted and one is refused. The idle session closes after one cleanup time, and each used session after two cleanup
    times. The document only recommends that an idle session is closed, but specifies the time.
    """
    cleanup_ms = begin_cleanups(sut)
    idle, accepted, refused = peer.open_raw(), peer.open_raw(), peer.open_raw()
    peer.pass_time(sut.duration_ms(cleanup_ms) // 2)
    sent = [
        accepted.send(peer.message()),
        refused.send(peer.message(destination=peer.missing_queue)),
    ]
    for session in (idle, accepted, refused):
        session.wait_closed(LONGEST_WAIT_IN_CLEANUP_TIMES * sut.duration_ms(cleanup_ms))

    ended, ended_accepted, ended_refused = (
        describe_cleanup(session, sut, cleanup_ms) for session in (idle, accepted, refused)
    )
    first, second = ONCE, TWICE
    judge(
        "MQQB-3.1.6.2-02",
        expected=holds("closed by the SUT", otherwise="still open"),
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
    """The peer sends a message in each of four cleanup times: the session is still open after each cleanup time."""
    cleanup_ms = begin_cleanups(sut)
    used = peer.open_raw()
    for times in range(1, 5):
        peer.pass_time(sut.duration_ms(cleanup_ms) // 2)
        sent = used.send(peer.message())
        peer.pass_time(sut.duration_ms(cleanup_ms) // 2)
        judge(
            "MQQB-3.1.6.2-03",
            expected=holds("open", otherwise="closed"),
            observed=used.record.closed_at_ms is None,
            case=f"session after {times} times the duration of the Session Cleanup Timer",
            evidence=[sent],
        )
