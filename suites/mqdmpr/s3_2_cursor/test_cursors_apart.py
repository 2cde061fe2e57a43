"""MS-MQDMPR 3.2.1, 3.2.7: cursors of several queues, and what a receive by a cursor does when there is no message.

The states of a cursor along one queue are judged by the checks of MS-MQQP 3.1.4.1.
"""

from __future__ import annotations

from harness.expectations import distinct
from harness.peer.association import Call
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import Action

pytestmark = needs("qm2qm")

CURSORS = 3
"""Of each queue."""
HANDLES = ("MQDMPR-3.2.1.2-02", "MQDMPR-3.2.7.1-05")
SHORT_MS = 300
OF_ITS_QUEUE = {
    Action.PEEK_CURRENT: ("MQDMPR-3.2.7.1-06", "MQDMPR-3.2.7.2-03"),
    Action.PEEK_NEXT: ("MQDMPR-3.2.7.3-03",),
    Action.RECEIVE: ("MQDMPR-3.2.7.4-04", "MQDMPR-3.2.7.4-28"),
}
"""By action, the rules that it reads the queue that the cursor belongs to; the last one succeeds at what was read."""


@covers(*HANDLES, *(rule for rules in OF_ITS_QUEUE.values() for rule in rules))
def test_cursor_has_unique_handle_and_reads_its_queue(remote, judge):
    """Six cursors of two queues have different handles; a peek, a peek-next and a receive by a cursor return the
    messages of its own queue.
    """
    plain, admin = remote.open(), remote.open("admin")
    remote.deliver(["first", "second"])
    remote.deliver(["third", "first"], queue="admin")
    made = [queue.cursor().expect_success() for _ in range(CURSORS) for queue in (plain, admin)]
    cursors = [call.out.phCursor for call in made]
    judge(*HANDLES, expected=distinct("handles", 2 * CURSORS), observed=cursors, evidence=made)
    for action, expected in (
        (Action.PEEK_CURRENT, ["first", "third"]),
        (Action.PEEK_NEXT, ["second", "first"]),
        (Action.RECEIVE, ["second", "first"]),
    ):
        reads = [queue.read(action, hCursor=cursor) for queue, cursor in zip((plain, admin), cursors, strict=False)]
        observed = [read.label_or_outcome for read in reads]
        judge(*OF_ITS_QUEUE[action], expected=expected, observed=observed, evidence=reads)


@covers("MQDMPR-3.2.7.4-02", "MQDMPR-3.2.7.4-14")
def test_receive_by_cursor_with_timeout_0_does_not_wait(remote, judge):
    """A receive by a cursor with timeout zero fails at once with MQ_ERROR_MESSAGE_NOT_FOUND if there is no message,
    and takes one that arrives later.
    """
    queue = remote.open_with_messages()
    cursor = queue.open_cursor()
    empty = queue.start_receive(hCursor=cursor)
    judge("MQDMPR-3.2.7.4-02", expected=Call.FAILURE, observed=empty.label_or_failure, evidence=empty)
    judge.conclude("MQDMPR-3.2.7.4-02")
    remote.deliver(["first"])
    taken = queue.receive(hCursor=cursor)
    behind = queue.start_receive(hCursor=cursor)
    remote.deliver(["second"])
    then = queue.start_receive(hCursor=cursor)
    calls = [empty, taken, behind, then]
    expected = ["MQ_ERROR_MESSAGE_NOT_FOUND", "first", "MQ_ERROR_MESSAGE_NOT_FOUND", "second"]
    observed = [call.label_or_outcome for call in calls]
    judge("MQDMPR-3.2.7.4-14", expected=expected, observed=observed, evidence=calls)


@covers("MQDMPR-3.2.7.4-30")
def test_receive_by_cursor_of_message_taken_by_other_fails(remote, judge):
    """A receive by a cursor whose message another reader locks, then receives, fails both times and takes no other
    message.
    """
    queue, other = remote.open_with_messages("first", "second"), remote.open()
    cursor = queue.open_cursor()
    queue.peek(hCursor=cursor).expect_success()
    taken = other.start_receive()
    locked = queue.start_receive(hCursor=cursor)
    other.acknowledge(taken).expect_success()
    gone = queue.start_receive(hCursor=cursor)
    judge(
        "MQDMPR-3.2.7.4-30",
        expected={"taken": "first", "while_locked": Call.FAILURE, "when_gone": Call.FAILURE, "queue": ["second"]},
        observed={
            "taken": taken.label_or_outcome,
            "while_locked": locked.label_or_failure,
            "when_gone": gone.label_or_failure,
            "queue": queue.labels(),
        },
        evidence=[taken, locked, gone],
    )


@covers("MQDMPR-3.2.7.4-16", "MQDMPR-3.2.7.6-04")
def test_cursor_of_timed_out_receive_is_behind_all_messages(remote, judge):
    """After a receive by a cursor timed out, the cursor does not reach a message that another reader returns then; a
    new cursor does (erratum E106).
    """
    queue, other = remote.open_with_messages("first"), remote.open()
    cursor = queue.open_cursor()
    taken = other.start_receive()
    waited = queue.begin(Action.RECEIVE, hCursor=cursor, ulTimeout=SHORT_MS)
    waited.wait(SHORT_MS + remote.sut.response_timeout_ms)
    other.give_back(taken).expect_success()
    fresh = queue.open_cursor()
    found = queue.peek(hCursor=fresh)
    behind = queue.start_receive(hCursor=cursor)
    judge.all(
        expected={"taken": "first", "waited": Call.FAILURE, "by_a_new_cursor": "first", "by_the_cursor": Call.FAILURE},
        observed={
            "taken": taken.label_or_outcome,
            "waited": waited.label_or_failure,
            "by_a_new_cursor": found.label_or_outcome,
            "by_the_cursor": behind.label_or_failure,
        },
        evidence=[taken, waited, found, behind],
    )


@covers("MQDMPR-3.2.7.3-15")
def test_cursor_of_timed_out_peek_next_has_no_current_message(remote, judge):
    """After a peek-next by a cursor timed out, a peek by it fails until another message arrives, and returns that
    one.
    """
    queue = remote.open_with_messages("first")
    cursor = queue.open_cursor()
    read = queue.peek(hCursor=cursor)
    waited = queue.begin(Action.PEEK_NEXT, hCursor=cursor, ulTimeout=SHORT_MS)
    waited.wait(SHORT_MS + remote.sut.response_timeout_ms)
    again = queue.peek(hCursor=cursor)
    remote.deliver(["second"])
    then = queue.peek(hCursor=cursor)
    judge(
        "MQDMPR-3.2.7.3-15",
        expected={"before": "first", "waited": Call.FAILURE, "current": Call.FAILURE, "when_one_came": "second"},
        observed={
            "before": read.label_or_outcome,
            "waited": waited.label_or_failure,
            "current": again.label_or_failure,
            "when_one_came": then.label_or_outcome,
        },
        evidence=[read, waited, again, then],
    )
