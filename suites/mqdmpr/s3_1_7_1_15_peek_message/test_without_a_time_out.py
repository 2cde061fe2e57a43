"""MS-MQDMPR 3.1.7.1.10, 3.1.7.1.14, 3.1.7.1.15: reads of an application that gives no time-out."""

from __future__ import annotations

from typing import Any

import pytest

from harness.run.marks import covers, needs
from suites.applications import REFUSED, Application, Waiting

HOURS_MS = 30 * 3_600_000
"""Where time can be hurried: longer than any time-out that an implementation might take for none."""
READS = {
    "receive": "MQDMPR-3.1.7.1.10-08",
    "peek_next": "MQDMPR-3.1.7.1.14-07",
    "peek_message": "MQDMPR-3.1.7.1.15-07",
}


def _where(sut, application, verb) -> dict[str, Any]:
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
    """It has no answer as long as there is none, and brings the message that comes then."""
    application = Application(peer, sut)
    where = _where(sut, application, verb)
    read = Waiting(peer, sut, verb, timeout_ms=None, **where)
    peer.pass_time(HOURS_MS if peer.environment.virtual else sut.quiet_ms)
    early = read.answered()
    application.send("awaited")
    brought = read.brought()
    if brought == REFUSED:
        judge.not_shown("the SUT's control channel gives every read of an application a time-out")
        return
    judge(READS[verb], expected=[False, "awaited"], observed=[early, brought])
