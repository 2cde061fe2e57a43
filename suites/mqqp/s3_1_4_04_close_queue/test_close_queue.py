"""MS-MQQP 3.1.4.4 RemoteQMCloseQueue: the end of an open queue, and of the reads that wait at it."""

from __future__ import annotations

from typing import Any

import pytest

from harness.expectations import each, facts, holds, none
from harness.peer.association import Call
from harness.peer.remote import RemoteQueue
from harness.run.marks import covers, needs, varied
from harness.wire.rpc_qm2qm import Action, Method
from harness.wire.rpc_qmcomm import DENY_RECEIVE, PEEK_ACCESS

pytestmark = needs("qm2qm")

INVALID_HANDLE_STATUS = "MQ_ERROR_INVALID_HANDLE"
UNKNOWN_CONTEXT_FAULT = "fault nca_s_fault_context_mismatch"
LONG_READ_TIMEOUT_MS = 600_000
INFINITE_READ_TIMEOUT_MS = 0xFFFF_FFFF


@covers(
    "MQQP-3.1.4.4-01",
    "MQQP-3.1.4.4-03",
    "MQQP-3.1.4.4-05",
    "MQQP-3.1.4.4-06",
    "MQQP-3.1.4.4-07",
    "MQQP-3.1.4.4-12",
    "MQQP-3.1.4.4-13",
    "MQQP-3.1.4.4-15",
    "MQQP-3.1.4.4-16",
    "MQQP-3.1.4.4-17",
    "MQQP-3.1.4.3-19",
)
def test_closed_queue_is_free_and_its_handle_unknown(remote, judge):
    """A client opens a queue exclusively. A second client cannot open it until the first client has called
    RemoteQMCloseQueue, which happens while a cursor is open and a read waits. The call returns the handle NULL;
    afterwards, the old handle is unknown, peeks are refused, and the second client can open and read the queue. A
    second queue of the first client stays open. A third queue, which the first client opened exclusively to peek, also
    stays open until that client closes it.
    """
    queue = remote.open_with_messages("first", share=DENY_RECEIVE)
    admin = remote.open("admin", association=queue.association)
    peeked = remote.open("transactional", association=queue.association, access=PEEK_ACCESS, share=DENY_RECEIVE)
    cursor = queue.open_cursor()
    queue.peek(hCursor=cursor).expect_success()
    queue.begin(Action.PEEK_NEXT, hCursor=cursor, ulTimeout=LONG_READ_TIMEOUT_MS)
    other = remote.associate()
    refused = remote.open_remote(other, share=DENY_RECEIVE)
    refused_too = remote.open_remote(other, "transactional")
    nothing = [queue.association.call("RemoteQMCloseQueue", pphContext=queue.NULL_HANDLE) for _ in range(2)]
    after_it = [queue.peek().label_or_outcome, remote.open_remote(other, "transactional").failed]
    judge(
        "MQQP-3.1.4.4-05",
        expected=facts(
            closes_with_a_null_handle=each(INVALID_HANDLE_STATUS), later_peek="first", other_opening_fails=True
        ),
        observed={
            "closes_with_a_null_handle": [one.outcome for one in nothing],
            "later_peek": after_it[0],
            "other_opening_fails": after_it[1],
        },
        evidence=nothing,
    )
    closed = queue.close()
    judge(
        "MQQP-3.1.4.4-03",
        "MQQP-3.1.4.4-17",
        expected="MQ_OK",
        observed=closed.outcome,
        evidence=closed.evidence,
        case="close of the queue",
    )
    handle = bytes(closed.out.pphContext) if closed.out is not None else b""
    judge(
        "MQQP-3.1.4.4-16", expected=queue.NULL_HANDLE, case="returned handle", observed=handle, evidence=closed.evidence
    )
    again = queue.close()
    judge(
        "MQQP-3.1.4.4-15",
        expected=UNKNOWN_CONTEXT_FAULT,
        observed=again.outcome,
        evidence=again.evidence,
        case="second close by the old handle",
    )
    read = queue.peek()
    judge(
        "MQQP-3.1.4.4-07",
        expected="MQ_ERROR_INVALID_PARAMETER",
        observed=read.outcome,
        evidence=read.evidence,
        case="read of the closed queue",
    )
    late = [read, queue.start_receive(), queue.peek(by=Method.START_RECEIVE), queue.purge()]
    judge(
        "MQQP-3.1.4.4-15",
        expected=each(True, "call with the handle of the closed queue is refused"),
        observed=[one.is_refused for one in late],
        evidence=late,
    )
    taken = remote.open_remote(other, share=DENY_RECEIVE)
    still_refused = remote.open_remote(other, "transactional")
    peeked.close()
    taken_too = remote.open_remote(other, "transactional")
    read_of_peeked = peeked.peek()
    judge(
        "MQQP-3.1.4.4-07",
        expected="MQ_ERROR_INVALID_PARAMETER",
        observed=read_of_peeked.outcome,
        evidence=read_of_peeked.evidence,
        case="read of the closed queue that was opened to peek",
    )
    opened_again = RemoteQueue(remote, other, taken, settled=False).peek() if taken.outcome == "MQ_OK" else taken
    before, after = (refused, refused_too, still_refused), (taken, taken_too)
    observed: dict[str, Any] = {
        "before_close": ["refused" if one.failed else one.outcome for one in before],
        "after_close": [one.outcome for one in after],
    }
    observed["read_after_reopening"] = opened_again.label_or_outcome
    judge(
        "MQQP-3.1.4.4-01",
        "MQQP-3.1.4.4-13",
        "MQQP-3.1.4.3-19",
        expected=facts(before_close=each("refused"), after_close=each("MQ_OK"), read_after_reopening="first"),
        observed=observed,
        evidence=[*before, *after],
    )
    still = admin.peek()
    seen = (still.failed and still.outcome != "MQ_ERROR_INVALID_PARAMETER") or still.label_or_outcome
    expected = holds("the second queue is open and empty")
    judge("MQQP-3.1.4.4-06", "MQQP-3.1.4.4-12", expected=expected, observed=seen, evidence=still.evidence)


