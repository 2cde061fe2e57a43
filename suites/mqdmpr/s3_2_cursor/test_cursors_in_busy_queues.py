"""MS-MQDMPR 3.2 Cursor: reads by a cursor in a transaction, with a short timeout, and while other readers use the
queue.
"""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.expectations import holds
from harness.peer.association import Call
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import Action
from suites.applications import Application, PendingRequest

LONG_READ_TIMEOUT_MS = 600_000
SHORT_READ_TIMEOUTS_MS = (200, 900)


@needs("queue_control", "receive", "transactions")
@covers("MQDMPR-3.2.7.4-27")
def test_receive_by_cursor_in_transaction_returns_message_at_cursor(peer, sut, judge):
    """A cursor is at the second message of a transactional queue. A receive by the cursor in a transaction returns the
    second message, and a receive by a second cursor that is at the third message returns the third.
    """
    application = Application(peer, sut, transactional=True)
    packets = application.fill_queue(*"abcd")
    handle = application.call("open_queue", queue=application.queue, access="receive")["handle"]
    cursors = [application.call("open_cursor", handle=handle)["cursor"] for _ in range(2)]
    for cursor, moves in zip(cursors, (1, 2), strict=True):
        sut.read_label("peek_message", cursor=cursor)
        for _ in range(moves):
            sut.read_label("peek_next", cursor=cursor)
    transaction = application.begin_transaction()
    labels = [sut.read_label("receive", cursor=cursor, transaction=transaction) for cursor in cursors]
    application.end_transaction("abort", transaction)
    judge(
        "MQDMPR-3.2.7.4-27",
        expected=["b", "c"],
        observed=labels,
        case="labels of the received messages",
        evidence=packets,
    )


@needs("qm2qm")
@covers("MQDMPR-3.2.7.4-17")
def test_receive_by_cursor_waits_with_short_timeout(remote, judge):
    """Receives by a cursor of an empty queue have timeouts below one second: none ends before its timeout."""
    queue = remote.open()
    cursor = queue.open_cursor()
    for timeout_ms in SHORT_READ_TIMEOUTS_MS:
        began_ms = remote.peer.recorder.elapsed_ms()
        read = queue.begin(Action.RECEIVE, hCursor=cursor, ulTimeout=timeout_ms)
        read.wait(timeout_ms + remote.sut.slack_ms(timeout_ms) + remote.sut.response_timeout_ms)
        lasted_ms = remote.peer.measure_duration(began_ms).ms
        judge(
            "MQDMPR-3.2.7.4-17",
            expected=holds("the receive lasts as long as its timeout"),
            observed=lasted_ms >= timeout_ms or f"{lasted_ms} ms",
            case=f"receive by a cursor with a timeout of {timeout_ms} ms",
            evidence=read,
        )


@needs("qm2qm")
@covers("MQDMPR-3.2.7.4-02")
def test_receive_by_cursor_with_timeout_zero_never_waits(remote, judge):
    """Receives by a cursor with timeout zero end at once while another read waits for a message of the queue, and while
    another reader has locked the only message of the queue.
    """
    waiting_queue, locked_queue = remote.open(), remote.open("admin")
    pending = waiting_queue.begin(Action.RECEIVE, ulTimeout=LONG_READ_TIMEOUT_MS)
    if pending.state_after_silence() != Call.WAITING:
        raise ConformanceFailure("a receive from an empty queue does not wait")
    remote.deliver(["held"], queue="admin")
    held = locked_queue.start_receive().expect_success()
    for case, queue in (("beside a waiting receive", waiting_queue), ("beside a locked message", locked_queue)):
        read = queue.begin(Action.RECEIVE, hCursor=queue.open_cursor(), ulTimeout=0)
        state = read.state_after_silence()
        if state == Call.WAITING:
            read.wait()
            state = read.state_after_silence()
        judge(
            "MQDMPR-3.2.7.4-02",
            expected=holds("the receive ends at once", otherwise="the receive waits"),
            observed=state != Call.WAITING,
            case=f"receive by a cursor with timeout zero {case}",
            evidence=read,
        )
    locked_queue.put_message_back(held)


@needs("queue_control", "receive", "inspect")
@covers("MQDMPR-3.2.7.3-15")
def test_peek_next_after_received_message_waits(peer, sut, judge):
    """A cursor is at the only message of a queue, and another reader receives this message. Then a peek at the next
    message by the cursor waits, and the cursor's state is WaitPeek.
    """
    application = Application(peer, sut)
    packets = application.fill_queue("a")
    handle = application.call("open_queue", queue=application.queue, access="receive")["handle"]
    cursor = application.call("open_cursor", handle=handle)["cursor"]
    if sut.read_label("peek_message", cursor=cursor) != "a":
        raise ConformanceFailure("a cursor cannot peek at the only message of its queue")
    application.receive()
    pending = PendingRequest(peer, "peek_next", cursor=cursor, timeout_ms=LONG_READ_TIMEOUT_MS)
    peer.settle()
    descriptors = sut.inspect_queue(application.queue)["OpenQueueDescriptorCollection"]
    states = [one["CursorState"] for each in descriptors for one in each["CursorCollection"]]
    sut.control.call("cancel", request=pending.number)
    judge("MQDMPR-3.2.7.3-15", expected=["WaitPeek"], observed=states, case="CursorState", evidence=packets)
