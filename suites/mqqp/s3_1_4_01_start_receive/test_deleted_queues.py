"""MS-MQQP 3.1.4.1, 3.1.4.7, 3.1.4.10, 3.1.4.11: handles of a queue that is deleted while it is open."""

from __future__ import annotations

from harness.expectations import each, facts, holds, one_of
from harness.peer.remote import LOOKUP, START, START2
from harness.run.marks import covers, needs, sut_survives
from harness.wire.rpc_qm2qm import (
    FIRST_ID,
    LOOKUP_PEEK_NEXT,
    LOOKUP_RECEIVE_NEXT,
    PEEK_CURRENT,
    PEEK_NEXT,
    RECEIVE,
)
from harness.wire.rpc_qmcomm import DIRECT, queue_format
from suites.mqqp.steps.methods import by_each
from suites.mqqp.steps.reading import FAILURE, FIRST, SECOND, brought, failed, waiting

LONG_MS = 600_000
GONE = one_of("MQ_ERROR_QUEUE_NOT_AVAILABLE", "MQ_ERROR_INVALID_PARAMETER")
"""What is answered of a queue that is not there any more: its own status, or that of a handle that is none (E170)."""


@needs("qm2qm", "queue_control")
@by_each(
    {
        START: {
            "failure": ["MQQP-3.1.4.1-10", "MQQP-3.1.4.1-D20"],
            "receive": ["MQDMPR-3.1.7.1.10-06", "MQDMPR-3.1.7.1.11-04"],
            "peek": ["MQDMPR-3.1.7.1.15-04"],
            "next": ["MQDMPR-3.1.7.1.14-04"],
        },
        START2: {
            "failure": ["MQQP-3.1.4.10-10", "MQQP-3.1.4.10-55"],
            "receive": ["MQDMPR-3.1.7.1.10-06", "MQDMPR-3.1.7.1.11-04"],
            "peek": ["MQDMPR-3.1.7.1.15-04"],
            "next": ["MQDMPR-3.1.7.1.14-04"],
        },
        LOOKUP: {
            "failure": ["MQQP-3.1.4.11-18", "MQQP-3.1.4.11-58"],
            "peek": ["MQDMPR-3.1.7.1.13-07"],
            "receive": ["MQDMPR-3.1.7.1.13-07"],
        },
    }
)
@covers("MQQP-3.1.4.7-03", "MQDMPR-3.1.7.1.12-04")
@sut_survives()
def test_a_queue_that_is_deleted_is_read_no_more(remote, sut, judge, by, rules):
    """Reads that wait there end with a failure when it is deleted, and those that come then; another is read on.

    So does the end of a receive that was begun before.
    """
    name = sut.new_queue("deleted")
    path = rf"TCP:{sut.address}\{name}"
    queue, beside = remote.open(form=queue_format(DIRECT, path)), remote.filled(SECOND)
    cursor, unread = (queue.cursor().settled().out.phCursor for _ in range(2))
    remote.send_all([remote.peer.recoverable_message(destination=path, label=FIRST)])
    held = queue.read(RECEIVE, hCursor=unread)
    waits = []
    if by != LOOKUP:
        waits = [queue.begin(action, by=by, ulTimeout=LONG_MS) for action in (RECEIVE, PEEK_CURRENT)]
        waits.append(queue.begin(RECEIVE, by=by, hCursor=unread, ulTimeout=LONG_MS))
        for read in waits:
            waiting(read)
    sut.delete_queue(name)
    ends = [failed(read.wait()) for read in waits]
    if by == LOOKUP:
        made = {
            kind: [queue.read(action, by=by, lookup_id=FIRST_ID)]
            for kind, action in (("peek", LOOKUP_PEEK_NEXT), ("receive", LOOKUP_RECEIVE_NEXT))
        }
    else:
        made = {
            kind: [queue.read(action, by=by, hCursor=at) for at in places]
            for kind, action, places in (
                ("receive", RECEIVE, (0, cursor)),
                ("peek", PEEK_CURRENT, (0, cursor)),
                ("next", PEEK_NEXT, (cursor,)),
            )
        }
    for kind, calls in made.items():
        outcomes = [call.outcome for call in calls]
        judge(*rules[kind], expected=each(GONE, kind), observed=outcomes, evidence=calls, errata="E170")
    end = queue.end(held)
    judge("MQDMPR-3.1.7.1.12-04", expected=GONE, observed=end.outcome, evidence=[held, end], errata="E170")
    reads = [call for calls in made.values() for call in calls]
    purged = queue.purge()
    then = brought(beside.receive())
    observed = {"deleted": [*ends, *map(failed, reads)], "beside": then}
    judge(
        "MQQP-3.1.4.7-03",
        expected=holds("the purge fails"),
        observed=purged.outcome != "MQ_OK" or purged.outcome,
        evidence=purged.evidence,
    )
    expected = facts(deleted=each(FAILURE, "read"), beside=SECOND)
    judge(*rules["failure"], expected=expected, observed=observed, evidence=[*waits, *reads])
