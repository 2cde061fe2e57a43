"""MS-MQQB 3.1.7.1.3 Updating the UserMessage Packet: SessionActive, shown by the Session Cleanup Timer."""

from __future__ import annotations

from harness.run.marks import covers, needs
from suites.mqqb.steps import cleanup
from suites.mqqb.steps.outgoing_session import OutgoingSession


@needs("timers")
@covers("MQQB-3.1.7.1.3-28")
def test_session_on_which_the_sut_sent_a_message_closes_at_second_cleanup(peer, sut, judge):
    """The SUT opens a session and sends a message on it. The SUT closes the session at the second expiry of its Session
    Cleanup Timer, not at the first.
    """
    cleanup_ms = cleanup.limit_cleanup_timer_speed(sut)
    session = OutgoingSession(peer, sut)
    sent = session.open()
    session.connection.acknowledge_all()
    observed = cleanup.await_session_cleanup(session.connection, sut, cleanup_ms)
    judge(
        "MQQB-3.1.7.1.3-28",
        expected=cleanup.CLOSED_AFTER_2_CLEANUP_TIMES_OUTCOME,
        observed=observed,
        evidence=[sent, session.connection.last],
    )
