"""MS-MQSO 5.5.5, 5.1.1.1, 6.4.4.1, 6.6.2: a start with a damaged store, and its repair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from harness.expectations import facts, holds
from harness.judging.judge import Judge
from harness.peer.peer import Peer
from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome
from harness.sut.sut import Sut
from suites.mqso.steps.serving import SessionAttempt

FIRST_MS, LATER_MS = 120_000, 900_000
LONGEST_MS = 5 * 60_000
"""What a check waits for one timer: a system that stalls has the specification's."""
"""InitializationRetryTimerDuration before the first retry, and before the others."""
REPAIRED, BEFORE = 0.5, 0.8
"""The parts of that time after which the store is repaired, far from any attempt however late that comes, and at which
it must not have been tried yet."""
TOO_LONG = f"timers cannot be hurried now: this would take {LATER_MS // 60_000} minutes"
TRIES = 6
SCALE = 20
"""The fastest that the timer may run here."""
STOPPED = (
    "MQSO-5.1.1.1-01",
    "MQSO-5.1.1.1-02",
    "MQSO-5.5.5-03",
    "MQSO-6.6.2-04",
    "MQSO-6.6.2-05",
    "MQDMPR-3.1.1.1-23",
    "MQDMPR-3.1.3-30",
)
RETRIED = ("MQSO-5.1.1.1-03", "MQSO-6.4.4.1-01", "MQSO-6.4.4.1-D01")
FIRST = ("MQSO-5.1.1.1-D02", "MQSO-6.6.2-D08")
LATER = ("MQSO-5.1.1.1-D03", "MQSO-6.6.2-D09")


@dataclass(frozen=True, slots=True)
class Damaged:
    """A system that was started on a store that makes no sense: between what instants, and whether it served then."""

    queue: str
    asked_ms: int
    began_ms: int
    attempt: SessionAttempt
    done: str


