"""MS-MQQP 3.2.1.2 PendingRemoteReadEntryCollection, 3.2.1.4 RemoteOpenQueueEntryCollection."""

from __future__ import annotations

from harness.expectations import any_order
from harness.run.marks import covers, needs
from suites.mqqp.steps.reader import Reader, Reading, build_numbered_handles


@needs("remote_read", "inspect")
@covers("MQQP-3.2.1.2-01", "MQQP-3.2.1.4-01")
def test_client_keeps_entries_of_open_queues_and_pending_reads(peer, sut, judge):
    """The SUT has opened and closed a queue. Then it opens three queues, the last one to peek, and two receives and
    three peeks wait: a peek without a cursor, a peek by a cursor, and a second peek at one of the queues.
    PendingRemoteReadEntryCollection contains five entries, with the dwRequestIDs of the reads.
    RemoteOpenQueueEntryCollection contains three entries, with the phQueues of the queues.
    """
    reader = Reader(peer, sut)
    reader.leave_start_receives_unanswered()
    reader.begin("remote_close", remote=reader.open()).wait()
    remotes = [reader.open(), reader.open(), reader.open(access="peek")]
    pending = (
        (Reading.RECEIVE, remotes[0]),
        (Reading.PEEK, remotes[1]),
        (Reading.RECEIVE, remotes[1]),
        (Reading.PEEK, remotes[2]),
        (Reading.PEEK_CURRENT_BY_CURSOR, remotes[2]),
    )
    for count, (reading, remote) in enumerate(pending, start=1):
        reader.begin_read(reading, remote, Reader.LONG_TIMEOUT_MS)
        reader.await_start_receives(count)
    calls = reader.reads()
    asked = any_order(*(reader.get_read_description(call).dwRequestID for call in calls))
    kept = [entry["RequestId"] for entry in reader.list_pending_read_entries()]
    judge("MQQP-3.2.1.2-01", expected=asked, case="RequestIds of the entries", observed=kept, evidence=calls)
    judge.conclude("MQQP-3.2.1.2-01")
    handles = [entry["OpenQueueDescriptorHandle"] for entry in reader.list_open_queue_entries()]
    judge(
        "MQQP-3.2.1.4-01",
        expected=any_order(*(build_numbered_handles(number).queue for number in (1, 2, 3))),
        case="queue handles of the entries",
        observed=handles,
        evidence=calls,
    )
