"""MS-MQQP 3.1.2 Timers: the timer of a waiting call."""

from __future__ import annotations

import pytest

from harness.expectations import between, each
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import Method

pytestmark = needs("qm2qm")

SHORT_MS, LONGER_MS, LATER_MS = 400, 900, 1_300
TIMEOUT_OUTCOME = "ended without a message"


def describe_end(read):
    """Return the text for a read whose timeout expired."""
    return TIMEOUT_OUTCOME if read.failed else read.label_or_outcome


RULES_OF_WAITING_READS = (
    *("MQQP-3.1.2-02", "MQQP-3.1.2-03", "MQQP-2.2.2.1-D01"),
    *("MQDMPR-3.1.2.3-01", "MQDMPR-3.1.2.3-02"),
)
"""The rules about the duration of a wait."""
RULES_OF_ENDED_READS = ("MQQP-3.1.2-01", "MQDMPR-3.1.2.3-D01")
"""The rules about the end of a wait."""


@covers(*RULES_OF_WAITING_READS, *RULES_OF_ENDED_READS)
@pytest.mark.parametrize("by", [Method.START_RECEIVE, Method.START_RECEIVE2])
def test_waiting_reads_end_after_their_own_timeouts(remote, judge, by):
    """In an empty queue, a receive with timeout 0 fails at once, and receives with timeouts of 400 ms and 900 ms fail
    after these times. A further receive gets a message; a later receive with a timeout of 1,300 ms waits for the whole
    timeout.
    """
    queue = remote.open()
    at_once = queue.start_receive(by=by)
    began_ms = remote.peer.recorder.elapsed_ms()
    longer, shorter = (queue.begin_receive(by=by, ulTimeout=timeout_ms) for timeout_ms in (LONGER_MS, SHORT_MS))
    waits = ((shorter, SHORT_MS), (longer, LONGER_MS))
    took = {timeout_ms: await_end(remote, read, timeout_ms, began_ms) for read, timeout_ms in waits}
    outcomes = {"at once": describe_end(at_once), "shorter": describe_end(shorter), "longer": describe_end(longer)}
    evidence = [*shorter.evidence, *longer.evidence]
    judge(*RULES_OF_ENDED_READS, expected=each(TIMEOUT_OUTCOME, "read"), observed=outcomes, evidence=evidence)
    judge_waits(remote, judge, took, evidence)
    satisfied = queue.begin_receive(by=by, ulTimeout=LONGER_MS)
    remote.deliver(["first"])
    satisfied.wait()
    if satisfied.failed:
        return  # the message came later than the read could wait
    queue.acknowledge(satisfied)
    began_ms = remote.peer.recorder.elapsed_ms()
    later = queue.begin_receive(by=by, ulTimeout=LATER_MS)
    judge_waits(remote, judge, {LATER_MS: await_end(remote, later, LATER_MS, began_ms)}, later.evidence)


def await_end(remote, read, timeout_ms, began_ms):
    """Wait for the end of a read; return the time from the given instant to the end."""
    read.wait(timeout_ms + remote.sut.response_timeout_ms)
    return remote.peer.took(began_ms)


def judge_waits(remote, judge, took, evidence):
    """Judge how long reads waited; ``took`` maps each ulTimeout to the measured duration."""
    slack_ms = remote.sut.slack_ms(0)
    for timeout_ms, passed in took.items():
        expected = between(*passed.allowed(timeout_ms - 5, timeout_ms + slack_ms))
        judge(
            *RULES_OF_WAITING_READS,
            expected=expected,
            case="duration of the wait in ms",
            observed=passed.ms,
            evidence=evidence,
        )