def _damaged(peer: Peer, sut: Sut, judge: Judge, rules: tuple[str, ...]) -> Damaged | None:
    """Restart the SUT on a store that makes no sense; None if it was repaired."""
    sut.slow_down(SCALE)
    queue = sut.new_queue("damaged")
    sut.send_here(queue, ["kept"], delivery="recoverable")
    sut.change_environment(store=False)
    asked_ms = peer.recorder.elapsed_ms()
    sut.control.call("restart")
    began_ms = peer.recorder.elapsed_ms()
    attempt = SessionAttempt(peer, sut.duration_ms(FIRST_MS) // 4)  # it is to be over before the first retry
    served = attempt.outcome == SessionAttempt.SERVED and sut.attempt("get_queue", name=queue) == Outcome.DONE
    if served and sut.labels(queue) == ["kept"]:
        judge.mark_not_exercised(*rules, reason="the SUT repairs the damage by itself")
        return None
    return Damaged(queue, asked_ms, began_ms, attempt, sut.attempt("peek", queue=queue))


def _lasts_too_long(sut: Sut) -> bool:
    """Return whether nobody would wait for the attempts after the first retry."""
    return not sut.environment.virtual and sut.duration_ms(LATER_MS) > LONGEST_MS


def _repaired_by(peer: Peer, sut: Sut, judge: Judge, due_ms: int, rules: tuple[str, ...]) -> bool:
    """Repair the store, and say whether it was done before the attempt that is to succeed."""
    sut.change_environment(store=True)
    if peer.took(due_ms).ms < 0:
        return True
    judge.mark_not_exercised(*rules, reason="the store was repaired too late for this attempt")
    return False


@dataclass(frozen=True, slots=True)
class Tried:
    """Whether sessions were served before an attempt and after it; ``in_time``: the first was asked for before it."""

    before: str
    after: str
    in_time: bool
    evidence: list[Any]


def _tried_at(peer: Peer, sut: Sut, damaged: Damaged, earlier_ms: int, after_ms: int) -> Tried:
    """Say whether sessions are served before and after a time that began so many ms after the start."""
    lasts_ms = sut.duration_ms(after_ms)
    due_ms = damaged.asked_ms + earlier_ms + lasts_ms
    peer.pass_time_until(due_ms - int((1 - BEFORE) * lasts_ms), 0)
    early_attempt = SessionAttempt(peer, int((1 - BEFORE) / 2 * lasts_ms))
    in_time = early_attempt.outcome == SessionAttempt.NOT_SERVED or peer.took(due_ms).ms < 0
    peer.pass_time_until(damaged.began_ms + earlier_ms + lasts_ms + sut.slack_ms(after_ms), 0)
    late_attempt = SessionAttempt(peer)
    for _ in range(TRIES):  # a start takes time, too
        if late_attempt.outcome == SessionAttempt.SERVED:
            break
        peer.pass_time(sut.response_timeout_ms // TRIES)
        late_attempt = SessionAttempt(peer)
    return Tried(
        early_attempt.outcome, late_attempt.outcome, in_time, [*early_attempt.evidence, *late_attempt.evidence]
    )


def _judge_instant(judge: Judge, rules: tuple[str, ...], tried: Tried) -> None:
    """Judge rules that say when it is tried again."""
    for rule in rules:
        if tried.in_time:
            observed = {"before": tried.before, "after": tried.after}
            judge(
                rule,
                expected=facts(before=SessionAttempt.NOT_SERVED, after=SessionAttempt.SERVED),
                observed=observed,
                evidence=tried.evidence,
            )
        else:
            judge.mark_not_exercised(
                rule, reason="the session that was to be before the attempt was asked for too late"
            )


@needs("environment", "restart", "set_timers", "send", "receive", "queue_control")
@covers(*STOPPED, *RETRIED, *FIRST)
def test_store_beyond_repair_stops_sut_until_repaired(peer, sut, judge):
    """Started with a damaged store, the SUT refuses sessions and requests; after the repair it starts by itself 120
    seconds after the failure and has its message.
    """
    damaged = _damaged(peer, sut, judge, (*STOPPED, *RETRIED, *FIRST))
    if damaged is None:
        return
    observed = {"session": damaged.attempt.outcome, "application": damaged.done}
    expected = facts(session=SessionAttempt.NOT_SERVED, application=Outcome.REFUSED)
    judge(*STOPPED, expected=expected, observed=observed, evidence=damaged.attempt.evidence)
    if not _repaired_by(peer, sut, judge, damaged.asked_ms + sut.duration_ms(FIRST_MS), (*RETRIED, *FIRST)):
        return
    tried = _tried_at(peer, sut, damaged, 0, FIRST_MS)
    _judge_instant(judge, FIRST, tried)
    if tried.after != SessionAttempt.SERVED:  # the 120 seconds are a SHOULD
        if _lasts_too_long(sut):
            judge.mark_not_exercised(*RETRIED, "MQSO-5.5.5-03", reason=TOO_LONG)
            return
        tried = _tried_at(peer, sut, damaged, sut.duration_ms(FIRST_MS), LATER_MS)
    judge(*RETRIED, expected=SessionAttempt.SERVED, observed=tried.after, evidence=tried.evidence)
    stored_labels = sut.labels(damaged.queue) if sut.attempt("get_queue", name=damaged.queue) == Outcome.DONE else []
    judge("MQSO-5.5.5-03", expected=["kept"], observed=stored_labels, evidence=tried.evidence)


@needs("environment", "restart", "set_timers", "send", "receive", "queue_control")
@covers("MQSO-5.5.5-03", *LATER)
def test_second_start_retry_is_after_900_seconds(peer, sut, judge):
    """A SUT whose first retry to start fails, too, is not serving before a further 900 seconds, and serves after
    them once the store is repaired.
    """
    rules = ("MQSO-5.5.5-03", *LATER)
    sut.slow_down(SCALE)
    if _lasts_too_long(sut):
        judge.mark_not_exercised(*rules, reason=TOO_LONG)
        return
    damaged = _damaged(peer, sut, judge, rules)
    if damaged is None:
        return
    first_ms, later_ms = sut.duration_ms(FIRST_MS), sut.duration_ms(LATER_MS)
    peer.pass_time_until(damaged.began_ms + first_ms + sut.slack_ms(FIRST_MS), 0)
    attempt = SessionAttempt(peer)
    judge("MQSO-5.5.5-03", expected=SessionAttempt.NOT_SERVED, observed=attempt.outcome, evidence=attempt.evidence)
    peer.pass_time_until(damaged.began_ms + first_ms + int(REPAIRED * later_ms), 0)
    if _repaired_by(peer, sut, judge, damaged.asked_ms + first_ms + later_ms, LATER):
        _judge_instant(judge, LATER, _tried_at(peer, sut, damaged, first_ms, LATER_MS))


@needs("environment", "restart", "send", "receive", "queue_control")
@covers("MQSO-5.5.5-02")
def test_repairable_store_is_repaired_before_serving(peer, sut, judge):
    """Started with a contradictory count of its queues, the SUT has its old queue with its message, and gives a new
    queue a different number, also after another restart.
    """
    queue = sut.new_queue("had")
    sut.send_here(queue, ["kept"], delivery="recoverable")
    sut.change_environment(configuration=False)
    sut.control.call("restart")
    attempt = SessionAttempt(peer)
    if attempt.outcome != SessionAttempt.SERVED:
        judge.mark_not_exercised(
            "MQSO-5.5.5-02", reason="the SUT cannot repair this: it stops, as MS-MQSO 5.5.5 has it then"
        )
        return
    if sut.attempt("get_queue", name=queue) != Outcome.DONE:
        judge.all(expected=holds("the queue that it had is there"), observed=False, evidence=attempt.evidence)
        return
    new = sut.new_queue("made")
    for name, label in ((new, "new"), (queue, "again")):
        sut.send(sut.private_format_name(name), label=label, body=label, delivery="recoverable")
    for _ in range(2):
        observed = {
            key: sut.labels(name) if sut.attempt("get_queue", name=name) == Outcome.DONE else []
            for key, name in (("it_had", queue), ("was_made", new))
        }
        judge.all(
            expected=facts(it_had=["kept", "again"], was_made=["new"]), observed=observed, evidence=attempt.evidence
        )
        sut.restart()
    sut.change_environment(configuration=True)
