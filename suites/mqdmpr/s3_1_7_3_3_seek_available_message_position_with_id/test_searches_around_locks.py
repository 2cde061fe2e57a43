"""MS-MQDMPR 3.1.7.3.2 Seek Available Message Position and 3.1.7.3.3 Seek Available Message Position With Id: searches
before, during and after the locks of messages with different priorities.
"""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.expectations import each, facts, one_of
from harness.peer.association import Call
from harness.peer.remote import BODY_OF_MESSAGES_FROM_PEER
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import Action, LookupId
from suites.mqqp.steps.lookups import find_lookup_ids

PRIORITY_BY_LABEL = {"low": 1, "high": 5, "middle": 3}
"""The priorities of three messages, by label, in the order of their arrival."""
NOT_FOUND_STATUS = "MQ_ERROR_MESSAGE_NOT_FOUND"
OUTCOMES_OF_READ_OF_RECEIVED_MESSAGE = one_of("MQ_ERROR_MESSAGE_ALREADY_RECEIVED", NOT_FOUND_STATUS)
"""The permitted outcomes for a received message at which a cursor is (erratum E171)."""


@needs("qm2qm")
@covers(
    "MQDMPR-3.1.7.3.2-03",
    "MQDMPR-3.1.7.3.2-04",
    "MQDMPR-3.1.7.3.2-06",
    "MQDMPR-3.1.7.3.2-09",
    "MQDMPR-3.1.7.3.2-11",
    "MQDMPR-3.1.7.3.2-27",
    "MQDMPR-3.1.7.3.3-03",
    "MQDMPR-3.1.7.3.3-08",
    "MQDMPR-3.1.7.3.3-10",
    "MQDMPR-3.1.7.3.3-15",
    "MQDMPR-3.1.7.3.3-17",
    "MQDMPR-3.1.7.3.3-22",
    "MQDMPR-3.1.7.3.3-24",
    "MQDMPR-3.1.7.3.3-29",
    "MQDMPR-3.1.7.3.3-35",
    "MQDMPR-3.1.7.3.3-41",
    "MQDMPR-3.1.7.3.3-46",
    "MQDMPR-3.1.7.3.3-48",
)
def test_searches_follow_locks_and_arrivals(remote, judge):
    """Three messages of different priorities are looked up from each message and from both ends: while all are
    available, while the first and the last are locked, while all are locked, after the locks have ended, and after
    messages of a higher and of a lower priority have arrived. Each search finds the nearest available message, and only
    that message.
    """
    queue, other = remote.open_with_messages(), remote.open()
    _send_message_for_each_label(remote, PRIORITY_BY_LABEL)
    identifiers = find_lookup_ids(queue, 3)
    if len(identifiers) < 3:
        case = "messages found by the identifiers that the SUT returns"
        next_rules = (
            "MQDMPR-3.1.7.3.3-08",
            "MQDMPR-3.1.7.3.3-41",
            "MQDMPR-3.1.7.3.3-46",
            "MQDMPR-3.1.7.3.2-11",
        )  # the search is for the next
        judge(*next_rules, expected=3, observed=len(identifiers), case=case)
        raise ConformanceFailure(f"lookups found only {len(identifiers)} of 3 messages")
    known = dict(zip(("high", "middle", "low"), identifiers, strict=True))

    def peek_at_first_and_last_message() -> dict[str, Call]:
        return {
            "first": queue.look_up(Action.LOOKUP_PEEK_NEXT, LookupId.BEFORE_FIRST),
            "last": queue.look_up(Action.LOOKUP_PEEK_PREV, LookupId.BEHIND_LAST),
        }

    currents = [queue.look_up(Action.LOOKUP_PEEK_CURRENT, known[label]) for label in known]
    free = peek_at_first_and_last_message()
    free_neighbours = {
        "previous of middle": queue.look_up(Action.LOOKUP_PEEK_PREV, known["middle"]),
        "next of middle": queue.look_up(Action.LOOKUP_PEEK_NEXT, known["middle"]),
    }
    cursor, cursor_at_middle = (_open_cursor_at_message(queue, number) for number in (0, 1))
    locking_cursors = [_open_cursor_at_message(other, number) for number in (0, 2, 1)]
    locks = [other.start_receive(hCursor=one).expect_success() for one in locking_cursors[:2]]
    locked_currents = [queue.look_up(Action.LOOKUP_PEEK_CURRENT, known[label]) for label in ("high", "low", "high")]
    free_current = queue.look_up(Action.LOOKUP_PEEK_CURRENT, known["middle"])
    beside = peek_at_first_and_last_message()
    neighbours = {
        "next of high": queue.look_up(Action.LOOKUP_PEEK_NEXT, known["high"]),
        "previous of low": queue.look_up(Action.LOOKUP_PEEK_PREV, known["low"]),
    }
    by_cursor = queue.peek_next(hCursor=cursor)
    lonely = {
        "next of middle": queue.look_up(Action.LOOKUP_PEEK_NEXT, known["middle"]),
        "previous of middle": queue.look_up(Action.LOOKUP_PEEK_PREV, known["middle"]),
    }
    locks.append(other.start_receive(hCursor=locking_cursors[2]).expect_success())
    locked = peek_at_first_and_last_message()
    other.put_message_back(locks[1]).expect_success()
    from_locked = queue.peek_next(hCursor=cursor_at_middle)
    for lock in (locks[0], locks[2]):
        other.put_message_back(lock).expect_success()
    restored = peek_at_first_and_last_message()
    restored_currents = [queue.look_up(Action.LOOKUP_PEEK_CURRENT, one) for one in identifiers]
    _send_message_for_each_label(remote, {"urgent": 7, "idle": 0})
    arrived = peek_at_first_and_last_message() | {"peek": queue.peek()}
    taken = {
        "first": queue.look_up(Action.LOOKUP_RECEIVE_NEXT, LookupId.BEFORE_FIRST),
        "last": queue.look_up(Action.LOOKUP_RECEIVE_PREV, LookupId.BEHIND_LAST),
        "previous of low": queue.look_up(Action.LOOKUP_RECEIVE_PREV, known["low"]),
        "next of high": queue.look_up(Action.LOOKUP_RECEIVE_NEXT, known["high"]),
        "current": queue.look_up(Action.LOOKUP_RECEIVE_CURRENT, known["high"]),
    }
    for rules, reads, expected in (
        (("MQDMPR-3.1.7.3.3-24",), currents, [*known]),
        (("MQDMPR-3.1.7.3.3-24", "MQDMPR-3.1.7.3.3-29"), [taken["current"]], ["high"]),
        (("MQDMPR-3.1.7.3.3-29",), [free_current, *restored_currents], ["middle", *known]),
        (("MQDMPR-3.1.7.3.3-35",), locked_currents, ["MQ_ERROR_TRANSACTION_USAGE"] * 3),
        (("MQDMPR-3.1.7.3.3-17",), [free_neighbours["previous of middle"]], ["high"]),
        (("MQDMPR-3.1.7.3.3-41",), [free_neighbours["next of middle"], neighbours["next of high"]], ["low", "middle"]),
        (("MQDMPR-3.1.7.3.3-46",), [neighbours["next of high"], taken["next of high"]], ["middle", "low"]),
        (("MQDMPR-3.1.7.3.3-08",), [*taken.values()], ["urgent", "idle", "middle", "low", "high"]),
        (
            ("MQDMPR-3.1.7.3.2-06", "MQDMPR-3.1.7.3.2-09", "MQDMPR-3.1.7.3.3-10", "MQDMPR-3.1.7.3.3-15"),
            [free["first"], beside["first"], restored["first"], arrived["first"], taken["first"]],
            ["high", "middle", "high", "urgent", "urgent"],
        ),
        (("MQDMPR-3.1.7.3.2-06",), [arrived["peek"]], ["urgent"]),
        (
            ("MQDMPR-3.1.7.3.3-48",),
            [free["last"], beside["last"], restored["last"], arrived["last"], taken["last"]],
            ["low", "middle", "low", "idle", "idle"],
        ),
        (
            ("MQDMPR-3.1.7.3.2-03", "MQDMPR-3.1.7.3.2-11"),
            [neighbours["next of high"], by_cursor, from_locked],
            ["middle", "middle", "low"],
        ),
        (
            ("MQDMPR-3.1.7.3.2-04", "MQDMPR-3.1.7.3.3-22"),
            [neighbours["previous of low"], taken["previous of low"]],
            ["middle", "middle"],
        ),
    ):
        judge(
            *rules,
            expected=expected,
            observed=[read.label_or_outcome for read in reads],
            evidence=reads,
            case="labels returned by the searches",
        )
    none_found = [*lonely.values(), *locked.values()]
    judge(
        "MQDMPR-3.1.7.3.2-27",
        expected=each(Call.FAILURE_HRESULT_TEXT, "search"),
        observed=[read.label_or_failure for read in none_found],
        evidence=none_found,
        case="searches past the only available message and of a locked queue",
    )
    found = [
        *currents,
        *free.values(),
        *free_neighbours.values(),
        *beside.values(),
        *neighbours.values(),
        *restored.values(),
        *arrived.values(),
    ]
    judge(
        "MQDMPR-3.1.7.3.3-03",
        expected=each("MQ_OK", "search"),
        observed=[read.outcome for read in found],
        evidence=found,
        case="searches that find a message",
    )


