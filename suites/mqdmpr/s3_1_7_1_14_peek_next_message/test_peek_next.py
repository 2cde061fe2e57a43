"""MS-MQDMPR 3.1.7.1.14 Peek Next Message: cursors that wait for the next message."""

from __future__ import annotations

import pytest

from harness.expectations import each
from harness.peer.association import Call
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import Action

pytestmark = needs("qm2qm")

LONG_READ_TIMEOUT_MS = 600_000
MESSAGE_LIFETIME_S = 2
"""TimeToBeReceived, in seconds, of a message that must expire in its queue."""


@covers("MQDMPR-3.1.7.1.14-06", "MQDMPR-3.1.7.1.14-25", "MQDMPR-3.1.7.1.14-27", "MQDMPR-3.1.7.1.14-29")
def test_arriving_message_completes_all_pending_peek_next(remote, judge):
    """Two cursors each have a pending peek at the next message. Both peeks return the message that arrives, and both
    cursors move to this message.
    """
    admin_queue = remote.open("admin")
    remote.deliver(["first", "fourth"], queue="admin")
    admin_queue.peek(hCursor=admin_queue.open_cursor()).expect_success()
    queue = remote.open_with_messages("first")
    cursors = [queue.open_cursor() for _ in range(2)]
    for cursor in cursors:
        queue.peek(hCursor=cursor).expect_success()
    reads = [queue.begin(Action.PEEK_NEXT, hCursor=cursor, ulTimeout=LONG_READ_TIMEOUT_MS) for cursor in cursors]
    waits = [read.state_after_silence() for read in reads]
    remote.deliver(["second"])
    labels = [read.wait().label_or_outcome for read in reads]
    judge(
        "MQDMPR-3.1.7.1.14-27",
        expected={"before an arrival": [Call.WAITING, Call.WAITING], "after an arrival": ["second", "second"]},
        observed={"before an arrival": waits, "after an arrival": labels},
        evidence=reads,
        case="pending reads",
    )
    outcomes = [read.outcome for read in reads]
    judge(
        "MQDMPR-3.1.7.1.14-29",
        expected=["MQ_OK", "MQ_OK"],
        observed=outcomes,
        evidence=reads,
        case="outcomes of the pending reads",
    )
    remote.deliver(["third"])
    later_reads = [queue.read(action, hCursor=cursors[0]) for action in (Action.PEEK_CURRENT, Action.PEEK_NEXT)]
    observed = [read.label_or_outcome for read in later_reads]
    judge(
        "MQDMPR-3.1.7.1.14-06",
        "MQDMPR-3.1.7.1.14-25",
        expected=["second", "third"],
        observed=observed,
        evidence=later_reads,
        case="labels returned by the later reads",
    )


def receive_next_with_other_handle(remote, queue):
    """Receive the second message with another handle."""
    other = remote.open()
    cursor = other.open_cursor()
    other.peek(hCursor=cursor).expect_success()
    other.peek_next(hCursor=cursor).expect_success()
    other.receive(hCursor=cursor)


def receive_next_with_other_cursor(remote, queue):
    """Receive the second message with another cursor of the same handle."""
    cursor = queue.open_cursor()
    queue.peek(hCursor=cursor).expect_success()
    queue.peek_next(hCursor=cursor).expect_success()
    queue.receive(hCursor=cursor)


def wait_until_second_message_expires(remote, queue):
    """Let the second message expire in the queue."""
    remote.peer.pass_time((MESSAGE_LIFETIME_S + 1) * 1_000)


@covers("MQDMPR-3.1.7.1.14-08", "MQDMPR-3.1.7.1.14-10")
@pytest.mark.parametrize(
    "remove", [receive_next_with_other_handle, receive_next_with_other_cursor, wait_until_second_message_expires]
)
def test_peek_next_at_removed_message_returns_message_behind_it(remote, judge, remove):
    """Another reader receives the message at a cursor, or that message expires. A peek at the next message by the
    cursor returns the message behind the removed one, and a second such peek returns the last message.
    """
    queue = remote.open_with_messages("first")
    remote.deliver(["second"], TimeToBeReceived=MESSAGE_LIFETIME_S)
    remote.deliver(["third", "fourth"])
    cursor = queue.open_cursor()
    for action in (Action.PEEK_CURRENT, Action.PEEK_NEXT):
        queue.read(action, hCursor=cursor).expect_success()
    remove(remote, queue)
    left = queue.labels()
    reads = [queue.peek_next(hCursor=cursor) for _ in range(2)]
    judge(
        "MQDMPR-3.1.7.1.14-08",
        "MQDMPR-3.1.7.1.14-10",
        expected={"queue": ["first", "third", "fourth"], "peeks at the next message": ["third", "fourth"]},
        observed={"queue": left, "peeks at the next message": [read.label_or_outcome for read in reads]},
        evidence=reads,
    )


@covers("MQDMPR-3.1.7.1.14-29")
@pytest.mark.parametrize("priority", [0, 3, 4, 7])
def test_pending_peek_next_gets_message_of_each_priority(remote, judge, priority):
    """A peek at the next message waits at a message of priority 3: the peek returns MQ_OK and the message that arrives,
    whatever the priority of this message is.
    """
    queue = remote.open_with_messages()
    send = {
        label: remote.peer.recoverable_message(base={"PR": number}, label=label)
        for label, number in (("first", 3), ("second", priority))
    }
    remote.send_messages_and_require_acks([send["first"]])
    cursors = [queue.open_cursor() for _ in range(2)]
    for cursor in cursors:
        queue.peek(hCursor=cursor).expect_success()
    reads = [queue.begin(Action.PEEK_NEXT, hCursor=cursor, ulTimeout=LONG_READ_TIMEOUT_MS) for cursor in cursors]
    waits = [read.state_after_silence() for read in reads]
    remote.send_messages_and_require_acks([send["second"]])
    judge(
        "MQDMPR-3.1.7.1.14-29",
        expected={"before an arrival": each(Call.WAITING), "after an arrival": each("second")},
        observed={"before an arrival": waits, "after an arrival": [read.wait().label_or_outcome for read in reads]},
        evidence=reads,
        case="pending reads",
    )
