"""MS-MQDMPR 3.2 Cursor: cursors at messages that are gone or were never there, and reads that wait by them.

The events that are generated say it (MS-MQDMPR 3.1.7.1.10, 3.1.7.1.14, 3.1.7.1.15, 3.2.7).
"""

from __future__ import annotations

import pytest

from harness.expectations import each
from harness.peer.remote import START, START2
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import PEEK_CURRENT, PEEK_NEXT, RECEIVE, RR_ACK, RR_NACK
from suites.mqqp.steps.methods import by_each
from suites.mqqp.steps.reading import (
    FAILURE,
    WAITING,
    brought,
    failed,
    waiting,
)

pytestmark = needs("qm2qm")

LONG_MS, SHORT_MS = 60_000, 300
ALREADY_RECEIVED, ILLEGAL = "MQ_ERROR_MESSAGE_ALREADY_RECEIVED", "MQ_ERROR_ILLEGAL_CURSOR_ACTION"


@by_each(
    {
        START: {
            "current": ["MQQP-3.1.4.1-D04", "MQQP-3.1.4.1-D16"],
            "next": ["MQQP-3.1.4.1-D05", "MQQP-3.1.4.1-D17", "MQDMPR-3.1.7.3.2-11"],
        },
        START2: {
            "current": ["MQQP-3.1.4.10-36", "MQQP-3.1.4.10-D03", "MQDMPR-3.2.7.2-27", "MQDMPR-3.1.7.2.1-04"],
            "next": ["MQQP-3.1.4.10-40", "MQQP-3.1.4.10-D04", "MQDMPR-3.1.7.3.2-11", "MQDMPR-3.2.7.3-09"],
        },
    }
)
@covers("MQDMPR-3.1.7.1.10-16", "MQDMPR-3.1.7.1.10-17", "MQDMPR-3.1.7.1.15-15", "MQDMPR-3.1.7.1.15-16")
@pytest.mark.parametrize("ended", [False, True], ids=["locked", "taken"])
def test_a_cursor_stays_where_its_message_was(remote, judge, by, rules, ended):
    """A cursor stays where its message was that another reader received: it has a next message, and no current one."""
    queue, other = remote.filled("first", "second", "third", "fourth"), remote.open()
    cursor, taking, walking = (one.cursor().settled().out.phCursor for one in (queue, queue, other))
    for one, at in ((queue, cursor), (queue, taking), (other, walking)):
        one.read(PEEK_CURRENT, by=by, hCursor=at).settled()
        before = one.read(PEEK_NEXT, by=by, hCursor=at)
    taken = other.read(RECEIVE, by=by, hCursor=walking)
    if ended:
        other.end(taken).settled()
    gone = [queue.read(PEEK_CURRENT, by=by, hCursor=cursor) for _ in range(2)]
    refused = queue.read(RECEIVE, by=by, hCursor=taking)
    following = [queue.read(action, by=by, hCursor=cursor) for action in (PEEK_NEXT, PEEK_CURRENT, PEEK_NEXT)]
    expected = {"before": "second", "taken": "second", "current": each(FAILURE)}
    observed = {"before": brought(before), "taken": brought(taken), "current": [failed(read) for read in gone]}
    evidence = [taken, *gone, *following]
    judge(*rules["current"], expected=expected, observed=observed, evidence=evidence)
    outcomes = [read.outcome for read in gone]
    judge(
        "MQDMPR-3.1.7.1.15-15",
        "MQDMPR-3.1.7.1.15-16",
        expected=each(ALREADY_RECEIVED, "peek"),
        observed=outcomes,
        evidence=gone,
    )
    judge(
        "MQDMPR-3.1.7.1.10-16",
        "MQDMPR-3.1.7.1.10-17",
        expected=ALREADY_RECEIVED,
        observed=refused.outcome,
        evidence=[taken, refused],
    )
    went = [brought(read) for read in following]
    judge(*rules["next"], expected=["third", "third", "fourth"], observed=went, evidence=evidence)


def fresh(remote, queue, cursor, by):
    """Do nothing with a cursor; return the message that it leads to."""
    remote.deliver(["first", "second"])
    return "first"


