"""REGRESSIONS 831160: the message that a remote read returns after other reads of the same client."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.peer.association import Call
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import Action, Method

LONG_READ_TIMEOUT_MS = 600_000


@needs("qm2qm")
@covers("REGRESSIONS-831160-01")
@pytest.mark.parametrize("by", [Method.START_RECEIVE, Method.START_RECEIVE2])
def test_remote_read_returns_first_message_after_other_reads(remote, judge, by):
    """A client cancels a receive, peeks, and ends receives with RR_NACK: each later remote read returns the first
    message. Each call is made only after the answer to the previous call, so that only one answer is correct.
    """
    queue = remote.open()
    number = remote.request_id()
    waits = queue.begin(Action.RECEIVE, by=by, ulTimeout=LONG_READ_TIMEOUT_MS, dwRequestID=number)
    if waits.state_after_silence() != Call.WAITING:
        raise ConformanceFailure("a receive from an empty queue of the SUT is not pending")
    queue.cancel(number).expect_success()
    waits.wait()
    remote.deliver(["first", "second", "third"])
    calls = []
    for _ in range(2):
        calls.append(queue.peek(by=by))
        calls.append(queue.start_receive(by=by))
        queue.put_message_back(calls[-1]).expect_success()
    for _ in range(2):
        calls.append(queue.start_receive(by=by))
        queue.acknowledge(calls[-1]).expect_success()
    judge(
        "REGRESSIONS-831160-01",
        expected=["first", "first", "first", "first", "first", "second"],
        observed=[call.label_or_outcome for call in calls],
        evidence=calls,
        case="labels returned by the reads",
    )
    judge.conclude("REGRESSIONS-831160-01")
    queue.receive(by=by)
