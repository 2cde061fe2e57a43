"""MS-MQDMPR 3.1.7.3.2 Seek Available Message Position: the searches of successive receives by one cursor."""

from __future__ import annotations

import pytest

from harness.expectations import facts, in_queue
from harness.run.marks import covers, needs
from suites.mqqp.steps.reading import send_messages_to_queue

RECEIVE_COUNT = 3


@needs("qm2qm")
@covers("MQDMPR-3.1.7.3.2-03", "MQDMPR-3.1.7.3.2-11")
@pytest.mark.parametrize("kind", ["plain", "transactional"])
@pytest.mark.parametrize("end", ["acknowledged", "put back", "locked"])
def test_each_receive_by_cursor_takes_following_message(remote, judge, kind, end):
    """A cursor is at the third of seven messages. Each of three receives by this cursor takes the message that follows
    the message of the previous receive, although messages before the cursor are available. Each receive is
    acknowledged, is ended with RR_NACK, or is not ended before the next receive.
    """
    queue, other = remote.open(kind), remote.open(kind)
    send_messages_to_queue(remote, kind, *"abcdefg")
    cursor = queue.open_cursor()
    for peek in (queue.peek, queue.peek_next, queue.peek_next):
        peek(hCursor=cursor).expect_success()
    receives = []
    for _ in range(RECEIVE_COUNT):
        receives.append(queue.start_receive(hCursor=cursor).expect_success())
        if end == "acknowledged":
            queue.acknowledge(receives[-1]).expect_success()
        elif end == "put back":
            queue.put_message_back(receives[-1]).expect_success()
    judge.all(
        expected=facts(received=[*"cde"], available=in_queue(*("abcdefg" if end == "put back" else "abfg"))),
        observed={"received": [one.label_or_outcome for one in receives], "available": other.labels()},
        evidence=receives,
        case=f"receives by a cursor, each {end}",
    )
    if end == "locked":
        for one in receives:
            queue.put_message_back(one)
