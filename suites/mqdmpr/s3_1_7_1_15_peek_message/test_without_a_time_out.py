"""MS-MQDMPR 3.1.7.1.10, 3.1.7.1.14, 3.1.7.1.15: reads of an application that gives no time-out."""

from __future__ import annotations

import pytest

from harness.peer.remote import START, START2
from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome
from harness.wire.rpc_qm2qm import PEEK_CURRENT, PEEK_NEXT
from suites.applications import Application, PendingRequest
from suites.mqqp.steps.methods import by_each
from suites.mqqp.steps.reading import WAITING, brought, waiting

HOURS_MS = 30 * 3_600_000
"""Where time can be hurried: longer than any time-out that an implementation might take for none."""
READS = {
    "receive": "MQDMPR-3.1.7.1.10-08",
    "peek_next": "MQDMPR-3.1.7.1.14-07",
    "peek_message": "MQDMPR-3.1.7.1.15-07",
}


def _where(sut, application, verb):
    """Say where a read reads: one of the next message is by a cursor, at a message."""
    if verb != "peek_next":
        return {"queue": application.queue}
    application.fill("before")
    handle = sut.control.call("open_queue", queue=application.queue, access="peek")["handle"]
    cursor = sut.control.call("open_cursor", handle=handle)["cursor"]
    sut.control.call("peek_message", cursor=cursor, timeout_ms=0)
    return {"cursor": cursor}


@needs("queue_control", "receive", "send")
@pytest.mark.parametrize("verb", [pytest.param(verb, marks=covers(rule), id=verb) for verb, rule in READS.items()])
def test_a_read_without_a_time_out_waits_for_a_message(peer, sut, judge, verb):
    """A read of an application that gives no time-out waits until a message comes, however long that takes."""
    application = Application(peer, sut)
    where = _where(sut, application, verb)
    read = PendingRequest(peer, verb, timeout_ms=None, **where)
    peer.pass_time(HOURS_MS if peer.environment.virtual else sut.quiet_ms)
    early = read.is_answered()
    application.send("awaited")
    brought = read.await_label()
    if brought == Outcome.REFUSED:
        judge.end_unobservable("the SUT's control channel gives every read of an application a time-out")
        return
    judge(
        READS[verb],
        expected={"answered_early": False, "brought": "awaited"},
        observed={"answered_early": early, "brought": brought},
    )


LONG_MS = 60_000


@needs("qm2qm")
@by_each(
    {
        START: {
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
        START2: {
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
            "next": ["MQQP-3.1.4.10-40", "MQDMPR-3.2.7.5-04"],
        },
    }
)
def test_a_peek_by_a_cursor_waits_for_a_message_and_goes_there(remote, judge, by, rules):
    """Each peek that waits by a cursor gets the message that comes, at which its cursor stays until it goes on."""
    queue = remote.filled()
    cursors = [queue.cursor().settled().out.phCursor for _ in range(2)]
    reads = [queue.begin(PEEK_CURRENT, by=by, hCursor=cursor, ulTimeout=LONG_MS) for cursor in cursors]
    early = [waiting(read) for read in reads]
    remote.deliver(["first"])
    came = [brought(read.wait()) for read in reads]
    remote.deliver(["second"])
    again = [queue.read(PEEK_CURRENT, by=by, hCursor=cursor) for cursor in cursors]
    judge(
        *rules["current"],
        expected={"before": [WAITING, WAITING], "came": ["first", "first"], "again": ["first", "first"]},
        observed={"before": early, "came": came, "again": [brought(read) for read in again]},
        evidence=[*reads, *again],
    )
    on = [queue.read(PEEK_NEXT, by=by, hCursor=cursor) for cursor in cursors]
    observed = [brought(read) for read in on]
    judge(*rules["next"], expected=["second", "second"], observed=observed, evidence=on)
