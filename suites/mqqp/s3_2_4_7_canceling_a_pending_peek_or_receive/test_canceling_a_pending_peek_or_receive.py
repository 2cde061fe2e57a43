"""MS-MQQP 3.2.4.7 Canceling a Pending Peek or Receive."""

from __future__ import annotations

import pytest

from harness.expectations import facts
from harness.run.marks import covers, needs
from suites.mqqp.steps.reader import CANCELED, QUEUE_DESCRIPTOR, QUEUE_HANDLE, Reader, description, give
from suites.mqqp.steps.reads import PEEKING, READ_TIMEOUT_MS, RECEIVING


@needs("remote_read")
@pytest.mark.parametrize("reading", [PEEKING, RECEIVING], ids=["peek", "receive"])
@covers("MQQP-3.2.4.7-02", "MQQP-3.2.4.7-03", "MQQP-3.2.4.7-04", "MQQP-3.2.4.7-05", "MQQP-3.2.4.7-06")
def test_the_pending_read_that_is_meant_is_cancelled(peer, sut, judge, reading):
    """Two reads wait, the first is cancelled: RemoteQMCancelReceive names it and its queue."""
    reader = Reader(peer, sut)
    remote = reader.open()
    reader.let_reads_wait()
    requests = reading.begin_in_turn(reader, remote, 2)
    first, second = reader.reads()
    reader.begin("cancel", request=requests[0].number)
    cancels = reader.server.wait("RemoteQMCancelReceive")
    evidence = [frame for call in (first, second, *cancels) for frame in call.frames[:1]]
    judge("MQQP-3.2.4.7-03", expected=1, observed=len(cancels), evidence=evidence)
    for rule, name, expected in (
        ("MQQP-3.2.4.7-02", "dwRequestID", description(first).dwRequestID),
        ("MQQP-3.2.4.7-04", "hQueue", QUEUE_HANDLE),
        ("MQQP-3.2.4.7-05", "pQueue", QUEUE_DESCRIPTOR),
        ("MQQP-3.2.4.7-06", "dwRequestID", description(first).dwRequestID),
    ):
        found = [getattr(call.into, name) for call in cancels if call.into is not None]
        judge(rule, expected=[expected], observed=found, evidence=evidence)


@needs("remote_read", "inspect")
@covers("MQQP-3.2.4.7-07")
def test_a_cancelled_read_is_pending_no_more(peer, sut, judge):
    """One entry while the read waits; none when RemoteQMCancelReceive has been answered, though the read has not."""
    reader = Reader(peer, sut)
    remote = reader.open()
    reader.let_reads_wait()
    reader.server.answers["RemoteQMCancelReceive"] = lambda call: call.respond()
    request = RECEIVING.begin(reader, remote, READ_TIMEOUT_MS)
    read = reader.await_reads()[0]
    before = len(reader.pending())
    reader.begin("cancel", request=request.number).wait()
    after = len(reader.pending())
    evidence = [*read.evidence, *reader.one("RemoteQMCancelReceive").evidence]
    judge(
        "MQQP-3.2.4.7-07",
        expected=facts(before=1, after=0),
        observed={"before": before, "after": after},
        evidence=evidence,
    )
    judge.conclude()
    give(read, None, CANCELED)
    request.wait()
