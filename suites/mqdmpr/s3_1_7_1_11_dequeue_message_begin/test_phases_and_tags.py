"""MS-MQDMPR 3.1.7.1.11 Dequeue Message Begin: the two phases of each kind of receive, and tags of pending receives."""

from __future__ import annotations

import pytest

from harness.expectations import facts, in_queue
from harness.peer.association import Call
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import Action
from suites.mqqp.steps.cancelling import NO_MESSAGE_OUTCOME, describe_cancelled_read

pytestmark = needs("qm2qm")

LONG_READ_TIMEOUT_MS = 600_000


def _receive_available_message(remote, queue, cursor):
    remote.deliver(["a"])
    return queue.start_receive()


def _receive_by_cursor(remote, queue, cursor):
    remote.deliver(["a"])
    return queue.start_receive(hCursor=cursor)


def _receive_peeked_message(remote, queue, cursor):
    remote.deliver(["a"])
    queue.peek(hCursor=cursor).expect_success()
    return queue.start_receive(hCursor=cursor, ulTimeout=LONG_READ_TIMEOUT_MS)


def _receive_after_wait(remote, queue, cursor):
    read = queue.begin(Action.RECEIVE, ulTimeout=LONG_READ_TIMEOUT_MS)
    read.state_after_silence()
    remote.deliver(["a"])
    return read.wait()


def _receive_by_cursor_after_wait(remote, queue, cursor):
    read = queue.begin(Action.RECEIVE, hCursor=cursor, ulTimeout=LONG_READ_TIMEOUT_MS)
    read.state_after_silence()
    remote.deliver(["a"])
    return read.wait()


RECEIVE_FUNCTION_BY_KIND_OF_RECEIVE = {
    "available message": _receive_available_message,
    "message of a new cursor": _receive_by_cursor,
    "message at which the cursor has peeked": _receive_peeked_message,
    "message that arrives": _receive_after_wait,
    "message that arrives for a cursor": _receive_by_cursor_after_wait,
}
"""For each kind of receive, the function that receives the message ``a``."""


@covers("MQDMPR-3.1.7.1.11-07")
@pytest.mark.parametrize("kind", RECEIVE_FUNCTION_BY_KIND_OF_RECEIVE)
def test_each_kind_of_receive_has_two_phases(remote, judge, kind):
    """A receive locks its message: other readers do not see it. The second phase returns the message to the queue. A
    second receive, which is acknowledged, removes the message.
    """
    queue = remote.open()
    read = RECEIVE_FUNCTION_BY_KIND_OF_RECEIVE[kind](remote, queue, queue.open_cursor())
    locked = queue.labels()
    returned = queue.put_message_back(read)
    labels = queue.labels()
    removed = queue.start_receive()
    ended = queue.acknowledge(removed)
    judge(
        "MQDMPR-3.1.7.1.11-07",
        expected=facts(
            receive="a", first_phase=[], return_="MQ_OK", after_the_return=in_queue("a"), removal="MQ_OK", at_the_end=[]
        ),
        observed={
            "receive": read.label_or_outcome,
            "first_phase": locked,
            "return_": returned.outcome,
            "after_the_return": labels,
            "removal": ended.outcome,
            "at_the_end": queue.labels(),
        },
        evidence=[read, returned, removed, ended],
    )


@covers("MQDMPR-3.1.7.1.11-12")
@pytest.mark.parametrize("number", [0, 7], ids=["number 0", "number 7"])
@pytest.mark.parametrize("which", [0, 1], ids=["earlier handle", "later handle"])
def test_cancel_ends_read_of_its_own_handle(remote, judge, number, which):
    """Receives with the same request number wait through two handles of a queue. The cancellation through one handle
    ends only the receive of this handle, even if the number is 0.
    """
    handles = [remote.open(), remote.open()]
    reads = [one.begin_receive(dwRequestID=number, ulTimeout=LONG_READ_TIMEOUT_MS) for one in handles]
    waits = [read.state_after_silence() for read in reads]
    cancelled = handles[which].cancel(number)
    ended, other = describe_cancelled_read(reads[which]), reads[1 - which].state_after_silence()
    judge(
        "MQDMPR-3.1.7.1.11-12",
        expected=facts(before=[Call.WAITING] * 2, cancelled=NO_MESSAGE_OUTCOME, other=Call.WAITING),
        observed={"before": waits, "cancelled": ended, "other": other},
        evidence=[cancelled, *reads],
    )
