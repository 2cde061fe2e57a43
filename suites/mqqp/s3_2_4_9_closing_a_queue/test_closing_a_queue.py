"""MS-MQQP 3.2.4.9 Closing a Queue."""

from __future__ import annotations

import pytest

from harness.expectations import any_order, facts, fields
from harness.judging.verdicts import Verdict
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import Method
from suites.mqqp.steps.reader import Reader, Reading

NOT_FOUND_STATUS = 0xC000_0225
"""The status STATUS_NOT_FOUND: the server does not know the read."""


@needs("remote_read")
@covers("MQQP-3.2.4.9-02", "MQQP-3.2.4.9-05", "MQQP-3.2.4.9-06")
@pytest.mark.parametrize(
    ("reads_wait", "cancel_fails"),
    [(False, False), (True, False), (True, True)],
    ids=["idle", "with reads that wait", "with reads that cannot be cancelled"],
)
def test_client_closes_queue_that_application_names(peer, sut, judge, reads_wait, cancel_fails):
    """Three queues are open, each with a cursor; the first is open to peek. At each queue, a peek waits or does not
    wait, and the server cancels a waiting peek or does not cancel it. The application closes the second queue, and the
    SUT sends one RemoteQMCloseQueue with the context handle of that queue. The application can still read the third
    queue by its cursor. When the application also closes the third queue and then the first, the SUT sends one
    RemoteQMCloseQueue for each.
    """
    reader = Reader(peer, sut)
    remotes = [reader.open(access=access) for access in ("peek", "receive", "receive")]
    cursors = [reader.open_cursor(one) for one in remotes]
    if reads_wait:
        reader.leave_start_receives_unanswered()
        for number, remote in enumerate(remotes, 1):
            reader.begin_read(Reading.PEEK, remote, Reader.LONG_TIMEOUT_MS)
            reader.await_start_receives(number)
    if cancel_fails:
        reader.server.answers[Method.CANCEL_RECEIVE] = lambda call: call.respond(Return=NOT_FOUND_STATUS)
    reader.begin("remote_close", remote=remotes[1])
    reader.server.wait("RemoteQMCloseQueue")
    peer.pass_time(sut.quiet_ms)
    calls = reader.server.list_calls_of("RemoteQMCloseQueue")
    evidence = [frame for call in calls for frame in call.evidence]
    judge(
        "MQQP-3.2.4.9-05",
        expected=1,
        case="number of calls of RemoteQMCloseQueue",
        observed=len(calls),
        evidence=evidence,
    )
    found = [bytes(call.decoded_request.pphContext).hex() for call in calls if call.decoded_request is not None]
    judge(
        "MQQP-3.2.4.9-02",
        "MQQP-3.2.4.9-06",
        expected=[Reader.SECOND_QUEUE_HANDLES.session.hex()],
        case="handle in RemoteQMCloseQueue",
        observed=found,
        evidence=evidence,
    )
    judge.conclude("MQQP-3.2.4.9-06")
    before = len(reader.reads())
    reader.answer_start_receives_with_message()
    reader.begin("remote_receive", cursor=cursors[2], timeout_ms=Reader.READ_TIMEOUT_MS).wait()
    reads = reader.reads()[before:]
    handle = Reader.FIRST_CURSOR_HANDLE + 2 * (Reader.SECOND_CURSOR_HANDLE - Reader.FIRST_CURSOR_HANDLE)
    expected = [fields(hRemoteQueue=Reader.THIRD_QUEUE_HANDLES.queue, hCursor=handle)]
    judge("MQQP-3.2.4.9-02", expected=expected, observed=list(map(reader.get_read_description, reads)), evidence=reads)
    closed = [Reader.SECOND_QUEUE_HANDLES.session.hex()]
    for place, handles in ((2, Reader.THIRD_QUEUE_HANDLES), (0, Reader.FIRST_QUEUE_HANDLES)):
        closed.append(handles.session.hex())
        reader.begin("remote_close", remote=remotes[place])
        reader.server.wait("RemoteQMCloseQueue", len(closed))
        peer.pass_time(sut.quiet_ms)
        calls = reader.server.list_calls_of("RemoteQMCloseQueue")
        judge("MQQP-3.2.4.9-05", expected=len(closed), observed=len(calls), case="calls after closes", evidence=calls)
        found = [bytes(call.decoded_request.pphContext).hex() for call in calls if call.decoded_request is not None]
        judge("MQQP-3.2.4.9-02", expected=closed, observed=found, case="handles after closes", evidence=calls)


