"""MS-MQQP 3.2.1.2 PendingRemoteReadEntryCollection, 3.2.1.4 RemoteOpenQueueEntryCollection."""

from __future__ import annotations

from harness.expectations import any_order
from harness.run.marks import covers, needs
from suites.mqqp.steps.reader import QUEUE_HANDLE, Reader, description
from suites.mqqp.steps.reads import PEEKING, READ_TIMEOUT_MS, RECEIVING


@needs("remote_read", "inspect")
@covers("MQQP-3.2.1.2-01", "MQQP-3.2.1.4-01")
def test_what_is_open_and_what_is_pending_is_kept(peer, sut, judge):
    """Two queues are open; a receive and a peek wait: two entries in each collection, with their identifiers."""
    reader = Reader(peer, sut)
    reader.let_reads_wait()
    first, second = reader.open(), reader.open()
    for reading, remote in ((RECEIVING, first), (PEEKING, second)):
        reading.begin(reader, remote, READ_TIMEOUT_MS)
    calls = reader.await_reads(2)
    asked = any_order(*(description(call).dwRequestID for call in calls))
    kept = [entry["RequestId"] for entry in reader.pending()]
    judge("MQQP-3.2.1.2-01", expected=asked, observed=kept, evidence=calls)
    judge.conclude("MQQP-3.2.1.2-01")
    handles = [entry["OpenQueueDescriptorHandle"] for entry in reader.opened()]
    judge("MQQP-3.2.1.4-01", expected=[QUEUE_HANDLE] * 2, observed=handles, evidence=calls)
