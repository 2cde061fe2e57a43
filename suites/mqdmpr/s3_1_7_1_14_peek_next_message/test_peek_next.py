"""MS-MQDMPR 3.1.7.1.14 Peek Next Message: cursors that wait for the next message."""

from __future__ import annotations

from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import PEEK_CURRENT, PEEK_NEXT
from suites.mqqp.steps.reading import WAITING, brought, waiting

LONG_MS = 600_000


@needs("qm2qm")
@covers("MQDMPR-3.1.7.1.14-06", "MQDMPR-3.1.7.1.14-25", "MQDMPR-3.1.7.1.14-27", "MQDMPR-3.1.7.1.14-29")
def test_arriving_message_completes_all_pending_peek_next(remote, judge):
    """Two pending peeks at the next message by two cursors both get the message that arrives in their queue, and
    their cursors move to it.
    """
    beside = remote.open("admin")
    remote.deliver(["first", "fourth"], queue="admin")
    beside.read(PEEK_CURRENT, hCursor=beside.cursor().settled().out.phCursor).settled()
    queue = remote.filled("first")
    cursors = [queue.cursor().settled().out.phCursor for _ in range(2)]
    for cursor in cursors:
        queue.read(PEEK_CURRENT, hCursor=cursor).settled()
    reads = [queue.begin(PEEK_NEXT, hCursor=cursor, ulTimeout=LONG_MS) for cursor in cursors]
    waits = [waiting(read) for read in reads]
    remote.deliver(["second"])
    came = [brought(read.wait()) for read in reads]
    judge(
        "MQDMPR-3.1.7.1.14-27",
        expected={"before": [WAITING, WAITING], "after": ["second", "second"]},
        observed={"before": waits, "after": came},
        evidence=reads,
    )
    outcomes = [read.outcome for read in reads]
    judge("MQDMPR-3.1.7.1.14-29", expected=["MQ_OK", "MQ_OK"], observed=outcomes, evidence=reads)
    remote.deliver(["third"])
    then = [queue.read(action, hCursor=cursors[0]) for action in (PEEK_CURRENT, PEEK_NEXT)]
    observed = [brought(read) for read in then]
    judge(
        "MQDMPR-3.1.7.1.14-06",
        "MQDMPR-3.1.7.1.14-25",
        expected=["second", "third"],
        observed=observed,
        evidence=then,
    )
