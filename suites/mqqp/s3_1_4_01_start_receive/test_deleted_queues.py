"""MS-MQQP 3.1.4.1, 3.1.4.7, 3.1.4.10, 3.1.4.11: handles of a queue that is deleted while it is open."""

from __future__ import annotations

from harness.peer.remote import LOOKUP, START, START2
from harness.run.marks import covers, goes_on, needs
from harness.wire.rpc_qm2qm import (
    FIRST_ID,
    LOOKUP_PEEK_NEXT,
    LOOKUP_RECEIVE_NEXT,
    PEEK_CURRENT,
    PEEK_NEXT,
    RECEIVE,
)
from harness.wire.rpc_qmcomm import DIRECT, queue_format
from suites.mqqp.steps.methods import by_each, judge_each
from suites.mqqp.steps.reading import FAILURE, SECOND, brought, failed, filled, frames, waiting

LONG_MS = 60_000


@needs("qm2qm", "queue_control")
@by_each(
    {
        START: {"failure": ["MQQP-3.1.4.1-10", "MQQP-3.1.4.1-D20"]},
        START2: {"failure": ["MQQP-3.1.4.10-10", "MQQP-3.1.4.10-55"]},
        LOOKUP: {"failure": ["MQQP-3.1.4.11-18", "MQQP-3.1.4.11-58"]},
    }
)
@covers("MQQP-3.1.4.7-03")
@goes_on()
def test_a_queue_that_is_deleted_is_read_no_more(remote, sut, judge, by, rules):
    """Reads that wait there end with a failure when it is deleted, and those that come then; another is read on."""
    name = sut.new_queue("deleted")
    path = rf"TCP:{sut.address}\{name}"
    queue, beside = remote.open(form=queue_format(DIRECT, path)), filled(remote, SECOND)
    cursor, unread = (queue.cursor().settled().out.phCursor for _ in range(2))
    waits = []
    if by != LOOKUP:
        waits = [queue.begin(action, by=by, ulTimeout=LONG_MS) for action in (RECEIVE, PEEK_CURRENT)]
        waits.append(queue.begin(RECEIVE, by=by, hCursor=unread, ulTimeout=LONG_MS))
        for read in waits:
            waiting(read)
    sut.delete_queue(name)
    ends = [failed(read.wait()) for read in waits]
    if by == LOOKUP:
        reads = [queue.read(one, by=by, lookup_id=FIRST_ID) for one in (LOOKUP_PEEK_NEXT, LOOKUP_RECEIVE_NEXT)]
    else:
        reads = [queue.read(action, by=by) for action in (RECEIVE, PEEK_CURRENT)]
        reads += [queue.read(action, by=by, hCursor=cursor) for action in (PEEK_NEXT, PEEK_CURRENT, RECEIVE)]
    purged = queue.purge()
    then = brought(beside.receive())
    observed = [*ends, *(failed(read) for read in reads), then]
    expected = [*[FAILURE] * (len(ends) + len(reads)), SECOND]
    purge_failed = "failure" if purged.outcome != "MQ_OK" else purged.outcome
    judge("MQQP-3.1.4.7-03", expected="failure", observed=purge_failed, evidence=purged.evidence)
    judge_each(judge, rules["failure"], expected=expected, observed=observed, evidence=frames([*waits, *reads]))
