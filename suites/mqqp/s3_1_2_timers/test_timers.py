"""MS-MQQP 3.1.2 Timers: the timer of a call that waits."""

from __future__ import annotations

import pytest

from harness.peer.association import Call
from harness.peer.remote import START, START2
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import RECEIVE
from suites.mqqb.steps.opening import Between
from suites.mqqp.steps.reading import FIRST, brought, deliver, filled

pytestmark = needs("qm2qm")

SHORT_MS, LONGER_MS = 400, 900
TIMED_OUT = "ended without a message"


def timed_out(read: Call) -> str:
    """Describe how a read ended whose time was over."""
    return TIMED_OUT if read.failed else brought(read)


@covers("MQQP-3.1.2-01", "MQQP-3.1.2-02", "MQQP-3.1.2-03", "MQQP-2.2.2.1-D01")
@pytest.mark.parametrize("by", [START, START2])
def test_each_call_has_a_timer_of_its_own(remote, judge, by):
    """Two reads wait, each for its ulTimeout in milliseconds; one without a time-out does not. That of a read that got
    its message before is over with it.
    """
    queue = filled(remote)
    satisfied = queue.begin(RECEIVE, by=by, ulTimeout=SHORT_MS)
    deliver(remote, [FIRST])
    queue.end(satisfied.wait().settled()).settled()
    at_once = queue.read(RECEIVE, by=by)
    began_ms = remote.peer.environment.now().monotonic_ms
    longer, shorter = (queue.begin(RECEIVE, by=by, ulTimeout=timeout_ms) for timeout_ms in (LONGER_MS, SHORT_MS))
    took = {}
    for read, timeout_ms in ((shorter, SHORT_MS), (longer, LONGER_MS)):
        read.wait(timeout_ms + remote.sut.response_timeout_ms)
        took[timeout_ms] = remote.peer.environment.now().monotonic_ms - began_ms
    outcomes = [brought(satisfied), *(timed_out(read) for read in (at_once, shorter, longer))]
    evidence = [*shorter.evidence, *longer.evidence]
    judge("MQQP-3.1.2-01", expected=[FIRST, *[TIMED_OUT] * 3], observed=outcomes, evidence=evidence)
    slack_ms = remote.sut.slack_ms(0)
    for timeout_ms, passed_ms in took.items():
        for rule in ("MQQP-3.1.2-02", "MQQP-3.1.2-03", "MQQP-2.2.2.1-D01"):
            judge(rule, expected=Between(timeout_ms - 5, timeout_ms + slack_ms), observed=passed_ms, evidence=evidence)
