"""MS-MQDMPR 3.1.7.1.10, 3.1.7.1.11, 3.1.7.1.14: reads by cursors behind messages that stay in the queue."""

from __future__ import annotations

import pytest

from harness.expectations import each, facts, in_queue
from harness.peer.association import Call
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import Action
from suites.mqqp.steps.reading import send_messages_to_queue

pytestmark = needs("qm2qm")

LONG_TIMEOUT_MS = 600_000
NOT_FOUND_STATUS = "MQ_ERROR_MESSAGE_NOT_FOUND"


def _peek_with_cursor(queue, steps):
    """Open a cursor, and let it peek at ``steps`` messages one after the other; return the cursor and the peeks."""
    cursor = queue.open_cursor()
    actions = [Action.PEEK_CURRENT] + [Action.PEEK_NEXT] * (steps - 1)
    return cursor, [queue.read(action, hCursor=cursor) for action in actions]


@covers(
    "MQDMPR-3.1.7.1.10-12",
    "MQDMPR-3.1.7.1.10-15",
    "MQDMPR-3.1.7.1.10-22",
    "MQDMPR-3.1.7.1.10-30",
    "MQDMPR-3.1.7.1.14-11",
    "MQDMPR-3.1.7.1.14-24",
)
@pytest.mark.parametrize("kind", ["plain", "transactional"])
def test_reads_by_cursors_behind_messages_wait_for_new_messages(remote, judge, kind):
    """Two cursors have received the third and the fourth of four messages, and two other cursors have peeked at the
    second. Receives with timeout zero by the receiving cursors do not wait. Receives with a timeout by these cursors,
    and peeks at the next message by the other two, wait. A first arriving message completes one receive and both peeks,
    and a second message completes the other receive.
    """
    queue = remote.open(kind)
    send_messages_to_queue(remote, kind, *"abcd")
    peeking, peeks = zip(*(_peek_with_cursor(queue, 2) for _ in range(2)), strict=True)
    (first, to_third), (second, to_fourth) = (_peek_with_cursor(queue, steps) for steps in (3, 4))
    taken = [queue.receive(hCursor=cursor) for cursor in (first, second)]
    walks = [[one.label_or_outcome for one in reads] for reads in (*peeks, to_third, to_fourth)]
    judge(
        "MQDMPR-3.1.7.1.14-11",
        expected=[["a", "b"], ["a", "b"], [*"abc"], [*"abcd"]],
        observed=walks,
        evidence=[*to_third, *to_fourth],
        case="peeks by a cursor, from the first message on",
    )
    at_once = [queue.start_receive(hCursor=cursor, ulTimeout=0) for cursor in (first, second)]
    judge(
        "MQDMPR-3.1.7.1.10-12",
        expected=facts(messages_of_the_cursors=["c", "d"], receives_with_timeout_zero=each(NOT_FOUND_STATUS)),
        observed={
            "messages_of_the_cursors": [one.label_or_outcome for one in taken],
            "receives_with_timeout_zero": [one.outcome for one in at_once],
        },
        evidence=[*taken, *at_once],
    )
    pending = [queue.begin(Action.PEEK_NEXT, hCursor=one, ulTimeout=LONG_TIMEOUT_MS) for one in peeking]
    peeks_wait = [one.state_after_silence() for one in pending]
    receives = [queue.begin_receive(hCursor=one, ulTimeout=LONG_TIMEOUT_MS) for one in (first, second)]
    states = [one.state_after_silence() for one in receives]
    judge("MQDMPR-3.1.7.1.10-22", expected=each(Call.WAITING), observed=states, evidence=receives)
    send_messages_to_queue(remote, kind, "e")
    labels = [one.wait().label_or_outcome for one in (receives[0], *pending)]
    state = receives[1].state_after_silence()
    send_messages_to_queue(remote, kind, "f")
    labels.append(receives[1].wait().label_or_outcome)
    judge(
        "MQDMPR-3.1.7.1.10-30",
        expected=facts(first_receive="e", second_receive=[Call.WAITING, "f"]),
        observed={"first_receive": labels[0], "second_receive": [state, labels[3]]},
        evidence=receives,
    )
    judge(
        "MQDMPR-3.1.7.1.14-24",
        expected=facts(before_an_arrival=each(Call.WAITING), after_an_arrival=["e", "e"]),
        observed={"before_an_arrival": peeks_wait, "after_an_arrival": labels[1:3]},
        evidence=pending,
    )
    for one in receives:
        queue.put_message_back(one)
    third, _ = _peek_with_cursor(queue, 2)
    last = [queue.start_receive(hCursor=third) for _ in range(2)]
    judge(
        "MQDMPR-3.1.7.1.10-15",
        expected=["b", "e"],
        observed=[one.label_or_outcome for one in last],
        evidence=last,
        case="two receives by a cursor at the second message",
    )


