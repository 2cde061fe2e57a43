"""MS-MQQP 3.2.1.2 PendingRemoteReadEntryCollection, 3.2.1.4 RemoteOpenQueueEntryCollection."""

from __future__ import annotations

from harness.expectations import any_order
from harness.run.marks import covers, needs
from suites.mqqp.steps.reader import Reader, Reading


@needs("remote_read", "inspect")
@covers("MQQP-3.2.1.2-01", "MQQP-3.2.1.4-01")
def test_client_keeps_entries_of_open_queues_and_pending_reads(peer, sut, judge):
    """The SUT opens three queues, and two receives and a peek wait. PendingRemoteReadEntryCollection contains three
    entries, with the dwRequestIDs of the reads. RemoteOpenQueueEntryCollection contains three entries, with the
    phQueues of the queues.
    """
    reader = Reader(peer, sut)
    reader.leave_start_receives_unanswered()
    remotes = [reader.open() for _ in range(3)]
    for reading, remote in zip((Reading.RECEIVE, Reading.PEEK, Reading.RECEIVE), remotes, strict=True):
        reader.begin_read(reading, remote, Reader.LONG_TIMEOUT_MS)
    calls = reader.await_start_receives(3)
    asked = any_order(*(reader.get_read_description(call).dwRequestID for call in calls))
    kept = [entry["RequestId"] for entry in reader.list_pending_read_entries()]
    judge("MQQP-3.2.1.2-01", expected=asked, case="RequestIds of the entries", observed=kept, evidence=calls)
    judge.conclude("MQQP-3.2.1.2-01")
    handles = [entry["OpenQueueDescriptorHandle"] for entry in reader.list_open_queue_entries()]
    judge(
        "MQQP-3.2.1.4-01",
        expected=any_order(Reader.FIRST.queue, Reader.SECOND.queue, Reader.THIRD.queue),
        case="queue handles of the entries",
        observed=handles,
        evidence=calls,
    )
