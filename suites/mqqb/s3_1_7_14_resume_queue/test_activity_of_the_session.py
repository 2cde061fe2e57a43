"""MS-MQQB 3.1.7.14 Resume Queue Event: the expiry of the Session Cleanup Timer shows SessionActive."""

from __future__ import annotations

from harness.run.marks import covers, needs
from suites.mqqb.steps import cleanup
from suites.mqqb.steps.outgoing_session import OutgoingSession


@needs("send", "pause", "set_timers")
@covers("MQQB-3.1.7.14-07")
def test_session_of_a_queue_resumed_with_message_in_flight_closes_one_cleanup_later(peer, sut, judge):
    """The peer leaves a message from the SUT unacknowledged. After the first expiry of the Session Cleanup Timer, an
    application pauses and resumes the queue. The SUT closes the session at the third expiry of this timer instead of
    the second.
    """
    cleanup_ms = cleanup.limit_cleanup_timer_speed(sut)
    session = OutgoingSession(peer, sut)
    sent = session.open()
    peer.pass_time(sut.duration_ms(cleanup_ms) * 5 // 4)
    sut.pause(peer.direct_name())
    sut.resume(peer.direct_name())
    observed = cleanup.await_session_cleanup(session.connection, sut, cleanup_ms)
    judge(
        "MQQB-3.1.7.14-07",
        expected=cleanup.CLOSED_AFTER_3_CLEANUP_TIMES_OUTCOME,
        observed=observed,
        evidence=[sent, session.connection.last],
    )
