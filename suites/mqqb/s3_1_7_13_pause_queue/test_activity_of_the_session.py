"""MS-MQQB 3.1.7.13 Pause Queue Event: the expiry of the Session Cleanup Timer shows SessionActive."""

from __future__ import annotations

from harness.run.marks import covers, needs
from suites.mqqb.steps import cleanup
from suites.mqqb.steps.outgoing_session import OutgoingSession


@needs("send", "pause", "timers")
@covers("MQQB-3.1.7.13-12")
def test_session_of_a_paused_queue_closes_at_first_cleanup(peer, sut, judge):
    """The SUT sends a message on a new session, and an application pauses the outgoing queue. The SUT closes the
    session at the first expiry of its Session Cleanup Timer, although the SUT sent a message before this expiry.
    """
    cleanup_ms = cleanup.limit_cleanup_timer_speed(sut)
    session = OutgoingSession(peer, sut)
    sent = session.open()
    session.connection.acknowledge_all()
    sut.pause(peer.direct_name())
    observed = cleanup.await_session_cleanup(session.connection, sut, cleanup_ms)
    judge(
        "MQQB-3.1.7.13-12",
        expected=cleanup.CLOSED_AFTER_1_CLEANUP_TIME_OUTCOME,
        observed=observed,
        evidence=[sent, session.connection.last],
    )
