"""MS-MQDMPR 3.2.7.5 Message Available: several pending receives by one cursor."""

from __future__ import annotations

import pytest

from harness.expectations import each
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import Action
from suites.mqdmpr.s3_2_cursor.test_cursors import ILLEGAL_CURSOR_STATUS, LONG_READ_TIMEOUT_MS

pytestmark = needs("qm2qm")


@covers("MQDMPR-3.2.7.5-06")
@pytest.mark.parametrize("cursor_count", [1, 2])
def test_each_completed_receive_leaves_its_cursor_unread(remote, judge, cursor_count):
    """Messages complete three pending receives by each of one or two cursors of a handle, which take turns. After each
    of these receives, a peek at the next message by its cursor fails with MQ_ERROR_ILLEGAL_CURSOR_ACTION.
    """
    queue = remote.open_with_messages()
    cursors = [queue.open_cursor() for _ in range(cursor_count)]
    outcomes, evidence = [], []
    for label in ("first", "second", "third"):
        for number, cursor in enumerate(cursors):
            read = queue.begin(Action.RECEIVE, hCursor=cursor, ulTimeout=LONG_READ_TIMEOUT_MS)
            read.state_after_silence()
            remote.deliver([f"{label} of cursor {number}"])
            queue.acknowledge(read.wait().expect_success()).expect_success()
            refused = queue.peek_next(hCursor=cursor)
            outcomes.append(refused.outcome)
            evidence += [read, refused]
    judge(
        "MQDMPR-3.2.7.5-06",
        expected=each(ILLEGAL_CURSOR_STATUS, "peek"),
        observed=outcomes,
        case="peeks at the next message after the completed receives",
        evidence=evidence,
    )
