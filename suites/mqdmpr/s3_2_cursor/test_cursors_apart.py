"""MS-MQDMPR 3.2.1, 3.2.7: cursors of several queues, and what a receive by a cursor does when there is no message.

The states of a cursor along one queue are judged by the checks of MS-MQQP 3.1.4.1.
"""

from __future__ import annotations

from harness.expectations import distinct
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import PEEK_CURRENT, PEEK_NEXT, RECEIVE, RR_ACK, RR_NACK
from suites.mqqp.steps.reading import FAILURE, brought, failed

pytestmark = needs("qm2qm")

CURSORS = 3
"""Of each queue."""
HANDLES = ("MQDMPR-3.2.1.2-02", "MQDMPR-3.2.7.1-05")
SHORT_MS = 300
OF_ITS_QUEUE = {
    PEEK_CURRENT: ("MQDMPR-3.2.7.1-06", "MQDMPR-3.2.7.2-03"),
    PEEK_NEXT: ("MQDMPR-3.2.7.3-03",),
    RECEIVE: ("MQDMPR-3.2.7.4-04", "MQDMPR-3.2.7.4-28"),
}
"""By action, the rules that it reads the queue that the cursor belongs to; the last one succeeds at what was read."""


@covers(*HANDLES, *(rule for rules in OF_ITS_QUEUE.values() for rule in rules))
def test_cursors_of_two_queues_are_apart(remote, judge):
    """A cursor has a handle that no other cursor has, and reads the queue that it was made for."""
    plain, admin = remote.open(), remote.open("admin")
    remote.deliver(["first", "second"])
    remote.deliver(["third", "first"], queue="admin")
    made = [queue.cursor().settled() for _ in range(CURSORS) for queue in (plain, admin)]
    cursors = [call.out.phCursor for call in made]
    judge(*HANDLES, expected=distinct("handles", 2 * CURSORS), observed=cursors, evidence=made)
    for action, expected in (
        (PEEK_CURRENT, ["first", "third"]),
        (PEEK_NEXT, ["second", "first"]),
        (RECEIVE, ["second", "first"]),
    ):
        reads = [queue.read(action, hCursor=cursor) for queue, cursor in zip((plain, admin), cursors, strict=False)]
        observed = [brought(read) for read in reads]
        judge(*OF_ITS_QUEUE[action], expected=expected, observed=observed, evidence=reads)


@covers("MQDMPR-3.2.7.4-02", "MQDMPR-3.2.7.4-14")
def test_a_receive_by_a_cursor_that_may_not_wait_does_not(remote, judge):
    """A receive by a cursor that may not wait fails at once where there is no message, and takes a later one."""
    queue = remote.filled()
    cursor = queue.cursor().settled().out.phCursor
    empty = queue.read(RECEIVE, hCursor=cursor)
    judge("MQDMPR-3.2.7.4-02", expected=FAILURE, observed=failed(empty), evidence=empty)
    judge.conclude("MQDMPR-3.2.7.4-02")
    remote.deliver(["first"])
    taken = queue.receive(hCursor=cursor)
    behind = queue.read(RECEIVE, hCursor=cursor)
    remote.deliver(["second"])
    then = queue.read(RECEIVE, hCursor=cursor)
    calls = [empty, taken, behind, then]
    expected = ["MQ_ERROR_MESSAGE_NOT_FOUND", "first", "MQ_ERROR_MESSAGE_NOT_FOUND", "second"]
    observed = [brought(call) for call in calls]
    judge("MQDMPR-3.2.7.4-14", expected=expected, observed=observed, evidence=calls)


@covers("MQDMPR-3.2.7.4-30")
def test_a_receive_by_a_cursor_of_what_another_took_fails(remote, judge):
    """A receive by a cursor whose message another reader has taken fails, and brings no other message."""
    queue, other = remote.filled("first", "second"), remote.open()
    cursor = queue.cursor().settled().out.phCursor
    queue.read(PEEK_CURRENT, hCursor=cursor).settled()
    taken = other.read(RECEIVE)
    locked = queue.read(RECEIVE, hCursor=cursor)
    other.end(taken, RR_ACK).settled()
    gone = queue.read(RECEIVE, hCursor=cursor)
    judge(
        "MQDMPR-3.2.7.4-30",
        expected={"taken": "first", "while_locked": FAILURE, "when_gone": FAILURE, "queue": ["second"]},
        observed={
            "taken": brought(taken),
            "while_locked": failed(locked),
            "when_gone": failed(gone),
            "queue": queue.labels(),
        },
        evidence=[taken, locked, gone],
    )


@covers("MQDMPR-3.2.7.4-16", "MQDMPR-3.2.7.6-04")
def test_a_cursor_that_waited_in_vain_is_behind_what_was_there(remote, judge):
    """A cursor by which a receive waited in vain is behind every message that was there, also behind one that another
    reader gives back (E106).
    """
    queue, other = remote.filled("first"), remote.open()
    cursor = queue.cursor().settled().out.phCursor
    taken = other.read(RECEIVE)
    waited = queue.begin(RECEIVE, hCursor=cursor, ulTimeout=SHORT_MS)
    waited.wait(SHORT_MS + remote.sut.response_timeout_ms)
    other.end(taken, RR_NACK).settled()
    fresh = queue.cursor().settled().out.phCursor
    found = queue.read(PEEK_CURRENT, hCursor=fresh)
    behind = queue.read(RECEIVE, hCursor=cursor)
    judge.all(
        expected={"taken": "first", "waited": FAILURE, "by_a_new_cursor": "first", "by_the_cursor": FAILURE},
        observed={
            "taken": brought(taken),
            "waited": failed(waited),
            "by_a_new_cursor": brought(found),
            "by_the_cursor": failed(behind),
        },
        evidence=[taken, waited, found, behind],
    )


@covers("MQDMPR-3.2.7.3-15")
def test_a_cursor_that_waited_for_the_next_in_vain_is_not_where_it_was(remote, judge):
    """A cursor by which a peek waited for the next message in vain has no current message until another one comes."""
    queue = remote.filled("first")
    cursor = queue.cursor().settled().out.phCursor
    read = queue.read(PEEK_CURRENT, hCursor=cursor)
    waited = queue.begin(PEEK_NEXT, hCursor=cursor, ulTimeout=SHORT_MS)
    waited.wait(SHORT_MS + remote.sut.response_timeout_ms)
    again = queue.read(PEEK_CURRENT, hCursor=cursor)
    remote.deliver(["second"])
    then = queue.read(PEEK_CURRENT, hCursor=cursor)
    judge(
        "MQDMPR-3.2.7.3-15",
        expected={"before": "first", "waited": FAILURE, "current": FAILURE, "when_one_came": "second"},
        observed={
            "before": brought(read),
            "waited": failed(waited),
            "current": failed(again),
            "when_one_came": brought(then),
        },
        evidence=[read, waited, again, then],
    )
