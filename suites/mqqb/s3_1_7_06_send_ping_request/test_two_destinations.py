"""MS-MQQB 3.1.7.6 Send Ping Request: pings to two queue managers at different addresses."""

from __future__ import annotations

from harness.expectations import holds
from harness.judging.verdicts import Verdict
from harness.run.marks import covers, needs
from suites.mqqb.steps.pinging import STALLED_SUT_REASON, PingingSut, get_ping_cookie


@needs("ping_initiator", "timers", "send")
@covers("MQQB-3.1.7.6-08", "MQQB-3.1.7.6-10", "MQQB-3.1.7.6-12")
def test_ping_response_opens_session_only_with_the_pinged_destination(peer, second_host, sut, judge):
    """The SUT has a message for a second queue manager, which does not answer its Ping Request, and then a message for
    the peer, which answers. Each Ping Request arrives at its own address. The SUT opens a session with the peer and
    none with the second queue manager.
    """
    silent = PingingSut(second_host, sut)
    first = silent.await_ping()
    answering = PingingSut(peer, sut)
    second = answering.poll_ping()
    judge(
        "MQQB-3.1.7.6-08",
        expected=holds("a Ping Request"),
        observed=second is not None or "no datagram",
        case="packet that arrives at the peer's address",
        evidence=[first, second],
    )
    if second is None:
        judge.give_up(Verdict.INCONCLUSIVE, "no Ping Request arrived at the peer")
        return
    if get_ping_cookie(first) == get_ping_cookie(second):
        judge.give_up(Verdict.NOT_EXERCISED, "both Ping Requests have the same Cookie (E15)")
        return
    answer = answering.answer_ping(second)
    outcome, _ = answering.await_connection(answering.half_ping_response_timer_ms)
    other = silent.await_session(0)
    if silent.was_too_slow_after_ping(first) or answering.was_too_slow_after_ping(second):
        judge.give_up(Verdict.NOT_EXERCISED, STALLED_SUT_REASON)
        return
    judge(
        "MQQB-3.1.7.6-12",
        expected=PingingSut.SESSION_OPENED_OUTCOME,
        observed=outcome,
        case="destination that answered its Ping Request",
        evidence=[second, answer],
    )
    judge(
        "MQQB-3.1.7.6-10",
        expected=PingingSut.NO_SESSION_OUTCOME,
        observed=other,
        case="destination that did not answer its Ping Request",
        evidence=[first, second, answer],
    )
