"""MS-MQQB 3.1.5.9 Closing a Session: idle sessions that the SUT opened."""

from __future__ import annotations

from harness.expectations import closed_without_answer
from harness.run.marks import covers, needs, sut_survives
from suites.mqqb.steps.outgoing_session import await_session_of_sut

SESSION_CLEANUP_TIMER_MS = 30_000
"""The duration in ms to which the check sets the timer (set_timers)."""


@sut_survives()
@covers("MQQB-3.1.5.9-D01", "MQQB-3.1.5.9-D02")
@needs("set_timers")
def test_closing_idle_session_of_initiator_closes_connection_without_packet(peer, sut, judge):
    """The SUT opens a session for a message, and the peer acknowledges the message. The session is idle: the SUT sends
    no further packet and closes the connection.
    """
    sut.set_timers(session_cleanup_ms=SESSION_CLEANUP_TIMER_MS)
    session = await_session_of_sut(peer, sut)
    peer.settle()
    known = len(session.received)
    session.wait_closed(3 * sut.duration_ms(SESSION_CLEANUP_TIMER_MS))
    judge.all(expected=closed_without_answer(known), observed=session, evidence=[session.last])