def received(remote, queue, cursor, by):
    """Receive the message that a cursor is at."""
    remote.deliver(["first", "second"])
    queue.read(PEEK_CURRENT, by=by, hCursor=cursor).settled()
    queue.receive(by=by, hCursor=cursor)
    return "second"


def received_later(remote, queue, cursor, by):
    """Receive through a cursor a message that comes later."""
    read = queue.begin(RECEIVE, by=by, hCursor=cursor, ulTimeout=LONG_MS)
    waiting(read)
    remote.deliver(["first"])
    queue.end(read.wait().settled(), RR_ACK).settled()
    remote.deliver(["second"])
    return "second"


def received_nothing(remote, queue, cursor, by):
    """Wait in vain through a cursor; where that is then, the document leaves open (it says: at the end)."""
    queue.begin(RECEIVE, by=by, hCursor=cursor, ulTimeout=SHORT_MS).wait(SHORT_MS + remote.sut.response_timeout_ms)
    remote.deliver(["first"])


UNREAD = {
    "fresh": fresh,
    "received": received,
    "received later": received_later,
    "received nothing": received_nothing,
}
"""What leaves a cursor with no message that was read; each returns what PEEK_CURRENT then reads, if that is said."""


@by_each(
    {
        START: {"next": ["MQQP-3.1.4.1-D17"]},
        START2: {
            "next": [
                "MQQP-3.1.4.10-40",
                "MQDMPR-3.2.7.1-07",
                "MQDMPR-3.2.7.1-08",
                "MQDMPR-3.2.7.3-06",
                "MQDMPR-3.2.7.4-26",
                "MQDMPR-3.2.7.5-06",
                "MQDMPR-3.2.7.6-05",
            ]
        },
    }
)
@covers("MQDMPR-3.1.7.1.14-13", "MQDMPR-3.1.7.1.14-14")
@pytest.mark.parametrize("way", UNREAD)
def test_the_next_message_is_that_behind_one_that_was_read(remote, judge, by, rules, way):
    """A cursor that is new, or by which a message was received, has no next message until PEEK_CURRENT has read one."""
    queue = remote.filled()
    cursor = queue.cursor().settled().out.phCursor
    there = UNREAD[way](remote, queue, cursor, by)
    refused = queue.read(PEEK_NEXT, by=by, hCursor=cursor)
    unread = ("MQDMPR-3.1.7.1.14-13", "MQDMPR-3.1.7.1.14-14")
    judge(*unread, expected=ILLEGAL, observed=refused.outcome, evidence=refused)
    seen, expected = [failed(refused)], [FAILURE]
    reads = [refused]
    if there is not None:
        remote.deliver(["third"])
        reads += [queue.read(action, by=by, hCursor=cursor) for action in (PEEK_CURRENT, PEEK_NEXT)]
        expected += [there, "second" if there == "first" else "third"]
        seen += [brought(read) for read in reads[1:]]
    judge(*rules["next"], expected=expected, observed=seen, evidence=reads)


def passed_by(remote, by, first, then):
    """Let a cursor wait behind a message of low priority, while one of high priority comes, whose place is before it.

    Return what became of the read, and the read.
    """
    queue = remote.filled()
    low, high = (
        remote.peer.recoverable_message(base={"PR": priority}, label=label)
        for priority, label in ((1, "first"), (6, "second"))
    )
    remote.send_all([low])
    cursor = queue.cursor().settled().out.phCursor
    queue.read(first, by=by, hCursor=cursor).settled()
    read = queue.begin(then, by=by, hCursor=cursor, ulTimeout=LONG_MS)
    before = waiting(read)
    remote.send_all([high])
    return {"before": before, "after": brought(read.wait())}, read


@by_each(
    {
        START: {"next": ["MQQP-3.1.4.1-D17", "MQDMPR-3.1.7.1.14-24"]},
        START2: {"next": ["MQQP-3.1.4.10-40", "MQDMPR-3.1.7.1.14-24", "MQDMPR-3.2.7.3-16"]},
    }
)
def test_any_message_ends_a_wait_for_the_next(remote, judge, by, rules):
    """PEEK_NEXT that waits behind a message reads whichever comes, also one whose place is before the cursor."""
    observed, read = passed_by(remote, by, PEEK_CURRENT, PEEK_NEXT)
    judge(*rules["next"], expected={"before": WAITING, "after": "second"}, observed=observed, evidence=read)