@covers("MQQP-3.1.4.4-06", "MQQP-3.1.4.4-12")
@pytest.mark.parametrize("which", [0, 1, 2], ids=["first", "middle", "last"])
def test_other_handles_of_closed_queue_stay_open(remote, judge, which):
    """A queue has three handles, two of them on one connection. One of the three handles is closed. A cursor and an
    unfinished receive of the other two handles, and peeks through both, continue as before. The SUT refuses a peek
    through the closed handle.
    """
    start = remote.open_with_messages("first", "second", "third")
    handles = [start, remote.open(association=start.association), remote.open()]
    queue = handles.pop(which)
    beside, elsewhere = handles
    received = elsewhere.start_receive()
    own, cursor = queue.open_cursor(), beside.open_cursor()
    at_cursor = [queue.peek(hCursor=own), beside.peek(hCursor=cursor)]
    closed = queue.close()
    reads = [beside.peek(), elsewhere.peek()]
    following = beside.peek_next(hCursor=cursor)
    ended = elsewhere.acknowledge(received)
    observed = {
        "received": received.label_or_outcome,
        "at_cursors": [one.label_or_outcome for one in at_cursor],
        "close": closed.outcome,
        "peeks_by_other_handles": [one.label_or_outcome for one in reads],
        "peek_next_by_other_cursor": following.label_or_outcome,
        "end_of_other_receive": ended.outcome,
        "queue": elsewhere.peek().label_or_outcome,
        "peek_by_closed_handle_is_refused": queue.peek().is_refused,
    }
    expected = facts(
        received="first",
        at_cursors=each("second"),
        close="MQ_OK",
        peeks_by_other_handles=each("second"),
        peek_next_by_other_cursor="third",
        end_of_other_receive="MQ_OK",
        queue="second",
        peek_by_closed_handle_is_refused=True,
    )
    judge.all(expected=expected, observed=observed, evidence=[received, closed, *reads, following, ended])


@covers(
    *("MQQP-3.1.4.4-06", "MQQP-3.1.4.4-12", "MQQP-3.1.4.4-08", "MQQP-3.1.4.4-09"),
    *("MQQP-3.1.1.3-03", "MQQP-3.1.1.3-02", "MQDMPR-3.1.7.1.6-10", "MQQP-3.1.4.4-D01", "MQQP-3.1.4.4-16"),
)
def test_closing_queue_cancels_its_waiting_reads(remote, judge):
    """Four receives wait through one handle of a queue: two with a timeout, one without a timeout, and one by a cursor.
    A fifth receive waits through another handle of the queue, and a sixth waits at a second queue. When the first
    handle is closed, its four receives end without a message, and the other two receives still wait.
    """
    queue = remote.open()
    admin = remote.open("admin", association=queue.association)
    kinds: tuple[dict[str, Any], ...] = (
        {},
        {"by": Method.START_RECEIVE},
        {"ulTimeout": INFINITE_READ_TIMEOUT_MS},
        {"hCursor": queue.open_cursor()},
    )
    reads = [queue.begin_receive(**({"ulTimeout": LONG_READ_TIMEOUT_MS} | kind)) for kind in kinds]
    beside = remote.open().begin_receive(ulTimeout=LONG_READ_TIMEOUT_MS)
    elsewhere = admin.begin_receive(ulTimeout=LONG_READ_TIMEOUT_MS)
    before = [read.state_after_silence() for read in reads]
    closed = queue.close()
    after = [read.wait().outcome for read in reads]
    ends = [
        "cancelled" if read.answered and read.outcome != "MQ_OK" else outcome
        for read, outcome in zip(reads, after, strict=True)
    ]
    evidence = [*closed.evidence, *(frame for read in reads for frame in read.received[:1])]
    observed = {
        "reads_before_the_close": before,
        "close": closed.outcome,
        "reads_after_the_close": ends,
        "read_by_the_other_handle": beside.state_after_silence(),
    }
    expected = facts(
        reads_before_the_close=each(Call.WAITING),
        close="MQ_OK",
        reads_after_the_close=each("cancelled"),
        read_by_the_other_handle=Call.WAITING,
    )
    judge(
        "MQQP-3.1.4.4-08",
        "MQQP-3.1.4.4-09",
        "MQQP-3.1.1.3-03",
        "MQDMPR-3.1.7.1.6-10",
        expected=expected,
        observed=observed,
        evidence=evidence,
    )
    judge.conclude("MQQP-3.1.4.4-08", "MQQP-3.1.4.4-09", "MQQP-3.1.1.3-03", "MQDMPR-3.1.7.1.6-10")
    judge(
        "MQQP-3.1.4.4-D01",
        expected=none("fault"),
        observed=[closed.outcome] if closed.thrown is not None else [],
        evidence=closed.evidence,
        case="close of a queue with waiting reads",
    )
    judge(
        "MQQP-3.1.4.4-16",
        expected=queue.NULL_HANDLE,
        observed=bytes(closed.out.pphContext) if closed.out is not None else b"",
        evidence=closed.evidence,
        case="handle that the close of a queue with waiting reads returns",
    )
    seen = {"reads_of_closed_queue": ends, "read_of_other_queue": elsewhere.state_after_silence()}
    expected = facts(reads_of_closed_queue=each("cancelled"), read_of_other_queue=Call.WAITING)
    judge("MQQP-3.1.1.3-02", expected=expected, observed=seen, evidence=evidence)
    seen = {
        "read_of_other_handle": beside.state_after_silence(),
        "read_of_other_queue": elsewhere.state_after_silence(),
    }
    expected = facts(read_of_other_handle=Call.WAITING, read_of_other_queue=Call.WAITING)
    judge("MQQP-3.1.4.4-06", "MQQP-3.1.4.4-12", expected=expected, observed=seen, evidence=evidence)


