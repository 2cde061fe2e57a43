"""MS-MQDMPR 3.1.7.1.10 Dequeue Message."""

from __future__ import annotations

from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import RECEIVE, RR_NACK
from suites.mqqp.steps.reading import WAITING, brought, deliver, filled, waiting

SHORT_MS, LONG_MS = 400, 600_000
"""The second is longer than any check waits, on a system that stands still again and again, too."""


@needs("qm2qm")
@covers("MQDMPR-3.1.7.1.10-31")
def test_a_cursor_that_waited_to_receive_is_at_what_came(remote, judge):
    """What came is given back: it is there for a new cursor, and behind the one that waited is what comes next."""
    queue = filled(remote)
    cursor, fresh = (queue.cursor().settled().out.phCursor for _ in range(2))
    read = queue.begin(RECEIVE, hCursor=cursor, ulTimeout=LONG_MS)
    waits = waiting(read)
    deliver(remote, ["first"])
    came = brought(read.wait())
    queue.end(read, RR_NACK)
    deliver(remote, ["second"])
    then = [queue.read(RECEIVE, hCursor=one) for one in (cursor, fresh)]
    observed = [waits, came, *(brought(one) for one in then)]
    expected = [WAITING, "first", "second", "first"]
    judge("MQDMPR-3.1.7.1.10-31", expected=expected, observed=observed, evidence=[read, *then])
