"""MS-MQQP 3.1.4.5 RemoteQMCloseCursor."""

from __future__ import annotations

from harness.run.marks import covers, goes_on, needs
from harness.wire.rpc_qm2qm import PEEK_CURRENT
from suites.mqqp.steps.reading import FIRST, UNKNOWN_HANDLE, brought, filled

pytestmark = needs("qm2qm")

INVALID_HANDLE = "MQ_ERROR_INVALID_HANDLE"


@covers(
    "MQQP-3.1.4.5-01",
    "MQQP-3.1.4.5-03",
    "MQQP-3.1.4.5-07",
    "MQQP-3.1.4.5-09",
    "MQQP-3.1.4.5-10",
    "MQQP-3.1.4.5-11",
    "MQQP-3.1.4.5-13",
    "MQQP-2.2.2.1-01",
)
@goes_on()
def test_a_closed_cursor_is_gone_and_another_is_not(remote, judge):
    """Unknown queues and cursors are refused, the queue of another, too; the closed cursor cannot be read with."""
    queue = filled(remote, FIRST)
    admin = remote.open("admin", association=queue.association)
    closing, kept = (queue.cursor().settled().out.phCursor for _ in range(2))
    read = queue.read(PEEK_CURRENT, hCursor=closing)
    wrong = [
        queue.close_cursor(UNKNOWN_HANDLE),
        queue.close_cursor(closing, hQueue=UNKNOWN_HANDLE),
        admin.close_cursor(closing),
    ]
    evidence = [frame for call in wrong for frame in call.evidence]
    judge(
        "MQQP-3.1.4.5-10", expected=[INVALID_HANDLE] * 3, observed=[call.outcome for call in wrong], evidence=evidence
    )
    still = queue.read(PEEK_CURRENT, hCursor=closing)
    closed = queue.close_cursor(closing)
    seen = [wrong[2].outcome, brought(still), closed.outcome]
    judge("MQQP-3.1.4.5-07", expected=[INVALID_HANDLE, FIRST, "MQ_OK"], observed=seen, evidence=closed.evidence)
    for rule in ("MQQP-3.1.4.5-03", "MQQP-3.1.4.5-13"):
        judge(rule, expected="MQ_OK", observed=closed.outcome, evidence=closed.evidence)
    gone = queue.read(PEEK_CURRENT, hCursor=closing)
    again = queue.close_cursor(closing)
    for rule in ("MQQP-3.1.4.5-01", "MQQP-3.1.4.5-11"):
        expected, observed = ["STATUS_INVALID_PARAMETER", INVALID_HANDLE], [gone.outcome, again.outcome]
        judge(rule, expected=expected, observed=observed, evidence=[*gone.evidence, *again.evidence])
    judge.finished(
        "MQQP-3.1.4.5-01", "MQQP-3.1.4.5-03", "MQQP-3.1.4.5-07", "MQQP-3.1.4.5-10", "MQQP-3.1.4.5-11", "MQQP-3.1.4.5-13"
    )
    other = queue.read(PEEK_CURRENT, hCursor=kept)
    judge("MQQP-3.1.4.5-09", expected=FIRST, observed=brought(other), evidence=other.evidence)
    seen = [brought(read), gone.outcome]
    judge("MQQP-2.2.2.1-01", expected=[FIRST, "STATUS_INVALID_PARAMETER"], observed=seen, evidence=read.evidence)