@by_each(
    {
        START: {"receive": ["MQQP-3.1.4.1-D15", "MQDMPR-3.1.7.1.10-30"]},
        START2: {"receive": ["MQQP-3.1.4.10-31", "MQDMPR-3.1.7.1.10-30", "MQDMPR-3.2.7.4-17"]},
    }
)
def test_any_message_ends_a_wait_by_a_cursor(remote, judge, by, rules):
    """RECEIVE that waits by a cursor behind a message takes whichever comes, also one whose place is before it."""
    observed, read = passed_by(remote, by, RECEIVE, RECEIVE)
    judge(*rules["receive"], expected={"before": WAITING, "after": "second"}, observed=observed, evidence=read)


@by_each(
    {
        START: {"receive": ["MQQP-3.1.4.1-D15"]},
        START2: {
            "receive": [
                "MQQP-3.1.4.10-31",
                "MQDMPR-3.2.7.4-07",
                "MQDMPR-3.2.7.4-20",
                "MQDMPR-3.2.7.4-21",
                "MQDMPR-3.2.7.4-22",
            ]
        },
    }
)
def test_a_receive_by_a_cursor_goes_on_from_where_it_is(remote, judge, by, rules):
    """A cursor by which a message was received is behind it, also when the message is given back to its queue."""
    queue = remote.filled("first", "second", "third")
    cursor, fresh_one = (queue.cursor().settled().out.phCursor for _ in range(2))
    first = queue.read(RECEIVE, by=by, hCursor=cursor)
    ended = queue.end(first, RR_NACK)
    reads = [queue.read(RECEIVE, by=by, hCursor=one) for one in (cursor, fresh_one)]
    seen = [brought(read) for read in reads]
    judge(
        *rules["receive"],
        expected={"received": "first", "given_back": "MQ_OK", "by_the_cursor": "second", "by_a_new_one": "first"},
        observed={
            "received": brought(first),
            "given_back": ended.outcome,
            "by_the_cursor": seen[0],
            "by_a_new_one": seen[1],
        },
        evidence=[first, *reads],
    )


@by_each(
    {
        START: {
            "next": ["MQQP-3.1.4.1-D05", "MQQP-3.1.4.1-D17", "MQDMPR-3.1.7.3.2-12", "MQDMPR-3.1.7.3.2-16"],
            "receive": ["MQQP-3.1.4.1-D03", "MQDMPR-3.1.7.3.2-16"],
        },
        START2: {
            "next": ["MQQP-3.1.4.10-40", "MQQP-3.1.4.10-D04", "MQDMPR-3.1.7.3.2-12", "MQDMPR-3.1.7.3.2-16"],
            "receive": ["MQQP-3.1.4.10-D02", "MQDMPR-3.1.7.3.2-16"],
        },
    }
)
def test_a_message_locked_by_another_is_passed_over(remote, judge, by, rules):
    """A message that another reader has locked is passed over by cursors and receives until it is given back."""
    labels = ["first", "second", "third", "fourth"]
    queue, other = remote.filled(*labels), remote.open()
    walking = other.cursor().settled().out.phCursor
    for action in (PEEK_CURRENT, PEEK_NEXT):
        other.read(action, by=by, hCursor=walking).settled()
    locked = other.read(RECEIVE, by=by, hCursor=walking).settled()
    cursor = queue.cursor().settled().out.phCursor
    steps = [queue.read(action, by=by, hCursor=cursor) for action in (PEEK_CURRENT, PEEK_NEXT, PEEK_NEXT, PEEK_NEXT)]
    judge(
        *rules["next"],
        expected={"locked": "second", "by_the_cursor": ["first", "third", "fourth"], "at_the_end": FAILURE},
        observed={
            "locked": brought(locked),
            "by_the_cursor": [brought(step) for step in steps[:3]],
            "at_the_end": failed(steps[3]),
        },
        evidence=[locked, *steps],
    )
    taken = [queue.receive(by=by), queue.receive(by=by)]
    other.end(locked, RR_NACK).settled()
    judge(
        *rules["receive"],
        expected={"received": ["first", "third"], "queue": ["second", "fourth"]},
        observed={"received": [brought(read) for read in taken], "queue": queue.labels()},
        evidence=taken,
    )
