"""MS-MQQP 3.2.4.9 Closing a Queue."""

from __future__ import annotations

from harness.expectations import facts, fields
from harness.judging.verdicts import Verdict
from harness.run.marks import covers, needs
from suites.mqqp.steps.reader import Reader, Reading


@needs("remote_read")
@covers("MQQP-3.2.4.9-02", "MQQP-3.2.4.9-05", "MQQP-3.2.4.9-06")
def test_client_closes_queue_that_application_names(peer, sut, judge):
    """Two queues are open, each with a cursor, and the application closes the first queue: the SUT sends one
    RemoteQMCloseQueue with the context handle of that queue. The second queue can still be read by its cursor.
    """
    reader = Reader(peer, sut)
    first = reader.open()
    reader.open_cursor(first)
    reader.return_other_handles()
    kept = reader.open_cursor(reader.open())
    reader.begin("remote_close", remote=first)
    calls = reader.server.wait("RemoteQMCloseQueue")
    evidence = [frame for call in calls for frame in call.evidence]
    judge(
        "MQQP-3.2.4.9-05",
        expected=1,
        case="number of calls of RemoteQMCloseQueue",
        observed=len(calls),
        evidence=evidence,
    )
    found = [bytes(call.into.pphContext).hex() for call in calls if call.into is not None]
    judge(
        "MQQP-3.2.4.9-02",
        "MQQP-3.2.4.9-06",
        expected=[Reader.SESSION_HANDLE.hex()],
        case="handle in RemoteQMCloseQueue",
        observed=found,
        evidence=evidence,
    )
    judge.conclude("MQQP-3.2.4.9-05", "MQQP-3.2.4.9-06")
    reader.begin("remote_receive", cursor=kept, timeout_ms=Reader.TIMEOUT_MS).wait()
    reads = reader.reads()
    expected = [fields(hRemoteQueue=Reader.OTHER_QUEUE_HANDLE, hCursor=Reader.CURSOR)]
    judge("MQQP-3.2.4.9-02", expected=expected, observed=list(map(reader.get_read_description, reads)), evidence=reads)


@needs("remote_read")
@covers("MQQP-3.2.4.9-03", "MQQP-3.2.4.9-04")
def test_client_cancels_reads_of_closed_queue_by_their_ids(peer, sut, judge):
    """Two reads wait when the application closes the queue: each RemoteQMCancelReceive that the SUT sends contains the
    phQueue of the queue and the dwRequestID of one of the two reads.
    """
    reader = Reader(peer, sut)
    remote = reader.open()
    reader.let_reads_wait()
    reader.begin_long_reads(Reading.RECEIVE, remote, 2)
    reads = reader.reads()
    reader.begin("remote_close", remote=remote).wait()
    cancels = reader.server.named("RemoteQMCancelReceive")
    if not cancels:
        judge.give_up(
            Verdict.NOT_APPLICABLE, "the SUT does not cancel reads before it closes a queue, which is allowed"
        )
        return
    evidence = [*reads, *cancels]
    named = [call.into.hQueue for call in cancels if call.into is not None]
    judge(
        "MQQP-3.2.4.9-03",
        expected=[Reader.QUEUE_HANDLE] * len(cancels),
        case="hQueue",
        observed=named,
        evidence=evidence,
    )
    asked = {call.into.dwRequestID for call in cancels if call.into is not None}
    of_a_read = len(asked & {reader.get_read_description(call).dwRequestID for call in reads})
    case = "number of calls of RemoteQMCancelReceive with the dwRequestID of a pending read"
    judge("MQQP-3.2.4.9-04", expected=len(cancels), observed=of_a_read, case=case, evidence=evidence)


@needs("remote_read", "inspect")
@covers("MQQP-3.2.4.9-07")
def test_client_removes_entry_of_closed_queue(peer, sut, judge):
    """RemoteOpenQueueEntryCollection contains one entry while the queue is open, and is empty after the queue is
    closed.
    """
    reader = Reader(peer, sut)
    remote = reader.open()
    before = len(reader.open_queue_entries())
    reader.begin("remote_close", remote=remote).wait()
    after = len(reader.open_queue_entries())
    evidence = reader.await_first_call("RemoteQMCloseQueue").evidence
    judge(
        "MQQP-3.2.4.9-07",
        expected=facts(number_of_entries_before_the_close=1, number_of_entries_after_the_close=0),
        observed={"number_of_entries_before_the_close": before, "number_of_entries_after_the_close": after},
        evidence=evidence,
    )