@covers("MQQP-3.1.4.4-01", "MQQP-3.1.4.4-07", "MQQP-3.1.4.4-13")
@pytest.mark.parametrize("by_cursor", [False, True], ids=["front", "cursor"])
def test_closed_queue_with_unended_receive_is_free(remote, judge, by_cursor):
    """A client opens a queue exclusively, receives a message, and closes the queue without ending the receive. The SUT
    then refuses a peek through the closed handle, and a second client can open the queue exclusively.
    """
    queue = remote.open_with_messages("first", "second", share=DENY_RECEIVE)
    held = queue.start_receive(hCursor=queue.open_cursor() if by_cursor else 0)
    other = remote.associate()
    refused = remote.open_remote(other, share=DENY_RECEIVE)
    closed, late = queue.close(), queue.peek()
    taken = remote.open_remote(other, share=DENY_RECEIVE)
    observed = {
        "received": held.label_or_outcome,
        "open_before_close_fails": refused.failed,
        "close": closed.outcome,
        "open_after_close": taken.outcome,
        "peek_by_closed_handle": late.outcome,
    }
    expected = facts(
        received="first",
        open_before_close_fails=True,
        close="MQ_OK",
        open_after_close="MQ_OK",
        peek_by_closed_handle="MQ_ERROR_INVALID_PARAMETER",
    )
    judge.all(expected=expected, observed=observed, evidence=[held, refused, closed, taken, late])


@needs("inspect")
@covers("MQQP-3.1.4.4-15")
@pytest.mark.parametrize("which", [0, 1], ids=["first", "second"])
@varied("queue journaling", "queue quota", "queue privacy")
def test_entry_of_closed_queue_is_removed(remote, sut, judge, which):
    """A queue is opened twice, and one of the two handles is closed while a cursor is open, a receive has not ended and
    two reads wait. OpenQueueEntryCollection then contains only the entry of the other handle. When the other handle is
    closed too, the collection contains neither entry.
    """
    queues = [remote.open() for _ in range(2)]
    closed, other = queues[which], queues[1 - which]
    remote.deliver(["first"])
    closed.start_receive().expect_success()
    for cursor in (0, closed.open_cursor()):
        closed.begin_receive(hCursor=cursor, ulTimeout=LONG_READ_TIMEOUT_MS).state_after_silence()

    def list_handles_of_known_entries() -> list[int]:
        entries = sut.inspect()["RemoteReadingServerState"]["OpenQueueEntryCollection"]
        handles = {entry["OpenQueueDescriptorHandle"] for entry in entries}
        return [one.context for one in queues if one.context in handles]

    before = list_handles_of_known_entries()
    ended = closed.close()
    observed = {
        "contexts_before_the_close": before,
        "close": ended.outcome,
        "contexts_after_the_close": list_handles_of_known_entries(),
        "second_close": other.close().outcome,
        "contexts_after_the_second_close": list_handles_of_known_entries(),
    }
    expected = facts(
        contexts_before_the_close=[one.context for one in queues],
        close="MQ_OK",
        contexts_after_the_close=[other.context],
        second_close="MQ_OK",
        contexts_after_the_second_close=[],
    )
    judge("MQQP-3.1.4.4-15", expected=expected, observed=observed, evidence=ended.evidence)
