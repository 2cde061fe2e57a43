"""MS-MQQP 3.2.4.7 Canceling a Pending Peek or Receive."""

from __future__ import annotations

import pytest

from harness.expectations import any_order, each, facts
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import INFINITE_TIMEOUT_MS
from suites.mqqp.steps.reader import CommandOutcome, Reader, Reading

NOT_FOUND_STATUS = 0xC000_0225
"""The status STATUS_NOT_FOUND: the server does not know the read."""


@needs("remote_read")
@pytest.mark.parametrize(
    ("reading", "cancelled_reading"),
    [
        (Reading.PEEK, Reading.PEEK_NEXT_BY_CURSOR),
        (Reading.RECEIVE, Reading.RECEIVE_BY_CURSOR),
        (Reading.PEEK_NEXT_BY_CURSOR, Reading.PEEK),
        (Reading.RECEIVE_BY_CURSOR, Reading.RECEIVE),
    ],
    ids=["peek by cursor", "receive by cursor", "peek", "receive"],
)
@pytest.mark.parametrize(
    ("version", "timeout_ms"),
    [(Reader.WINDOWS_7_VERSION, Reader.LONG_TIMEOUT_MS), (Reader.WINDOWS_2000_VERSION, INFINITE_TIMEOUT_MS)],
    ids=["new", "old"],
)
@covers("MQQP-3.2.4.7-02", "MQQP-3.2.4.7-03", "MQQP-3.2.4.7-04", "MQQP-3.2.4.7-05", "MQQP-3.2.4.7-06")
def test_client_cancels_read_that_application_names(peer, sut, judge, reading, cancelled_reading, version, timeout_ms):
    """Three queues are open; three reads wait at the second queue, and one at the first. The application cancels the
    second read at the second queue, and then the third. The reads are of any kind, with or without a time limit. For
    each cancelled read, the SUT sends one RemoteQMCancelReceive with the dwRequestID of that read and the handles of
    its queue. The other reads still wait, and return the messages that arrive.
    """
    reader = Reader(peer, sut, version)
    beside, remote, _ = (reader.open() for _ in range(3))
    reader.leave_start_receives_unanswered()
    requests = [reader.begin_read(reading, beside, Reader.LONG_TIMEOUT_MS)]
    for number in (2, 3, 4):
        how = cancelled_reading if number == 3 else reading
        requests.append(reader.begin_read(how, remote, timeout_ms if number == 3 else Reader.LONG_TIMEOUT_MS))
        reader.await_start_receives(number)
    reads = reader.reads()
    reader.begin("cancel", request=requests[2].number)
    reader.server.wait("RemoteQMCancelReceive")
    peer.pass_time(sut.quiet_ms)
    cancels = reader.server.list_calls_of("RemoteQMCancelReceive")
    evidence = [frame for call in (*reads, *cancels) for frame in call.frames[:1]]
    judge(
        "MQQP-3.2.4.7-03",
        expected=1,
        case="number of calls of RemoteQMCancelReceive",
        observed=len(cancels),
        evidence=evidence,
    )
    cancelled = reader.get_read_description(reads[2]).dwRequestID
    judge_cancel_call(judge, cancels, cancelled)
    reader.begin("cancel", request=requests[3].number)
    second = reader.server.wait("RemoteQMCancelReceive", 2)[1:]
    judge("MQQP-3.2.4.7-03", expected=1, case="calls for the second cancel", observed=len(second), evidence=evidence)
    judge_cancel_call(judge, second, reader.get_read_description(reads[3]).dwRequestID)
    others = (0, 1)
    waiting = [requests[one].is_answered for one in others]
    for one in others:
        if not reads[one].answered:
            reader.answer_with_message(reads[one])
    ends = [requests[one].outcome() for one in others]
    judge(
        "MQQP-3.2.4.7-02",
        expected=facts(other_reads_answered_before=each(False), other_reads=each(CommandOutcome.SUCCESS)),
        observed={"other_reads_answered_before": waiting, "other_reads": ends},
        evidence=evidence,
    )


def judge_cancel_call(judge, cancels, request_id):
    """Judge the values of the RemoteQMCancelReceive for a read of the second queue with the given dwRequestID."""
    for rule, name, expected in (
        ("MQQP-3.2.4.7-02", "dwRequestID", request_id),
        ("MQQP-3.2.4.7-04", "hQueue", Reader.SECOND_QUEUE_HANDLES.queue),
        ("MQQP-3.2.4.7-05", "pQueue", Reader.SECOND_QUEUE_HANDLES.descriptor),
        ("MQQP-3.2.4.7-06", "dwRequestID", request_id),
    ):
        found = [getattr(call.decoded_request, name) for call in cancels if call.decoded_request is not None]
        judge(rule, expected=[expected], observed=found, evidence=cancels, case=f"{name} in RemoteQMCancelReceive")


@needs("remote_read", "inspect")
@covers("MQQP-3.2.4.7-07")
@pytest.mark.parametrize("status", [0, NOT_FOUND_STATUS], ids=["cancelled", "refused"])
def test_cancelled_read_is_removed_from_pending_reads(peer, sut, judge, status):
    """Three reads wait, and the application cancels the second read, and then the third.
    PendingRemoteReadEntryCollection contains three entries before the cancellations. When the peer has answered
    RemoteQMCancelReceive, with success or with a failure, the collection contains only the entries of the reads that
    were not cancelled, although the peer has not answered the cancelled reads.
    """
    reader = Reader(peer, sut)
    remote = reader.open()
    reader.leave_start_receives_unanswered()
    reader.server.answers["RemoteQMCancelReceive"] = lambda call: call.respond(Return=status)
    requests = reader.begin_reads_with_long_timeout(Reading.RECEIVE, remote, 3)
    reads = reader.reads()
    numbers = [reader.get_read_description(call).dwRequestID for call in reads]
    before = [one["RequestId"] for one in reader.list_pending_read_entries()]
    reader.begin("cancel", request=requests[1].number).wait()
    after = [one["RequestId"] for one in reader.list_pending_read_entries()]
    reader.begin("cancel", request=requests[2].number).wait()
    at_last = [one["RequestId"] for one in reader.list_pending_read_entries()]
    evidence = [*reads[1].evidence, *reader.await_first_call("RemoteQMCancelReceive").evidence]
    judge(
        "MQQP-3.2.4.7-07",
        expected=facts(
            entries_before_cancel=any_order(*numbers),
            entries_after_cancel=any_order(numbers[0], numbers[2]),
            entries_after_second_cancel=numbers[:1],
        ),
        observed={
            "entries_before_cancel": before,
            "entries_after_cancel": after,
            "entries_after_second_cancel": at_last,
        },
        evidence=evidence,
    )
    judge.conclude()
    for number in (1, 2):
        reader.answer_read(reads[number], None, Reader.CANCELED_BY_CLIENT_STATUS)
        requests[number].wait()
