"""MS-MQQP 3.1.4.5 RemoteQMCloseCursor, of the SUT and by the SUT."""

from __future__ import annotations

from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import PEEK_CURRENT
from suites.mqqp.steps.reader import Reader
from suites.mqqp.steps.reading import FIRST, UNKNOWN_HANDLE, filled, told

RULE = "MQQP-3.1.4.5-"
INVALID_HANDLE = "MQ_ERROR_INVALID_HANDLE"


@needs("qm2qm")
@covers(*(f"{RULE}{number}" for number in ("01", "03", "07", "09", "10", "11", "13")), "MQQP-2.2.2.1-01")
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
    judge(f"{RULE}10", expected=[INVALID_HANDLE] * 3, observed=[call.outcome for call in wrong], evidence=evidence)
    still = queue.read(PEEK_CURRENT, hCursor=closing)
    closed = queue.close_cursor(closing)
    seen = [wrong[2].outcome, told(still), closed.outcome]
    judge(f"{RULE}07", expected=[INVALID_HANDLE, FIRST, "MQ_OK"], observed=seen, evidence=closed.evidence)
    for number in ("03", "13"):
        judge(f"{RULE}{number}", expected="MQ_OK", observed=closed.outcome, evidence=closed.evidence)
    gone = queue.read(PEEK_CURRENT, hCursor=closing)
    again = queue.close_cursor(closing)
    for number in ("01", "11"):
        expected, observed = ["STATUS_INVALID_PARAMETER", INVALID_HANDLE], [gone.outcome, again.outcome]
        judge(f"{RULE}{number}", expected=expected, observed=observed, evidence=[*gone.evidence, *again.evidence])
    other = queue.read(PEEK_CURRENT, hCursor=kept)
    judge(f"{RULE}09", expected=FIRST, observed=told(other), evidence=other.evidence)
    seen = [told(read), gone.outcome]
    judge("MQQP-2.2.2.1-01", expected=[FIRST, "STATUS_INVALID_PARAMETER"], observed=seen, evidence=read.evidence)


@needs("remote_read")
@covers("MQQP-3.1.4.3-05")
def test_a_client_closes_cursors_of_queues_that_it_has_open(peer, sut, judge):
    """RemoteQMOpenQueue has come, and no RemoteQMCloseQueue, when RemoteQMCloseCursor comes."""
    reader = Reader(peer, sut)
    cursor = reader.open_cursor(reader.open())
    reader.begin("remote_close_cursor", cursor=cursor)
    call = reader.one("RemoteQMCloseCursor")
    calls = reader.server.calls
    before = {one.name for one in calls[: calls.index(call)]} & {"RemoteQMOpenQueue", "RemoteQMCloseQueue"}
    judge("MQQP-3.1.4.3-05", expected="['RemoteQMOpenQueue']", observed=str(sorted(before)), evidence=call.evidence)
