"""MS-MQQB 2.1.2 Ping Message: datagrams that arrive before the Ping Response."""

from __future__ import annotations

from harness.run.marks import covers, needs
from suites.mqqb.steps.pinging import STALLED_SUT_REASON, PingingSut, get_ping_cookie

WRONG_PING_SIGNATURE = 0x4855


@needs("ping_initiator")
@covers("MQQB-2.1.2-01")
def test_ping_response_after_other_datagrams_lets_the_initiator_connect(peer, sut, judge):
    """The peer sends datagrams with a wrong Signature and a wrong Cookie to the source port of a Ping Request, and then
    the Ping Response. RF of all datagrams is 0. The SUT requests a session.
    """
    caller = PingingSut(peer, sut)
    asked = caller.await_ping()
    datagrams = [
        caller.answer_ping(asked, Signature=WRONG_PING_SIGNATURE),
        caller.answer_ping(asked, Cookie=get_ping_cookie(asked) ^ 1),
        caller.answer_ping(asked),
    ]
    outcome = caller.await_session(caller.time_shorter_than_retry_timer_ms)
    if outcome == PingingSut.NO_SESSION_OUTCOME and caller.was_too_slow_after_ping(asked):
        judge.mark_not_exercised("MQQB-2.1.2-01", reason=STALLED_SUT_REASON, evidence=[asked, *datagrams])
        return
    judge(
        "MQQB-2.1.2-01",
        expected=PingingSut.SESSION_OPENED_OUTCOME,
        observed=outcome,
        case="after other datagrams and the Ping Response",
        evidence=[asked, *datagrams],
    )
