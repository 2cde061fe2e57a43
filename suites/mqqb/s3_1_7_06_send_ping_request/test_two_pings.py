"""MS-MQQB 3.1.7.6 Send Ping Request, with 3.1.6.8, 3.1.7.8 and 3.1.7.9: Ping Requests for two queues."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import fields, one_of, packet
from harness.judging.verdicts import Verdict
from harness.peer.inbox import establish_response, parameters_response
from harness.run.marks import covers, needs
from suites.mqqb.steps.pinging import PING_RESPONSE_TIMEOUT_MS, STALLED_SUT_REASON, PingingSut, get_ping_cookie
from suites.mqqb.steps.provoking import make_sut_send_message, read_application_tag

SINGLE_PING_OUTCOME = "the SUT sent one Ping Request for both queues"
SESSION_OUTCOME_BY_RF_OF_PING_RESPONSE = (PingingSut.SESSION_OPENED_OUTCOME, PingingSut.NO_SESSION_OUTCOME)
"""The outcome of an attempt to open a session, by RF of the Ping Response."""


def _poll_second_ping(caller: PingingSut):
    """Let the SUT send message 2 to a different queue; return the Ping Request for it, or None."""
    make_sut_send_message(caller.peer, caller.sut, caller.peer.direct_name("mqc-other"), tag=2)
    return caller.end.poll(caller.half_ping_response_timer_ms)


@needs("ping_initiator", "timers")
@covers("MQQB-3.1.6.8-01", "MQQB-3.1.7.6-03", "MQQB-3.1.7.6-10", "MQQB-3.1.7.9-01")
@pytest.mark.parametrize("first_timer", ["running", "expired"])
def test_response_to_second_of_two_pings_opens_its_session_only(peer, sut, judge, first_timer):
    """The SUT sends a second Ping Request while it waits for the response to the first Ping Request. The peer answers
    only the second Ping Request, before or after the timer of the first has expired. Only then does the SUT open one
    session, and it sends message 2 on this session.
    """
    caller = PingingSut(peer, sut)
    first = caller.await_ping()
    peer.pass_time_until(first, caller.half_ping_response_timer_ms)
    second = _poll_second_ping(caller)
    if second is None:
        judge.give_up(Verdict.NOT_EXERCISED, SINGLE_PING_OUTCOME)
        return
    cookie = get_ping_cookie(first)
    judge(
        "MQQB-3.1.7.6-03",
        expected=one_of([cookie, cookie + 1 & 0xFFFFFFFF], [1, 1]),
        observed=[cookie, get_ping_cookie(second)],
        case="Cookies of the two Ping Requests",
        evidence=[first, second],
    )
    judge.conclude("MQQB-3.1.7.6-03")
    if first_timer == "running" and get_ping_cookie(first) == get_ping_cookie(second):
        judge.give_up(Verdict.NOT_EXERCISED, "both Ping Requests have the same Cookie (E15)")
        return
    if first_timer == "expired":
        peer.pass_time_until(first, sut.duration_ms(PING_RESPONSE_TIMEOUT_MS) * 6 // 5)
    early = caller.await_session(0)
    if caller.was_too_slow_after_ping(first) or caller.was_too_slow_after_ping(second):
        judge.give_up(Verdict.NOT_EXERCISED, STALLED_SUT_REASON)
        return
    answer = caller.answer_ping(second)
    evidence = [first, second, answer]
    judge("MQQB-3.1.7.6-10", expected=PingingSut.NO_SESSION_OUTCOME, observed=early, evidence=evidence)
    outcome, connection = caller.await_connection(caller.half_ping_response_timer_ms)
    other = caller.await_session(caller.half_ping_response_timer_ms)
    expected = fields({"session": PingingSut.SESSION_OPENED_OUTCOME, "further session": PingingSut.NO_SESSION_OUTCOME})
    observed = {"session": outcome, "further session": other}
    judge("MQQB-3.1.6.8-01", "MQQB-3.1.7.9-01", expected=expected, observed=observed, evidence=evidence)
    if connection is None or not connection.received:
        raise ConformanceFailure("the SUT requested no session after the response to its second Ping Request")
    connection.send(establish_response(peer, connection.received[0]))
    connection.send(parameters_response(connection.expect("ConnectionParameters")))
    came = connection.expect("UserMessage")
    judge(
        "MQQB-3.1.7.9-01",
        expected=2,
        observed=read_application_tag(came),
        case="number of the message",
        evidence=[second, came],
    )


@needs("ping_initiator", "timers")
@covers("MQQB-3.1.7.6-12", "MQQB-3.1.7.6-13")
@pytest.mark.parametrize("RF", [0, 1])
def test_each_of_two_ping_responses_decides_on_its_own_session(peer, sut, judge, RF):
    """The SUT sends Ping Requests for two queues, one after the other. The peer answers one Ping Request with RF clear
    and the other with RF set, in both orders. The SUT opens only the session whose response has RF clear.
    """
    caller = PingingSut(peer, sut)
    first = caller.await_ping()
    answers = [caller.answer_ping(first, RF=RF)]
    outcomes = [caller.await_session(caller.time_shorter_than_retry_timer_ms // 2)]
    second = _poll_second_ping(caller)
    if second is None:
        judge.give_up(Verdict.NOT_EXERCISED, SINGLE_PING_OUTCOME)
        return
    answers.append(caller.answer_ping(second, RF=1 - RF))
    outcomes.append(caller.await_session(caller.time_shorter_than_retry_timer_ms // 4))
    if caller.was_too_slow_after_ping(first) or caller.was_too_slow_after_ping(second):
        judge.give_up(Verdict.NOT_EXERCISED, STALLED_SUT_REASON)
        return
    judge.all(
        expected=[SESSION_OUTCOME_BY_RF_OF_PING_RESPONSE[RF], SESSION_OUTCOME_BY_RF_OF_PING_RESPONSE[1 - RF]],
        observed=outcomes,
        case="outcomes of the two Ping Responses",
        evidence=[first, second, *answers],
    )


@needs("ping_initiator")
@covers("MQQB-3.1.7.6-06", "MQQB-3.1.7.6-14", "MQQB-3.1.7.8-01", "MQQB-3.1.7.8-02", "MQQB-3.1.7.8-05")
def test_second_answered_ping_opens_session_that_survives_expiry(peer, sut, judge):
    """The SUT sends Ping Requests for two queues, one after the other, and the peer answers both with RF clear. The SUT
    opens a second session, and still uses that session after the Ping Response Timer has expired. Before the second
    Ping Request, a datagram with RF set arrives, which the SUT ignores.
    """
    caller = PingingSut(peer, sut)
    first = caller.await_ping()
    caller.answer_ping(first)
    caller.await_session(caller.time_shorter_than_retry_timer_ms // 2)
    caller.answer_ping(first, Cookie=get_ping_cookie(first) + 1 & 0xFFFFFFFF, RF=1)
    peer.settle()
    second = _poll_second_ping(caller)
    if second is None:
        judge.give_up(Verdict.NOT_EXERCISED, SINGLE_PING_OUTCOME)
        return
    evidence = [first, second, caller.answer_ping(second)]
    outcome, connection = caller.await_connection(caller.time_shorter_than_retry_timer_ms // 2)
    if caller.was_too_slow_after_ping(second):
        judge.give_up(Verdict.NOT_EXERCISED, STALLED_SUT_REASON)
        return
    judge(
        "MQQB-3.1.7.6-06",
        "MQQB-3.1.7.8-01",
        "MQQB-3.1.7.8-02",
        "MQQB-3.1.7.8-05",
        expected=PingingSut.SESSION_OPENED_OUTCOME,
        observed=outcome,
        case="after the second Ping Response",
        evidence=evidence,
    )
    judge.conclude("MQQB-3.1.7.6-06", "MQQB-3.1.7.8-01", "MQQB-3.1.7.8-02", "MQQB-3.1.7.8-05")
    if connection is None or not connection.received:
        raise ConformanceFailure("the SUT requested no session after its second ping")
    caller.await_response_timer_expiry()
    connection.send(establish_response(peer, connection.received[0]))
    observed = connection.poll("ConnectionParameters") or connection
    judge(
        "MQQB-3.1.7.6-14",
        expected=packet("ConnectionParameters"),
        observed=observed,
        case="answer to the EstablishConnection response",
        evidence=[*evidence, connection.last],
    )
