"""MS-MQQB 3.1.7.8 Receive Ping Response."""

from __future__ import annotations

import pytest

from harness.expectations import fields
from harness.judging.verdicts import Verdict
from harness.run.marks import covers, needs, sut_survives
from suites.mqqb.steps.pinging import STALLED_SUT_REASON, PingingSut, get_ping_cookie

WRONG_THEN_CORRECT_EXPECTATION = fields(
    {
        "after the wrong response": PingingSut.NO_SESSION_OUTCOME,
        "after the correct response": PingingSut.SESSION_OPENED_OUTCOME,
    }
)


def judge_wrong_then_correct_response(judge, rules: tuple[str, ...], caller: PingingSut, wrong) -> None:
    """Send a wrong answer and then a correct answer; judge the reaction of the SUT to each answer. ``wrong`` returns
    the fields of a wrong answer to a request.
    """
    asked = caller.await_ping()
    wrong_answer = caller.answer_ping(asked, **wrong(asked))
    after_wrong = caller.await_session(caller.half_ping_response_timer_ms)
    correct = caller.answer_ping(asked)
    after_correct = (
        caller.await_session(caller.time_shorter_than_retry_timer_ms)
        if after_wrong == PingingSut.NO_SESSION_OUTCOME
        else PingingSut.NO_SESSION_OUTCOME
    )
    evidence = [asked, wrong_answer, correct]
    if (
        after_wrong == after_correct == PingingSut.NO_SESSION_OUTCOME
    ):  # its wait may have been over: at its next request one follows the other
        again = caller.end.poll(caller.sut.connect_timeout_ms)
        if again is not None:
            evidence += [again, caller.answer_ping(again, **wrong(again)), caller.answer_ping(again)]
            after_correct = caller.await_session(caller.time_shorter_than_retry_timer_ms)
    if after_wrong == after_correct == PingingSut.NO_SESSION_OUTCOME and caller.was_too_slow_after_ping(asked):
        judge.give_up(Verdict.NOT_EXERCISED, STALLED_SUT_REASON)
        return
    observed = {"after the wrong response": after_wrong, "after the correct response": after_correct}
    judge(*rules, expected=WRONG_THEN_CORRECT_EXPECTATION, observed=observed, evidence=evidence)


@sut_survives()
@needs("ping_initiator")
@covers("MQQB-2.2.7-23", "MQQB-3.1.7.6-06", "MQQB-3.1.7.8-01", "MQQB-3.1.7.8-02", "MQQB-3.1.7.8-04")
@pytest.mark.parametrize("RF", [0, 1])
@pytest.mark.parametrize("error", [-1, 1, 0x0001_0000, 0x8000_0000])
def test_ping_response_with_wrong_cookie_is_ignored(peer, sut, judge, error, RF):
    """The peer answers a Ping Request with a wrong Cookie, then correctly. The SUT opens the session only after the
    correct response.
    """
    judge_wrong_then_correct_response(
        judge,
        ("MQQB-2.2.7-23", "MQQB-3.1.7.6-06", "MQQB-3.1.7.8-01", "MQQB-3.1.7.8-02", "MQQB-3.1.7.8-04"),
        PingingSut(peer, sut),
        lambda one: {"Cookie": get_ping_cookie(one) + error & 0xFFFFFFFF, "RF": RF},
    )


@sut_survives()
@needs("ping_initiator")
@covers("MQQB-2.2.7-21", "MQQB-3.1.7.8-01", "MQQB-3.1.7.8-03")
@pytest.mark.parametrize("RF", [0, 1])
@pytest.mark.parametrize("signature", [0x0000, 0x4855, 0x5500, 0x0048])
def test_ping_response_with_wrong_signature_is_ignored(peer, sut, judge, signature, RF):
    """The peer answers a Ping Request with a wrong Signature, then correctly. The SUT opens the session only after the
    correct response.
    """
    wrong = {"Signature": signature, "RF": RF}
    rules = ("MQQB-2.2.7-21", "MQQB-3.1.7.8-01", "MQQB-3.1.7.8-03")
    judge_wrong_then_correct_response(judge, rules, PingingSut(peer, sut), lambda _: wrong)


@needs("ping_initiator")
@covers("MQQB-3.1.7.8-02")
@pytest.mark.parametrize(
    ("RF", "expected"), [(0, PingingSut.SESSION_OPENED_OUTCOME), (1, PingingSut.NO_SESSION_OUTCOME)]
)
def test_ping_response_with_cookie_of_request_decides_session(peer, sut, judge, RF, expected):
    """The peer sends a Ping Response with a wrong Cookie, then the correct Ping Response with the opposite RF. The SUT
    opens a session if and only if RF (refuse) of the correct Ping Response is clear.
    """
    caller = PingingSut(peer, sut)
    asked = caller.await_ping()
    other = caller.answer_ping(asked, Cookie=~get_ping_cookie(asked) & 0xFFFFFFFF, RF=1 - RF)
    right = caller.answer_ping(asked, RF=RF)
    observed = caller.await_session(caller.time_shorter_than_retry_timer_ms)
    judge("MQQB-3.1.7.8-02", expected=expected, observed=observed, evidence=[asked, other, right])


@sut_survives()
@needs("ping_initiator", "set_timers")
@covers("MQQB-3.1.7.8-03", "MQQB-3.1.7.8-04", "MQQB-3.1.7.8-06")
def test_late_ping_response_is_ignored(peer, sut, judge):
    """The peer answers a Ping Request in time with a wrong Signature and with a wrong Cookie, and answers it correctly
    after the Ping Response Timer has expired. The SUT opens a session only after the retry time.
    """
    caller = PingingSut(peer, sut)
    asked = caller.await_ping()
    peer.pass_time(caller.half_ping_response_timer_ms)
    caller.answer_ping(asked, Signature=0x4855)
    caller.answer_ping(asked, Cookie=get_ping_cookie(asked) ^ 1)
    caller.await_response_timer_expiry(after_ms=caller.half_ping_response_timer_ms)
    if caller.listener.waiting and caller.was_too_slow_after_ping(asked):
        judge.give_up(Verdict.NOT_EXERCISED, f"{STALLED_SUT_REASON}, and possibly tried again too early")
        return
    late = caller.answer_ping(asked)
    after_late = caller.await_session(caller.time_shorter_than_retry_timer_ms - sut.slack_ms(1_000))
    later = caller.start_initialization_retry_timer() if after_late == PingingSut.NO_SESSION_OUTCOME else "nothing"
    expected = fields(
        {
            "after the late response": PingingSut.NO_SESSION_OUTCOME,
            "at the retry time": PingingSut.SESSION_OPENED_BY_RETRY_OUTCOME,
        }
    )
    observed = {"after the late response": after_late, "at the retry time": later}
    judge.all(expected=expected, observed=observed, evidence=[asked, late])
