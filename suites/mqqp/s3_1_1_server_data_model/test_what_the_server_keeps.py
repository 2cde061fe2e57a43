"""MS-MQQP 3.1.1.5 OpenQueueEntryCollection, 3.1.2 Timers, 3.1.6 Other Local Events: entries, call timers, rundown."""

from __future__ import annotations

import pytest

from harness.peer.remote import START, START2
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import PEEK_CURRENT, RECEIVE
from harness.wire.rpc_qmcomm import DENY_RECEIVE
from suites.mqqb.steps.opening import Between
from suites.mqqp.steps.reading import FIRST, SECOND, filled, told

pytestmark = needs("qm2qm")

SHORT_MS, LONGER_MS = 400, 900
TIMED_OUT = "ended without a message"


def timed_out(read) -> str:
    """Say how a read ended whose time was over."""
    return TIMED_OUT if read.failed else told(read)


@covers("MQQP-3.1.1.5-01", "MQQP-3.1.1.5-02", "MQQP-3.1.1.5-03")
def test_openings_are_kept_apart(remote, judge):
    """Of three openings by two clients one is closed: it cannot be read any more, each of the others can."""
    queue = filled(remote, FIRST)
    second = remote.open(association=queue.association)
    third = remote.open()
    every = [told(one.read(PEEK_CURRENT)) for one in (queue, second, third)]
    evidence = [frame for one in (queue, second, third) for frame in one.session.evidence]
    judge("MQQP-3.1.1.5-03", expected=[FIRST] * 3, observed=every, evidence=evidence)
    closed = second.close()
    after = [told(one.read(PEEK_CURRENT)) for one in (queue, second, third)]
    expected = [FIRST, "MQ_ERROR_INVALID_PARAMETER", FIRST]
    evidence += closed.evidence
    judge("MQQP-3.1.1.5-01", expected=[FIRST, expected[1]], observed=[every[1], after[1]], evidence=evidence)
    judge("MQQP-3.1.1.5-02", expected=expected, observed=after, evidence=evidence)


@covers("MQQP-3.1.2-01", "MQQP-3.1.2-02", "MQQP-3.1.2-03")
@pytest.mark.parametrize("by", [START, START2])
def test_each_call_has_a_timer_of_its_own(remote, judge, by):
    """Two reads wait, each for its ulTimeout in milliseconds; one without a time-out does not."""
    queue = filled(remote)
    at_once = queue.read(RECEIVE, by=by)
    began_ms = remote.peer.environment.now().monotonic_ms
    longer, shorter = (queue.begin(RECEIVE, by=by, ulTimeout=timeout_ms) for timeout_ms in (LONGER_MS, SHORT_MS))
    took = {}
    for read, timeout_ms in ((shorter, SHORT_MS), (longer, LONGER_MS)):
        read.wait(timeout_ms + remote.sut.response_timeout_ms)
        took[timeout_ms] = remote.peer.environment.now().monotonic_ms - began_ms
    outcomes = [timed_out(read) for read in (at_once, shorter, longer)]
    evidence = [*shorter.evidence, *longer.evidence]
    judge("MQQP-3.1.2-01", expected=[TIMED_OUT] * 3, observed=outcomes, evidence=evidence)
    slack_ms = remote.sut.slack_ms(0)
    for timeout_ms, passed_ms in took.items():
        for rule in ("MQQP-3.1.2-02", "MQQP-3.1.2-03"):
            judge(rule, expected=Between(timeout_ms - 5, timeout_ms + slack_ms), observed=passed_ms, evidence=evidence)


@covers("MQQP-3.1.6.1-01")
def test_a_client_that_is_gone_leaves_no_queue_open(remote, judge):
    """It had the queue for itself and a read that waited; its connection ends; another opens the queue."""
    queue = filled(remote, FIRST, share=DENY_RECEIVE)
    queue.close_context()
    other = remote.associate()
    refused = remote.open_remote(other, share=DENY_RECEIVE)
    queue.association.close()
    remote.peer.environment.run_until(lambda: False, remote.sut.quiet_ms)
    opened = remote.open_remote(other, share=DENY_RECEIVE)
    observed = ["refused" if refused.failed else refused.outcome, opened.outcome]
    evidence = [*refused.evidence, *opened.evidence]
    judge("MQQP-3.1.6.1-01", expected=["refused", "MQ_OK"], observed=observed, evidence=evidence)


@covers("MQQP-3.1.6.2-01", "MQQP-3.1.6.2-02")
def test_a_client_that_is_gone_gives_its_message_back(remote, judge):
    """It received the first message and did not end that; its connection ends; another receives the same."""
    queue = filled(remote, FIRST, SECOND)
    other = remote.open()
    received = queue.read(RECEIVE)
    hidden = told(other.read(PEEK_CURRENT))
    queue.association.close()
    remote.peer.environment.run_until(lambda: False, remote.sut.quiet_ms)
    again = other.read(RECEIVE)
    observed = [told(received), hidden, told(again)]
    for rule in ("MQQP-3.1.6.2-01", "MQQP-3.1.6.2-02"):
        judge(rule, expected=[FIRST, SECOND, FIRST], observed=observed, evidence=[*received.evidence, *again.evidence])
    other.end(again)
