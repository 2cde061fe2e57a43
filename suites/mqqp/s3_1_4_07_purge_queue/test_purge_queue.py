"""MS-MQQP 3.1.4.7 RemoteQMPurgeQueue."""

from __future__ import annotations

from harness.run.marks import covers, needs
from suites.mqqp.steps.reading import FIRST, SECOND, UNKNOWN_HANDLE, deliver, filled

pytestmark = needs("qm2qm")


@covers(
    "MQQP-3.1.4.7-03", "MQQP-3.1.4.7-05", "MQQP-3.1.4.7-06", "MQQP-3.1.4.7-09", "MQQP-3.1.4.7-10", "MQQP-3.1.4.7-12"
)
def test_an_open_queue_is_purged_and_no_other(remote, judge):
    """A queue that was not opened is refused; one that was is empty afterwards, and another is not."""
    queue = filled(remote, FIRST, SECOND)
    admin = remote.open("admin", association=queue.association)
    deliver(remote, [FIRST], queue="admin")
    unopened = remote.open_remote(queue.association).settled().out.phQueue
    unknown = queue.association.call("RemoteQMPurgeQueue", hQueue=UNKNOWN_HANDLE)
    closed = queue.association.call("RemoteQMPurgeQueue", hQueue=unopened)
    expected = "MQ_ERROR_INVALID_HANDLE"
    for rule in ("MQQP-3.1.4.7-05", "MQQP-3.1.4.7-06"):
        observed = [closed.either, unknown.either, queue.labels()]
        evidence = [*closed.evidence, *unknown.evidence]
        judge(rule, expected=[expected, expected, [FIRST, SECOND]], observed=observed, evidence=evidence)
    purged = queue.purge()
    for rule in ("MQQP-3.1.4.7-03", "MQQP-3.1.4.7-12"):
        judge(rule, expected="MQ_OK", observed=purged.outcome, evidence=purged.evidence)
    judge.finished("MQQP-3.1.4.7-03", "MQQP-3.1.4.7-05", "MQQP-3.1.4.7-06", "MQQP-3.1.4.7-12")
    judge("MQQP-3.1.4.7-10", expected=[], observed=queue.labels(), evidence=purged.evidence)
    judge.finished("MQQP-3.1.4.7-10")
    judge("MQQP-3.1.4.7-09", expected=[FIRST], observed=admin.labels(), evidence=purged.evidence)
