"""MS-MQDMPR 3.1.7.1.10, 3.1.7.1.14, 3.1.7.1.15: reads without a timeout, and pending peeks by a cursor."""

from __future__ import annotations

import pytest

from harness.peer.association import Call
from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome
from harness.wire.rpc_qm2qm import Action, Method
from suites.applications import Application, PendingRequest
from suites.mqqp.steps.methods import parametrize_by_method_with_rules

WAIT_LONGER_THAN_ANY_TIMEOUT_MS = 30 * 3_600_000
"""A time in ms for systems with faster timers. It is longer than any timeout that such a system might use instead of an
infinite wait.
"""
RULE_BY_READ_OPERATION = {
    "receive": "MQDMPR-3.1.7.1.10-08",
    "peek_next": "MQDMPR-3.1.7.1.14-07",
    "peek_message": "MQDMPR-3.1.7.1.15-07",
}
READ_OPERATION_AND_CURSOR_CASES = (
    *((verb, False) for verb in ("receive", "peek_message")),
    *((verb, True) for verb in RULE_BY_READ_OPERATION),
)
"""The verb of each read, and whether the read uses a cursor."""


def _build_read_arguments(sut, application, verb, by_cursor):
    """Return the arguments of a read: the queue or a cursor; for a peek at the next message, a cursor at a message."""
    if not by_cursor:
        return {"queue": application.queue}
    access = "receive" if verb == "receive" else "peek"
    handle = sut.control.call("open_queue", queue=application.queue, access=access)["handle"]
    cursor = sut.control.call("open_cursor", handle=handle)["cursor"]
    if verb == "peek_next":
        application.fill_queue("before")
        sut.control.call("peek_message", cursor=cursor, timeout_ms=0)
    return {"cursor": cursor}


@needs("queues", "receive", "send")
@pytest.mark.parametrize(
    ("verb", "by_cursor"),
    [
        pytest.param(
            verb,
            by_cursor,
            marks=covers(RULE_BY_READ_OPERATION[verb]),
            id=f"{verb} by cursor" if by_cursor and verb != "peek_next" else verb,
        )
        for verb, by_cursor in READ_OPERATION_AND_CURSOR_CASES
    ],
)
def test_read_without_timeout_waits_for_message(peer, sut, judge, verb, by_cursor):
    """An application begins a receive, peek or peek-next without a timeout, by a cursor or by the name of the queue. If
    this read is a peek by name, a second peek waits too. The reads are still pending after 30 hours (in real time,
    after the silence window), and then return a message that arrives.
    """
    application = Application(peer, sut)
    arguments = _build_read_arguments(sut, application, verb, by_cursor)
    read = PendingRequest(peer, verb, timeout_ms=None, **arguments)
    peer.settle()
    second = (
        PendingRequest(peer, "peek_message", timeout_ms=None, queue=application.queue)
        if verb == "peek_message"
        else read
    )
    peer.pass_time(WAIT_LONGER_THAN_ANY_TIMEOUT_MS if peer.environment.is_time_virtual else sut.quiet_ms)
    is_early = read.is_answered() or second.is_answered()
    application.send("first")
    label = read.await_label()
    second.await_outcome()
    if label == Outcome.REFUSED:
        judge.end_unobservable("the control channel sets a timeout for every read of an application")
        return
    judge(
        RULE_BY_READ_OPERATION[verb],
        expected={"read ends before a message arrives": False, "label returned by the read": "first"},
        observed={"read ends before a message arrives": is_early, "label returned by the read": label},
    )


LONG_READ_TIMEOUT_MS = 60_000


@needs("qm2qm")
@parametrize_by_method_with_rules(
    {
        Method.START_RECEIVE: {
            "current": [
                "MQQP-3.1.4.1-D16",
                "MQDMPR-3.1.7.1.15-18",
                "MQDMPR-3.1.7.1.15-19",
                "MQDMPR-3.1.7.1.15-26",
                "MQDMPR-3.1.7.1.15-27",
                "MQDMPR-3.1.7.1.15-29",
                "MQDMPR-3.1.7.1.15-31",
            ],
            "next": ["MQQP-3.1.4.1-D17"],
        },
        Method.START_RECEIVE2: {
            "current": [
                "MQQP-3.1.4.10-36",
                "MQDMPR-3.1.7.1.15-18",
                "MQDMPR-3.1.7.1.15-19",
                "MQDMPR-3.1.7.1.15-26",
                "MQDMPR-3.1.7.1.15-27",
                "MQDMPR-3.1.7.1.15-29",
                "MQDMPR-3.1.7.1.15-31",
                "MQDMPR-3.2.7.2-12",
                "MQDMPR-3.2.7.2-13",
                "MQDMPR-3.2.7.5-07",
            ],
            "next": ["MQQP-3.1.4.10-40", "MQDMPR-3.2.7.5-04", "MQDMPR-3.2.7.5-07"],
        },
    }
)
def test_cursor_of_pending_peek_moves_to_arriving_message(remote, judge, by, rules):
    """Two pending peeks by cursors both return the message that arrives. A second peek by each cursor returns this
    message again, and a peek-next by each cursor returns the following message.
    """
    queue = remote.open_with_messages()
    cursors = [queue.open_cursor() for _ in range(2)]
    reads = [
        queue.begin(Action.PEEK_CURRENT, by=by, hCursor=cursor, ulTimeout=LONG_READ_TIMEOUT_MS) for cursor in cursors
    ]
    states = [read.state_after_silence() for read in reads]
    remote.deliver(["first"])
    labels = [read.wait().label_or_outcome for read in reads]
    remote.deliver(["second"])
    later_reads = [queue.peek(by=by, hCursor=cursor) for cursor in cursors]
    judge(
        *rules["current"],
        expected={
            "pending peeks before an arrival": [Call.WAITING, Call.WAITING],
            "pending peeks after an arrival": ["first", "first"],
            "second reads": ["first", "first"],
        },
        observed={
            "pending peeks before an arrival": states,
            "pending peeks after an arrival": labels,
            "second reads": [read.label_or_outcome for read in later_reads],
        },
        evidence=[*reads, *later_reads],
    )
    on = [queue.peek_next(by=by, hCursor=cursor) for cursor in cursors]
    observed = [read.label_or_outcome for read in on]
    judge(
        *rules["next"],
        expected=["second", "second"],
        observed=observed,
        evidence=on,
        case="labels returned by the next reads",
    )