@needs("remote_read")
@covers("MQQP-3.2.4.9-03", "MQQP-3.2.4.9-04")
def test_client_cancels_reads_of_closed_queue_by_their_ids(peer, sut, judge):
    """Reads wait at two queues, and two of them wait at the queue that the application closes. Each
    RemoteQMCancelReceive that the SUT sends contains the phQueue of that queue and the dwRequestID of one of these two
    reads. No dwRequestID is repeated.
    """
    reader = Reader(peer, sut)
    beside, remote = reader.open(), reader.open()
    reader.leave_start_receives_unanswered()
    reader.begin_read(Reading.RECEIVE, beside, Reader.LONG_TIMEOUT_MS)
    for number in (2, 3):
        reader.begin_read(Reading.RECEIVE, remote, Reader.LONG_TIMEOUT_MS)
        reader.await_start_receives(number)
    reads = reader.reads()[1:]
    reader.begin("remote_close", remote=remote).wait()
    peer.pass_time(sut.quiet_ms)
    cancels = reader.server.list_calls_of("RemoteQMCancelReceive")
    if not cancels:
        judge.give_up(
            Verdict.NOT_APPLICABLE, "the SUT does not cancel reads before it closes a queue, which is allowed"
        )
        return
    evidence = [*reads, *cancels]
    named = [call.decoded_request.hQueue for call in cancels if call.decoded_request is not None]
    judge(
        "MQQP-3.2.4.9-03",
        expected=[Reader.SECOND_QUEUE_HANDLES.queue] * len(cancels),
        case="hQueue",
        observed=named,
        evidence=evidence,
    )
    asked = {call.decoded_request.dwRequestID for call in cancels if call.decoded_request is not None}
    of_a_read = len(asked & {reader.get_read_description(call).dwRequestID for call in reads})
    case = "number of calls of RemoteQMCancelReceive with the dwRequestID of a pending read"
    judge("MQQP-3.2.4.9-04", expected=len(cancels), observed=of_a_read, case=case, evidence=evidence)


@needs("remote_read", "inspect")
@covers("MQQP-3.2.4.9-07")
@pytest.mark.parametrize("status", [0, NOT_FOUND_STATUS], ids=["closed", "refused"])
def test_client_removes_entry_of_closed_queue(peer, sut, judge, status):
    """Three queues are open, and the application closes the second queue. RemoteOpenQueueEntryCollection contains three
    entries before the close, and the entries of the other two queues afterwards, even if RemoteQMCloseQueue failed.
    """
    reader = Reader(peer, sut)
    remotes = [reader.open() for _ in range(3)]

    def list_handles_of_known_queues() -> list[int]:
        return [entry["OpenQueueDescriptorHandle"] for entry in reader.list_open_queue_entries()]

    before = list_handles_of_known_queues()
    reader.server.answers[Method.CLOSE_QUEUE] = lambda call: call.respond(Return=status)
    reader.begin("remote_close", remote=remotes[1]).wait()
    after = list_handles_of_known_queues()
    evidence = reader.await_first_call("RemoteQMCloseQueue").evidence
    first, second, third = (
        Reader.FIRST_QUEUE_HANDLES.queue,
        Reader.SECOND_QUEUE_HANDLES.queue,
        Reader.THIRD_QUEUE_HANDLES.queue,
    )
    judge(
        "MQQP-3.2.4.9-07",
        expected=facts(
            entries_before_close=any_order(first, second, third), entries_after_close=any_order(first, third)
        ),
        observed={"entries_before_close": before, "entries_after_close": after},
        evidence=evidence,
    )
