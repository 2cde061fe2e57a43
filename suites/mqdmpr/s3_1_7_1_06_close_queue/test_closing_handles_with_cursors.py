"""MS-MQDMPR 3.1.7.1.6 Close Queue: closed handles that had cursors no longer restrict other readers."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import each
from harness.run.marks import covers, needs
from harness.sut.control import ControlRefused
from harness.sut.outcomes import Outcome
from harness.wire.rpc_qmcomm import DENY_RECEIVE, PEEK_ACCESS, RECEIVE_ACCESS
from suites.applications import Application, PendingRequest
from suites.mqdmpr.steps import openings

LONG_READ_TIMEOUT_MS = 60_000
ARGUMENTS_TO_OPEN_EXCLUSIVELY = {"access": "receive", "deny_receive": True}
CURSOR_STATES = ("unused", "at a message", "of a waiting read", "closed")


@needs("receive", "queues")
@covers("MQDMPR-3.1.7.1.6-17")
@pytest.mark.parametrize("access", ["receive", "peek"])
def test_closed_handle_with_cursor_restricts_no_other_reader(peer, sut, judge, access):
    """An application opens a queue with DenyReceive and opens a cursor: a cursor that reads nothing, a cursor at a
    message, a cursor whose read waits, or a cursor that is closed. While this handle is open, the SUT refuses to open
    the queue exclusively for receiving. When the application has closed the handle, the SUT opens the queue.
    """
    application = Application(peer, sut)
    packets = application.fill_queue("read")
    during, after = {}, {}
    for state in CURSOR_STATES:
        handle = sut.control.call("open_queue", queue=application.queue, access=access, deny_receive=True)["handle"]
        cursor = sut.control.call("open_cursor", handle=handle)["cursor"]
        if state != "unused" and sut.read_label("peek_message", cursor=cursor) != "read":
            raise ConformanceFailure("the cursor did not read the message")
        if state == "of a waiting read":
            waiting = PendingRequest(peer, "peek_next", cursor=cursor, timeout_ms=LONG_READ_TIMEOUT_MS)
            peer.settle()
            if waiting.is_answered():
                raise ConformanceFailure("the peek at the end of the queue did not wait")
        if state == "closed":
            sut.control.call("close_cursor", cursor=cursor)
        during[state] = _open_and_close_queue_exclusively(sut, application.queue)
        sut.control.call("close_queue", handle=handle)
        after[state] = _open_and_close_queue_exclusively(sut, application.queue)
    peer.settle()
    if not waiting.is_answered():
        sut.control.call("cancel", request=waiting.number)
    if set(during.values()) != {Outcome.REFUSED}:
        raise ConformanceFailure("the open handle did not restrict other readers")
    judge(
        "MQDMPR-3.1.7.1.6-17",
        expected=each(Outcome.DONE, "exclusive open"),
        observed=after,
        evidence=packets,
        case="exclusive opens after the handle with a cursor in each state was closed",
    )


def _open_and_close_queue_exclusively(sut, queue):
    """Open a queue exclusively for receiving, and close it; return DONE or REFUSED."""
    try:
        handle = sut.control.call("open_queue", queue=queue, **ARGUMENTS_TO_OPEN_EXCLUSIVELY)["handle"]
    except ControlRefused:
        return Outcome.REFUSED
    sut.control.call("close_queue", handle=handle)
    return Outcome.DONE


@needs("qm2qm")
@covers("MQDMPR-3.1.7.1.6-17")
@pytest.mark.parametrize("access", [RECEIVE_ACCESS, PEEK_ACCESS], ids=["receive", "peek"])
def test_queue_that_remote_reader_with_cursor_closed_can_be_opened(remote, judge, access):
    """A remote reader opens a queue with DenyReceive, reads by one of two cursors, and closes the queue. Another remote
    reader can then open the queue exclusively for receiving.
    """
    remote.empty_queue()
    remote.deliver(["read"])
    second_reader = remote.associate()
    queue = remote.open(access=access, share=DENY_RECEIVE)
    cursors = [queue.open_cursor() for _ in range(2)]
    queue.peek(hCursor=cursors[0]).expect_success()
    refused = remote.open_remote(second_reader, share=DENY_RECEIVE)
    openings.close_opened_queue(refused)
    if openings.get_opening_outcome(refused) != Outcome.REFUSED:
        raise ConformanceFailure("the open queue did not restrict the other reader")
    queue.close().expect_success()
    queue.close_context().expect_success()
    later = remote.open_remote(second_reader, share=DENY_RECEIVE)
    openings.close_opened_queue(later)
    judge(
        "MQDMPR-3.1.7.1.6-17",
        expected=openings.OPENED_OUTCOME,
        observed=openings.get_opening_outcome(later),
        case="exclusive open after the close",
        evidence=[refused, later],
    )
