"""MS-MQDMPR 3.2 Cursor: cursors at a message that expires or is purged."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import each
from harness.run.marks import covers, needs

ALREADY_RECEIVED_STATUS = "MQ_ERROR_MESSAGE_ALREADY_RECEIVED"
LIFETIME_S, TIME_FOR_REMOVAL_OF_EXPIRED_MESSAGE_S = 4, 3
"""TimeToBeReceived of the message that expires, and the time that the SUT has to remove it afterwards."""


@needs("qm2qm")
@covers("MQDMPR-3.1.7.2.1-04")
@pytest.mark.parametrize("way", ["expired", "purged"])
def test_cursor_at_message_deleted_without_receive_finds_no_other(remote, judge, way):
    """Two cursors are at a message that expires or is purged; another message arrives before an expiry, or after a
    purge. Peeks by the first cursor and a receive by the second cursor fail with MQ_ERROR_MESSAGE_ALREADY_RECEIVED.
    """
    queue = remote.open()
    remote.deliver(["first"], **({"TimeToBeReceived": LIFETIME_S} if way == "expired" else {}))
    cursors = [queue.open_cursor() for _ in range(2)]
    for cursor in cursors:
        if queue.peek(hCursor=cursor).label_or_outcome != "first":
            raise ConformanceFailure("the cursor did not read the message before it was removed")
    if way == "expired":
        remote.deliver(["second"])
        remote.peer.pass_time((LIFETIME_S + TIME_FOR_REMOVAL_OF_EXPIRED_MESSAGE_S) * 1_000)
    else:
        queue.purge().expect_success()
        remote.deliver(["second"])
    if queue.labels() != ["second"]:
        raise ConformanceFailure("the queue does not contain exactly the later message")
    reads = [queue.peek(hCursor=cursors[0]) for _ in range(2)]
    reads.append(queue.start_receive(hCursor=cursors[1], ulTimeout=0))
    judge(
        "MQDMPR-3.1.7.2.1-04",
        expected=each(ALREADY_RECEIVED_STATUS, "read"),
        observed=[one.outcome for one in reads],
        evidence=reads,
        case=f"two peeks and a receive by cursors at the {way} message",
    )
