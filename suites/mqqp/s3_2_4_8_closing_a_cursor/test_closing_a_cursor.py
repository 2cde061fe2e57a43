"""MS-MQQP 3.2.4.8 Closing a Cursor."""

from __future__ import annotations

import pytest

from harness.expectations import facts
from harness.run.marks import covers, needs
from suites.mqqp.steps.reader import Reader, Reading


@needs("remote_read")
@covers("MQQP-3.2.4.8-02", "MQQP-3.2.4.8-03", "MQQP-3.2.4.8-04")
@pytest.mark.parametrize("closed", [0, 1], ids=["first", "last"])
def test_client_closes_cursor_at_server(peer, sut, judge, closed):
    """The application has two cursors of a queue, and closes one of them. The SUT sends one RemoteQMCloseCursor with
    the handles of the queue and of that cursor. The application can still read by the other cursor. When the
    application closes this cursor too, the SUT sends a second RemoteQMCloseCursor with the handle of this cursor.
    """
    reader = Reader(peer, sut)
    reader.open()
    remote = reader.open()
    cursors = [reader.open_cursor(remote) for _ in range(2)]
    handles = [Reader.FIRST_CURSOR_HANDLE, Reader.SECOND_CURSOR_HANDLE]
    reader.begin("remote_close_cursor", cursor=cursors[closed])
    reader.server.wait("RemoteQMCloseCursor")
    peer.pass_time(sut.quiet_ms)
    calls = reader.server.list_calls_of("RemoteQMCloseCursor")
    evidence = [frame for call in calls for frame in call.evidence]
    reader.begin_read(Reading.PEEK_CURRENT_BY_CURSOR, remote, cursor=cursors[1 - closed]).outcome()
    reads = [reader.get_read_description(call).hCursor for call in reader.reads()]
    judge(
        "MQQP-3.2.4.8-02",
        expected=facts(calls_of_RemoteQMCloseCursor=1, cursors_of_later_reads=[handles[1 - closed]]),
        observed={"calls_of_RemoteQMCloseCursor": len(calls), "cursors_of_later_reads": reads},
        evidence=evidence,
    )
    for rule, name, expected in (
        ("MQQP-3.2.4.8-03", "hQueue", Reader.SECOND_QUEUE_HANDLES.queue),
        ("MQQP-3.2.4.8-04", "hCursor", handles[closed]),
    ):
        found = [getattr(call.decoded_request, name) for call in calls if call.decoded_request is not None]
        judge(rule, expected=[expected], case=name, observed=found, evidence=evidence)
    reader.begin("remote_close_cursor", cursor=cursors[1 - closed])
    calls = reader.server.wait("RemoteQMCloseCursor", 2)
    judge("MQQP-3.2.4.8-02", expected=2, observed=len(calls), case="calls after both closes", evidence=calls)
    for rule, name, expected in (
        ("MQQP-3.2.4.8-03", "hQueue", Reader.SECOND_QUEUE_HANDLES.queue),
        ("MQQP-3.2.4.8-04", "hCursor", handles[1 - closed]),
    ):
        found = [getattr(call.decoded_request, name) for call in calls[1:] if call.decoded_request is not None]
        judge(rule, expected=[expected], case=f"{name} of the second call", observed=found, evidence=evidence)


@needs("remote_read")
@covers("MQQP-3.1.4.5-01", "MQQP-3.2.4.8-02")
def test_client_does_not_use_closed_cursor(peer, sut, judge):
    """The application reads by a cursor and closes it, and then tries to read by it and to close it again. After the
    first close, the SUT sends no call with that cursor.
    """
    reader = Reader(peer, sut)
    remote = reader.open()
    cursor = reader.open_cursor(remote)
    ways = (Reading.PEEK_CURRENT_BY_CURSOR, Reading.PEEK_NEXT_BY_CURSOR, Reading.RECEIVE_BY_CURSOR)
    for way in ways:
        reader.begin_read(way, remote, cursor=cursor).wait()
    before = [reader.get_read_description(call).hCursor for call in reader.reads()]
    reader.begin("remote_close_cursor", cursor=cursor).wait()
    for way in ways:
        reader.begin_read(way, remote, cursor=cursor).wait()
    reader.begin("remote_close_cursor", cursor=cursor).wait()
    closings = reader.server.list_calls_of("RemoteQMCloseCursor")
    after = [reader.get_read_description(call).hCursor for call in reader.reads()[len(before) :]]
    observed = {
        "cursors_of_the_reads_before_the_close": before,
        "number_of_calls_of_RemoteQMCloseCursor": len(closings),
        "cursors_of_the_reads_after_the_close": [one for one in after if one == Reader.FIRST_CURSOR_HANDLE],
    }
    expected = facts(
        cursors_of_the_reads_before_the_close=[Reader.FIRST_CURSOR_HANDLE] * len(ways),
        number_of_calls_of_RemoteQMCloseCursor=1,
        cursors_of_the_reads_after_the_close=[],
    )
    judge.all(expected=expected, observed=observed, evidence=[*reader.reads(), *closings])


@needs("remote_read")
@covers("MQQP-3.2.4.8-02", "MQQP-3.2.4.8-03", "MQQP-3.2.4.8-04")
@pytest.mark.parametrize("closed", [0, 1], ids=["first", "last"])
def test_client_closes_cursor_of_one_of_two_queues(peer, sut, judge, closed):
    """The application has cursors of two remote queues, and a read waits at each queue. The application closes one
    cursor. The SUT sends one RemoteQMCloseCursor with the handles of that cursor and of its queue.
    """
    reader = Reader(peer, sut)
    remotes = [reader.open(), reader.open()]
    cursors = [reader.open_cursor(remote) for remote in remotes]
    reader.leave_start_receives_unanswered()
    for number, remote in enumerate(remotes, 1):
        reader.begin_read(Reading.PEEK, remote, Reader.LONG_TIMEOUT_MS)
        reader.await_start_receives(number)
    reader.begin("remote_close_cursor", cursor=cursors[closed])
    calls = reader.server.wait("RemoteQMCloseCursor")
    judge("MQQP-3.2.4.8-02", expected=1, observed=len(calls), case="calls of RemoteQMCloseCursor", evidence=calls)
    for rule, name, handles in (
        ("MQQP-3.2.4.8-03", "hQueue", (Reader.FIRST_QUEUE_HANDLES.queue, Reader.SECOND_QUEUE_HANDLES.queue)),
        ("MQQP-3.2.4.8-04", "hCursor", (Reader.FIRST_CURSOR_HANDLE, Reader.SECOND_CURSOR_HANDLE)),
    ):
        found = [getattr(call.decoded_request, name) for call in calls if call.decoded_request is not None]
        judge(rule, expected=[handles[closed]], case=name, observed=found, evidence=calls)