@covers("MQDMPR-3.1.7.1.14-11")
def test_peek_next_walks_through_priorities(remote, judge):
    """A queue contains messages of the priorities 7, 5, 5, 3 and 0: peeks at the next message return them in this
    order with MQ_OK.
    """
    queue = remote.open_with_messages()
    remote.send_messages_and_require_acks(
        [
            remote.peer.recoverable_message(base={"PR": priority}, label=label)
            for label, priority in zip("ebcda", (0, 5, 5, 3, 7), strict=True)
        ]
    )
    _, reads = _peek_with_cursor(queue, 5)
    judge(
        "MQDMPR-3.1.7.1.14-11",
        expected=[*"abcde"],
        observed=[one.label_or_outcome for one in reads],
        evidence=reads,
    )


@covers("MQDMPR-3.1.7.1.11-10", "MQDMPR-3.1.7.1.11-14", "MQDMPR-3.1.7.1.10-15")
def test_two_phase_receives_by_cursors_lock_messages_they_return(remote, judge):
    """While the first of six messages is locked, receives by two cursors take the messages at the cursors, the third
    and the fifth. Exactly these messages are locked, and they return to their places when the receives are ended. A
    receive that waits while all messages are locked returns the arriving message, and locks it.
    """
    queue, other = remote.open_with_messages(*"abcdef"), remote.open()
    first = queue.start_receive()
    (third, _), (fifth, _) = (_peek_with_cursor(queue, steps) for steps in (2, 4))
    by_cursor = [queue.start_receive(hCursor=cursor) for cursor in (fifth, third)]
    free = other.labels()
    second = queue.start_receive()
    reads = [first, *by_cursor, second]
    judge(
        "MQDMPR-3.1.7.1.11-10",
        "MQDMPR-3.1.7.1.10-15",
        expected=["e", "c"],
        observed=[one.label_or_outcome for one in by_cursor],
        evidence=reads,
        case="receives by cursors beside a locked message",
    )
    rest = [queue.start_receive() for _ in range(2)]
    waiting = queue.begin_receive(ulTimeout=LONG_TIMEOUT_MS)
    waits = waiting.state_after_silence()
    remote.deliver(["g", "h"])
    judge(
        "MQDMPR-3.1.7.1.11-14",
        expected=facts(
            labels=[*"aecbdf"], free_beside_three=[*"bdf"], before_an_arrival=Call.WAITING, arrived="g", free=["h"]
        ),
        observed={
            "labels": [one.label_or_outcome for one in (*reads, *rest)],
            "free_beside_three": free,
            "before_an_arrival": waits,
            "arrived": waiting.wait().label_or_outcome,
            "free": other.labels(),
        },
        evidence=[*reads, *rest, waiting],
    )
    ends = [queue.put_message_back(one) for one in (waiting, *by_cursor)] + [queue.acknowledge(second)]
    judge(
        "MQDMPR-3.1.7.1.11-14",
        expected=facts(ends=each("MQ_OK"), queue=in_queue(*"cegh")),
        observed={"ends": [one.outcome for one in ends], "queue": other.labels()},
        evidence=[*reads, *ends],
        case="ends of the receives",
    )
