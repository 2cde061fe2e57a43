"""MS-MQQP 2.2.2.1 REMOTEREADDESC: cursors of waiting reads, dwRequestIDs that several reads have, and dwSize without a
message.
"""

from __future__ import annotations

import pytest

from harness.expectations import between, each, facts
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import MAX_BUFFER_BYTES, Action, Method
from suites.mqqp.steps.cancelling import NO_MESSAGE_OUTCOME, describe_cancelled_read

pytestmark = needs("qm2qm")

LONG_READ_TIMEOUT_MS = 600_000
SHORT_READ_TIMEOUT_MS = 200


@covers("MQQP-2.2.2.1-01")
@pytest.mark.parametrize("action", [Action.PEEK_NEXT, Action.RECEIVE], ids=["peek next", "receive"])
@pytest.mark.parametrize("by", [Method.START_RECEIVE, Method.START_RECEIVE2])
def test_waiting_read_uses_its_cursor(remote, judge, by, action):
    """A cursor has passed both messages of a queue. A read with this cursor waits, and returns the next message that
    arrives, although the two messages before the cursor are still in the queue. A read with a new cursor returns the
    first message.
    """
    queue = remote.open_with_messages("first", "second")
    cursor, other = queue.open_cursor(), queue.open_cursor()
    passed = [queue.peek(by=by, hCursor=cursor), queue.peek_next(by=by, hCursor=cursor)]
    if action == Action.RECEIVE:  # the cursor also passes the message that it receives
        taken = queue.start_receive(by=by, hCursor=cursor)
        queue.put_message_back(taken)
    waiting = queue.begin(action, by=by, hCursor=cursor, ulTimeout=LONG_READ_TIMEOUT_MS)
    before = waiting.state_after_silence()
    remote.deliver(["third"])
    after = waiting.wait().label_or_outcome
    if action == Action.RECEIVE and waiting.outcome == "MQ_OK":
        queue.put_message_back(waiting)
    by_other = queue.peek(by=by, hCursor=other)
    observed = {
        "messages_before_the_cursor": [one.label_or_outcome for one in passed],
        "read_before_an_arrival": before,
        "read_after_an_arrival": after,
        "peek_by_a_new_cursor": by_other.label_or_outcome,
    }
    expected = facts(
        messages_before_the_cursor=["first", "second"],
        read_before_an_arrival=waiting.WAITING,
        read_after_an_arrival="third",
        peek_by_a_new_cursor="first",
    )
    judge("MQQP-2.2.2.1-01", expected=expected, observed=observed, evidence=[*passed, *waiting.evidence, by_other])


@covers("MQQP-2.2.2.1-04")
@pytest.mark.parametrize("kind", ["plain", "admin"], ids=["same queue", "other queue"])
def test_cancel_leaves_reads_with_same_request_id_of_other_handles(remote, judge, kind):
    """Reads with the same dwRequestID wait with three queue handles, the third one on another connection. The client
    cancels the read of the second handle. Only this read ends; the other reads still wait, and can be cancelled too.
    """
    queue = remote.open()
    beside, elsewhere = remote.open(kind, association=queue.association), remote.open(kind)
    number = remote.request_id()
    queues = (queue, beside, elsewhere)
    reads = [one.begin_receive(dwRequestID=number, ulTimeout=LONG_READ_TIMEOUT_MS) for one in queues]
    before = [read.state_after_silence() for read in reads]
    cancelled = beside.cancel(number)
    end = describe_cancelled_read(reads[1])
    after = [reads[0].state_after_silence(), reads[2].state_after_silence()]
    later = [queue.cancel(number), elsewhere.cancel(number)]
    observed = {
        "reads_before_the_cancel": before,
        "cancel": cancelled.outcome,
        "cancelled_read": end,
        "reads_of_other_handles": after,
        "later_cancels": [one.outcome for one in later],
    }
    expected = facts(
        reads_before_the_cancel=each(reads[0].WAITING),
        cancel="MQ_OK",
        cancelled_read=NO_MESSAGE_OUTCOME,
        reads_of_other_handles=each(reads[0].WAITING),
        later_cancels=each("MQ_OK"),
    )
    judge("MQQP-2.2.2.1-04", expected=expected, observed=observed, evidence=[cancelled, *later])


@covers("MQQP-2.2.2.1-D02")
@pytest.mark.parametrize("by", [Method.START_RECEIVE, Method.START_RECEIVE2])
def test_dw_size_of_read_without_message_is_in_range(remote, judge, by):
    """A peek and a receive at an empty queue, without and with a timeout, return no message. If an answer contains a
    REMOTEREADDESC, its dwSize is between 0 and 0x00420000.
    """
    queue = remote.open()
    reads = [
        queue.read(action, by=by, ulTimeout=timeout_ms)
        for action in (Action.PEEK_CURRENT, Action.RECEIVE)
        for timeout_ms in (0, SHORT_READ_TIMEOUT_MS)
    ]
    described = [read for read in reads if read.description is not None]
    if not described:
        judge.mark_not_exercised("MQQP-2.2.2.1-D02", reason="no answer contains a REMOTEREADDESC", evidence=reads)
        return
    sizes = [read.description.dwSize for read in described]
    judge("MQQP-2.2.2.1-D02", expected=each(between(0, MAX_BUFFER_BYTES), "dwSize"), observed=sizes, evidence=described)
