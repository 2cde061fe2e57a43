"""MS-MQDMPR 3.2.1, 3.2.7: cursors of several queues, and what a receive by a cursor does when there is no message.

The states of a cursor along one queue are judged by the checks of MS-MQQP 3.1.4.1.
"""

from __future__ import annotations

from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import PEEK_CURRENT, PEEK_NEXT, RECEIVE, RR_ACK, RR_NACK
from suites.mqqp.steps.reading import FAILURE, brought, deliver, failed, filled

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
    """Three cursors each of two queues, made in turn: no two have a handle, and each reads its own queue."""
    plain, admin = remote.open(), remote.open("admin")
    deliver(remote, ["first", "second"])
    deliver(remote, ["third", "first"], queue="admin")
    made = [queue.cursor().settled() for _ in range(CURSORS) for queue in (plain, admin)]
    cursors = [call.out.phCursor for call in made]
    judge(*HANDLES, expected=len(cursors), observed=len(set(cursors)), evidence=made)
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
    """Without a time-out, of an empty queue and behind the last message, it fails at once: nothing was found; then it
    takes what came meanwhile.
    """
    queue = filled(remote)
    cursor = queue.cursor().settled().out.phCursor
    empty = queue.read(RECEIVE, hCursor=cursor)
    judge("MQDMPR-3.2.7.4-02", expected=FAILURE, observed=failed(empty), evidence=empty)
    judge.finished("MQDMPR-3.2.7.4-02")
    deliver(remote, ["first"])
    taken = queue.receive(hCursor=cursor)
    behind = queue.read(RECEIVE, hCursor=cursor)
    deliver(remote, ["second"])
    then = queue.read(RECEIVE, hCursor=cursor)
    calls = [empty, taken, behind, then]
    expected = ["MQ_ERROR_MESSAGE_NOT_FOUND", "first", "MQ_ERROR_MESSAGE_NOT_FOUND", "second"]
    observed = [brought(call) for call in calls]
    judge("MQDMPR-3.2.7.4-14", expected=expected, observed=observed, evidence=calls)


@covers("MQDMPR-3.2.7.4-30")
def test_a_receive_by_a_cursor_of_what_another_took_fails(remote, judge):
    """A cursor is at a message that another receives: a receive by it fails, and brings no other message, while that
    has it and afterwards.
    """
    queue, other = filled(remote, "first", "second"), remote.open()
    cursor = queue.cursor().settled().out.phCursor
    queue.read(PEEK_CURRENT, hCursor=cursor).settled()
    taken = other.read(RECEIVE)
    locked = queue.read(RECEIVE, hCursor=cursor)
    other.end(taken, RR_ACK).settled()
    gone = queue.read(RECEIVE, hCursor=cursor)
    observed = [brought(taken), failed(locked), failed(gone), queue.labels()]
    evidence = [taken, locked, gone]
    judge("MQDMPR-3.2.7.4-30", expected=["first", FAILURE, FAILURE, ["second"]], observed=observed, evidence=evidence)


@covers("MQDMPR-3.2.7.4-16", "MQDMPR-3.2.7.6-04")
def test_a_cursor_that_waited_in_vain_is_behind_what_was_there(remote, judge):
    """A receive by a cursor waits while another has the only message, and gives up; then the message is back: a new
    cursor finds it, the one that waited does not (E106).
    """
    queue, other = filled(remote, "first"), remote.open()
    cursor = queue.cursor().settled().out.phCursor
    taken = other.read(RECEIVE)
    waited = queue.begin(RECEIVE, hCursor=cursor, ulTimeout=SHORT_MS)
    waited.wait(SHORT_MS + remote.sut.response_timeout_ms)
    other.end(taken, RR_NACK).settled()
    fresh = queue.cursor().settled().out.phCursor
    found = queue.read(PEEK_CURRENT, hCursor=fresh)
    behind = queue.read(RECEIVE, hCursor=cursor)
    observed = [brought(taken), failed(waited), brought(found), failed(behind)]
    evidence = [taken, waited, found, behind]
    judge.all(expected=["first", FAILURE, "first", FAILURE], observed=observed, evidence=evidence)


@covers("MQDMPR-3.2.7.3-15")
def test_a_cursor_that_waited_for_the_next_in_vain_is_not_where_it_was(remote, judge):
    """A cursor at the only message waits for the next one and gives up: a peek by it does not bring the old message
    again, but the one that comes then.
    """
    queue = filled(remote, "first")
    cursor = queue.cursor().settled().out.phCursor
    read = queue.read(PEEK_CURRENT, hCursor=cursor)
    waited = queue.begin(PEEK_NEXT, hCursor=cursor, ulTimeout=SHORT_MS)
    waited.wait(SHORT_MS + remote.sut.response_timeout_ms)
    again = queue.read(PEEK_CURRENT, hCursor=cursor)
    deliver(remote, ["second"])
    then = queue.read(PEEK_CURRENT, hCursor=cursor)
    observed = [brought(read), failed(waited), failed(again), brought(then)]
    evidence = [read, waited, again, then]
    judge("MQDMPR-3.2.7.3-15", expected=["first", FAILURE, FAILURE, "second"], observed=observed, evidence=evidence)
