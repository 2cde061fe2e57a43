"""MS-MQQP 3.2.4.7 Canceling a Pending Peek or Receive."""

from __future__ import annotations

import pytest

from harness.expectations import facts
from harness.run.marks import covers, needs
from suites.mqqp.steps.reader import Reader, Reading


@needs("remote_read")
@pytest.mark.parametrize("reading", [Reading.PEEK, Reading.RECEIVE], ids=["peek", "receive"])
@covers("MQQP-3.2.4.7-02", "MQQP-3.2.4.7-03", "MQQP-3.2.4.7-04", "MQQP-3.2.4.7-05", "MQQP-3.2.4.7-06")
def test_client_cancels_read_that_application_names(peer, sut, judge, reading):
    """Two queues are open, two reads wait at the first queue, and the application cancels one of these reads: the SUT
    sends one RemoteQMCancelReceive with the dwRequestID of that read and the handles of its queue.
    """
    reader = Reader(peer, sut)
    remote = reader.open()
    reader.return_other_handles()
    reader.open()
    reader.let_reads_wait()
    requests = reader.begin_long_reads(reading, remote, 2)
    first, second = reader.reads()
    reader.begin("cancel", request=requests[0].number)
    cancels = reader.server.wait("RemoteQMCancelReceive")
    evidence = [frame for call in (first, second, *cancels) for frame in call.frames[:1]]
    judge(
        "MQQP-3.2.4.7-03",
        expected=1,
        case="number of calls of RemoteQMCancelReceive",
        observed=len(cancels),
        evidence=evidence,
    )
    for rule, name, expected in (
        ("MQQP-3.2.4.7-02", "dwRequestID", reader.get_read_description(first).dwRequestID),
        ("MQQP-3.2.4.7-04", "hQueue", Reader.QUEUE_HANDLE),
        ("MQQP-3.2.4.7-05", "pQueue", Reader.QUEUE_DESCRIPTOR),
        ("MQQP-3.2.4.7-06", "dwRequestID", reader.get_read_description(first).dwRequestID),
    ):
        found = [getattr(call.into, name) for call in cancels if call.into is not None]
        judge(rule, expected=[expected], observed=found, evidence=evidence, case=f"{name} in RemoteQMCancelReceive")


@needs("remote_read", "inspect")
@covers("MQQP-3.2.4.7-07")
def test_cancelled_read_is_removed_from_pending_reads(peer, sut, judge):
    """PendingRemoteReadEntryCollection contains one entry while a read waits, and is empty after the peer has answered
    RemoteQMCancelReceive, although the peer has not answered the read.
    """
    reader = Reader(peer, sut)
    remote = reader.open()
    reader.let_reads_wait()
    reader.server.answers["RemoteQMCancelReceive"] = lambda call: call.respond()
    request = reader.begin_read(Reading.RECEIVE, remote, Reader.LONG_TIMEOUT_MS)
    read = reader.await_reads()[0]
    before = len(reader.pending_read_entries())
    reader.begin("cancel", request=request.number).wait()
    after = len(reader.pending_read_entries())
    evidence = [*read.evidence, *reader.await_first_call("RemoteQMCancelReceive").evidence]
    judge(
        "MQQP-3.2.4.7-07",
        expected=facts(number_of_entries_before_the_cancel=1, number_of_entries_after_the_cancel=0),
        observed={"number_of_entries_before_the_cancel": before, "number_of_entries_after_the_cancel": after},
        evidence=evidence,
    )
    judge.conclude()
    reader.answer_read(read, None, Reader.CANCELED)
    request.wait()
