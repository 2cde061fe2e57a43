"""MS-MQDMPR 3.1.7.1.1 Open Cursor: cursors that wait while another cursor moves."""

from __future__ import annotations

from harness.expectations import facts
from harness.peer.association import Call
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import Action

SHORT_READ_TIMEOUT_MS, LONG_READ_TIMEOUT_MS = 1_000, 600_000
TIMEOUT_STATUS = "MQ_ERROR_IO_TIMEOUT"


@needs("qm2qm")
@covers("MQDMPR-3.1.7.1.1-06")
def test_moved_cursor_leaves_waiting_cursor_at_its_place(remote, judge):
    """A receive by one cursor and a peek by another cursor wait at an empty queue. The receive takes the message that
    arrives and locks it. The second cursor has not moved to this message: a peek by it, after the pending peek has
    ended, finds no message, and returns the message when it is in the queue again.
    """
    queue = remote.open()
    receiving, peeking = queue.open_cursor(), queue.open_cursor()
    receive = queue.begin(Action.RECEIVE, hCursor=receiving, ulTimeout=LONG_READ_TIMEOUT_MS)
    waits = receive.state_after_silence()
    peek = queue.begin(Action.PEEK_CURRENT, hCursor=peeking, ulTimeout=SHORT_READ_TIMEOUT_MS)
    remote.deliver(["a"])
    received = receive.wait().label_or_outcome
    slack_ms = remote.sut.slack_ms(SHORT_READ_TIMEOUT_MS)
    peek.wait(SHORT_READ_TIMEOUT_MS + slack_ms + remote.sut.response_timeout_ms)
    if peek.outcome == "MQ_OK":
        judge.mark_not_exercised(
            "MQDMPR-3.1.7.1.1-06", reason="the SUT completed the peek before the receive", evidence=peek
        )
        return
    locked = queue.peek(hCursor=peeking, ulTimeout=0)
    queue.put_message_back(receive).expect_success()
    returned = queue.peek(hCursor=peeking, ulTimeout=0)
    judge(
        "MQDMPR-3.1.7.1.1-06",
        expected=facts(
            receive_before=Call.WAITING, receive="a", peek_while_locked=TIMEOUT_STATUS, peek_after_the_return="a"
        ),
        observed={
            "receive_before": waits,
            "receive": received,
            "peek_while_locked": locked.label_or_outcome,
            "peek_after_the_return": returned.label_or_outcome,
        },
        evidence=[receive, peek, locked, returned],
    )
