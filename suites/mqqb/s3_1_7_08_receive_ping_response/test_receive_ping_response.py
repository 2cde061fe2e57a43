"""MS-MQQB 3.1.7.8 Receive Ping Response."""

from __future__ import annotations

import pytest

from harness.expectations import fields
from harness.judging.verdicts import Verdict
from harness.run.marks import covers, needs, sut_survives
from suites.mqqb.steps.pinging import OPENED, OPENED_NONE, RETRIED, UNHEARD, Caller, cookie_of

IGNORED = fields({"on the wrong one": OPENED_NONE, "on the right one": OPENED})


def judge_wrong_and_right(judge, rules: tuple[str, ...], caller: Caller, wrong) -> None:
    """Answer wrongly, then rightly; judge what followed on each. ``wrong``: fields of a wrong answer to a request."""
    asked = caller.asked()
    bad = caller.answer(asked, **wrong(asked))
    upon_bad = caller.outcome(caller.waiting_ms)
    good = caller.answer(asked)
    upon_good = caller.outcome(caller.before_retry_ms) if upon_bad == OPENED_NONE else OPENED_NONE
    evidence = [asked, bad, good]
    if upon_bad == upon_good == OPENED_NONE:  # its wait may have been over: at its next request one follows the other
        again = caller.end.poll(caller.sut.connect_timeout_ms)
        if again is not None:
            evidence += [again, caller.answer(again, **wrong(again)), caller.answer(again)]
            upon_good = caller.outcome(caller.before_retry_ms)
    if upon_bad == upon_good == OPENED_NONE and caller.unheard(asked):
        judge.give_up(Verdict.NOT_EXERCISED, UNHEARD)
        return
    observed = {"on the wrong one": upon_bad, "on the right one": upon_good}
    judge(*rules, expected=IGNORED, observed=observed, evidence=evidence)


@sut_survives()
@needs("ping_initiator")
@covers("MQQB-2.2.7-23", "MQQB-3.1.7.8-04")
@pytest.mark.parametrize("RF", [0, 1])
@pytest.mark.parametrize("error", [-1, 1, 0x8000_0000])
def test_response_with_another_cookie_is_ignored(peer, sut, judge, error, RF):
    """A response that is right but for its Cookie neither opens the session nor ends the wait for the right one."""
    judge_wrong_and_right(
        judge,
        ("MQQB-2.2.7-23", "MQQB-3.1.7.8-04"),
        Caller(peer, sut),
        lambda one: {"Cookie": cookie_of(one) + error & 0xFFFFFFFF, "RF": RF},
    )


@sut_survives()
@needs("ping_initiator")
@covers("MQQB-2.2.7-21", "MQQB-3.1.7.8-03")
@pytest.mark.parametrize("RF", [0, 1])
@pytest.mark.parametrize("signature", [0x0000, 0x4855])
def test_response_with_another_signature_is_ignored(peer, sut, judge, signature, RF):
    """A response that is right but for its Signature neither opens the session nor ends the wait for the right one."""
    wrong = {"Signature": signature, "RF": RF}
    judge_wrong_and_right(judge, ("MQQB-2.2.7-21", "MQQB-3.1.7.8-03"), Caller(peer, sut), lambda _: wrong)


@needs("ping_initiator")
@covers("MQQB-3.1.7.8-02")
@pytest.mark.parametrize(("RF", "expected"), [(0, OPENED), (1, OPENED_NONE)])
def test_only_the_response_to_the_request_counts(peer, sut, judge, RF, expected):
    """When two datagrams with opposite RF come, the one with the Cookie of the request says what happens."""
    caller = Caller(peer, sut)
    asked = caller.asked()
    other = caller.answer(asked, Cookie=~cookie_of(asked) & 0xFFFFFFFF, RF=1 - RF)
    right = caller.answer(asked, RF=RF)
    observed = caller.outcome(caller.before_retry_ms)
    judge("MQQB-3.1.7.8-02", expected=expected, observed=observed, evidence=[asked, other, right])


@sut_survives()
@needs("ping_initiator", "set_timers")
@covers("MQQB-3.1.7.8-06")
def test_response_that_comes_too_late_is_ignored(peer, sut, judge):
    """A positive response after its time opens nothing before the retry time, when a session is opened all the same."""
    caller = Caller(peer, sut)
    asked = caller.asked()
    caller.run_out()
    if caller.listener.waiting and caller.unheard(asked):
        judge.give_up(Verdict.NOT_EXERCISED, f"{UNHEARD}, and tried again before it was sure to be over")
        return
    late = caller.answer(asked)
    upon_late = caller.outcome(caller.before_retry_ms - sut.slack_ms(1_000))
    later = caller.retry() if upon_late == OPENED_NONE else "nothing"
    expected = fields({"on the late one": OPENED_NONE, "later": RETRIED})
    observed = {"on the late one": upon_late, "later": later}
    judge("MQQB-3.1.7.8-06", expected=expected, observed=observed, evidence=[asked, late])