def _open_cursor_at_message(queue, number):
    """Open a cursor that has read the message with the given number of the queue; the first message has number 0."""
    cursor = queue.open_cursor()
    queue.peek(hCursor=cursor).expect_success()
    for _ in range(number):
        queue.peek_next(hCursor=cursor).expect_success()
    return cursor


def _send_message_for_each_label(remote, priorities):
    """Send a message for each label with the given priority."""
    for label, priority in priorities.items():
        remote.send_messages_and_require_acks(
            [remote.peer.recoverable_message(base={"PR": priority}, label=label, body=BODY_OF_MESSAGES_FROM_PEER)]
        )


@needs("qm2qm")
@covers("MQDMPR-3.1.7.3.3-26", "MQDMPR-3.1.7.3.3-37")
def test_current_message_of_emptied_queue_is_not_found(remote, judge):
    """Lookups of the current message in an empty queue return MQ_ERROR_MESSAGE_NOT_FOUND. A cursor is at the first of
    two messages, or at the only message, which another reader then receives. A peek at that message returns
    MQ_ERROR_MESSAGE_ALREADY_RECEIVED or MQ_ERROR_MESSAGE_NOT_FOUND.
    """
    queue, other = remote.open(), remote.open()
    empty = [
        queue.look_up(action, 0x0055_0000_0000_0007)
        for action in (Action.LOOKUP_PEEK_CURRENT, Action.LOOKUP_RECEIVE_CURRENT)
    ]
    remote.deliver(["first", "second"])
    known = find_lookup_ids(queue, 2)
    after_receive = []
    for identifier in known:
        cursor = queue.open_cursor()
        queue.peek(hCursor=cursor).expect_success()
        other.acknowledge(other.start_receive().expect_success()).expect_success()
        after_receive.append(queue.look_up(Action.LOOKUP_PEEK_CURRENT, identifier))
    judge(
        "MQDMPR-3.1.7.3.3-26",
        expected=each(NOT_FOUND_STATUS, "lookup"),
        observed=[read.outcome for read in empty],
        evidence=empty,
        case="lookups in an empty queue",
    )
    judge(
        "MQDMPR-3.1.7.3.3-37",
        expected=facts(
            first_of_two_messages=OUTCOMES_OF_READ_OF_RECEIVED_MESSAGE,
            only_message=OUTCOMES_OF_READ_OF_RECEIVED_MESSAGE,
        ),
        observed=dict(
            zip(("first_of_two_messages", "only_message"), [one.outcome for one in after_receive], strict=True)
        ),
        evidence=after_receive,
        errata="E171",
        case="lookups of received messages",
    )
