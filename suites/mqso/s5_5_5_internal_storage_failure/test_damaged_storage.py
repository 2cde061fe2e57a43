"""MS-MQSO 5.5.5, 5.1.1.1, 6.4.4.1, 6.6.2: somebody damages what is on the disk, and repairs it."""

from __future__ import annotations

from typing import Any

from harness.judging.judge import Judge
from harness.peer.peer import Peer
from harness.run.marks import covers, needs
from harness.sut.sut import Sut
from suites.applications import DONE, REFUSED, asked, send_here
from suites.mqqb.steps.disposition import labels
from suites.mqqb.steps.opening import pass_time
from suites.mqso.steps.serving import NOT_SERVED, SERVED, Attempt

FIRST_MS, LATER_MS = 120_000, 900_000
"""InitializationRetryTimerDuration before the first retry, and before the others."""
BEFORE = 0.8
"""The part of that time at which it must not have been tried yet."""
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


def _damaged(peer: Peer, sut: Sut, judge: Judge, rules: tuple[str, ...]) -> str | None:
    """Restart the SUT on a store that makes no sense; return a queue that holds a message, None if it was repaired."""
    sut.slow_down(SCALE)
    queue = sut.new_queue("damaged")
    send_here(sut, queue, ["kept"], delivery="recoverable")
    sut.change_environment(store=False)
    sut.control.call("restart")
    served = Attempt(peer).outcome == SERVED and asked(sut, "get_queue", name=queue) == DONE
    if served and labels(sut, queue) == ["kept"]:
        for rule in rules:
            judge.not_exercised(rule, "the SUT repairs the damage by itself")
        return None
    return queue


def _tried_at(peer: Peer, sut: Sut, after_ms: int) -> tuple[str, str, list[Any]]:
    """Say whether sessions are served before and after a time that begins now."""
    pass_time(peer, int(BEFORE * sut.duration_ms(after_ms)))
    before = Attempt(peer)
    pass_time(peer, sut.duration_ms(after_ms) - int(BEFORE * sut.duration_ms(after_ms)) + sut.slack_ms(after_ms))
    after = Attempt(peer)
    for _ in range(TRIES):  # a start takes time, too
        if after.outcome == SERVED:
            break
        pass_time(peer, sut.response_timeout_ms // TRIES)
        after = Attempt(peer)
    return before.outcome, after.outcome, [*before.evidence, *after.evidence]


@needs("environment", "restart", "set_timers", "send", "receive", "queue_control")
@covers(*STOPPED, *RETRIED, *FIRST)
def test_a_store_beyond_repair_stops_it_until_somebody_repairs_it(peer, sut, judge):
    """Started on a store that makes no sense it serves neither sessions nor applications. The store is repaired: after
    120 seconds it has started by itself, with the message that it kept.
    """
    queue = _damaged(peer, sut, judge, (*STOPPED, *RETRIED, *FIRST))
    if queue is None:
        return
    stopped = Attempt(peer)
    observed = (stopped.outcome, asked(sut, "peek", queue=queue))
    for rule in STOPPED:
        judge(rule, expected=(NOT_SERVED, REFUSED), observed=observed, evidence=stopped.evidence)
    sut.change_environment(store=True)
    before, after, evidence = _tried_at(peer, sut, FIRST_MS)
    for rule in RETRIED:
        judge(rule, expected=SERVED, observed=after, evidence=evidence)
    for rule in FIRST:
        judge(rule, expected=f"{NOT_SERVED}, then {SERVED}", observed=f"{before}, then {after}", evidence=evidence)
    there = labels(sut, queue) if asked(sut, "get_queue", name=queue) == DONE else []
    judge("MQSO-5.5.5-03", expected=["kept"], observed=there, evidence=evidence)


@needs("environment", "restart", "set_timers", "send", "receive", "queue_control")
@covers("MQSO-5.5.5-03", *LATER)
def test_later_attempts_are_further_apart(peer, sut, judge):
    """The store is repaired after the first retry, which fails: the next one is 900 seconds later."""
    rules = ("MQSO-5.5.5-03", *LATER)
    if _damaged(peer, sut, judge, rules) is None:
        return
    _, still, evidence = _tried_at(peer, sut, FIRST_MS)
    judge("MQSO-5.5.5-03", expected=NOT_SERVED, observed=still, evidence=evidence)
    sut.change_environment(store=True)
    before, after, evidence = _tried_at(peer, sut, LATER_MS)
    for rule in LATER:
        judge(rule, expected=f"{NOT_SERVED}, then {SERVED}", observed=f"{before}, then {after}", evidence=evidence)


@needs("environment", "restart", "send", "receive", "queue_control")
@covers("MQSO-5.5.5-02")
def test_what_can_be_repaired_is_repaired_before_anything_else(peer, sut, judge):
    """Started on a store that contradicts itself about its queues, the SUT has the queue that it had, with its message,
    and a new one beside it, each of a name of its own: also after one more start.
    """
    queue = sut.new_queue("had")
    send_here(sut, queue, ["kept"], delivery="recoverable")
    sut.change_environment(configuration=False)
    sut.control.call("restart")
    attempt = Attempt(peer)
    if attempt.outcome != SERVED:
        judge.not_exercised("MQSO-5.5.5-02", "the SUT cannot repair this: it stops, as MS-MQSO 5.5.5 has it then")
        return
    if asked(sut, "get_queue", name=queue) != DONE:
        judge("MQSO-5.5.5-02", expected="the queue that it had", observed="no queue", evidence=attempt.evidence)
        return
    new = sut.new_queue("made")
    for name, label in ((new, "new"), (queue, "again")):
        sut.send(sut.private_format_name(name), label=label, body=label, delivery="recoverable")
    for _ in range(2):
        observed = [labels(sut, name) if asked(sut, "get_queue", name=name) == DONE else [] for name in (queue, new)]
        judge("MQSO-5.5.5-02", expected=[["kept", "again"], ["new"]], observed=observed, evidence=attempt.evidence)
        sut.restart()
    sut.change_environment(configuration=True)
