"""MS-MQDMPR 3.1.7.3.2 Seek Available Message Position: messages that a search skips."""

from __future__ import annotations

from harness.expectations import facts, one_of
from harness.peer.association import Call
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import Action, LookupId
from suites.mqqp.steps.lookups import find_lookup_ids

NOT_FOUND, LOCKED = "MQ_ERROR_MESSAGE_NOT_FOUND", "MQ_ERROR_TRANSACTION_USAGE"


RECEIVED_OUTCOMES = one_of("MQ_ERROR_MESSAGE_ALREADY_RECEIVED", NOT_FOUND)
"""The permitted outcomes for a received message; the first outcome is permitted only while a cursor is at the message
(erratum E171).
"""


@needs("qm2qm")
@covers(
    "MQDMPR-3.1.7.3.3-22",
    "MQDMPR-3.1.7.3.3-35",
    "MQDMPR-3.1.7.3.3-37",
    "MQDMPR-3.1.7.3.3-39",
    "MQDMPR-3.1.7.1.13-20",
    "MQDMPR-3.1.7.3.2-12",
    "MQDMPR-3.1.7.3.2-22",
    "MQDMPR-3.1.7.3.2-26",
    "MQDMPR-3.1.7.3.2-27",
)
def test_locked_received_or_purged_message_is_not_found(remote, judge):
    """While a reader locks the second of three messages, another reader's lookup of this message fails, and lookups
    from its neighbors skip it; when it has been received, its lookup still fails. The first message, which is locked
    while the queue is purged, is not found either.
    """
    queue, other = remote.open_with_messages("first", "second", "third"), remote.open()
    first, second, third = find_lookup_ids(queue, 3)
    cursor, cursor_of_other = queue.open_cursor(), other.open_cursor()
    for reader, reader_cursor in (
        (queue, cursor),
        (other, cursor_of_other),
    ):  # a received message is known to a cursor at it
        reader.peek(hCursor=reader_cursor).expect_success()
        reader.peek_next(hCursor=reader_cursor).expect_success()
    locking_read = other.start_receive(hCursor=cursor_of_other).expect_success()
    peek_locked = queue.look_up(Action.LOOKUP_PEEK_CURRENT, second)
    receive_locked = queue.look_up(Action.LOOKUP_RECEIVE_CURRENT, second)
    peek_free = queue.look_up(Action.LOOKUP_PEEK_CURRENT, first)
    after_first = queue.look_up(Action.LOOKUP_PEEK_NEXT, first)
    before_third = queue.look_up(Action.LOOKUP_PEEK_PREV, third)
    past_the_ends = [queue.look_up(Action.LOOKUP_PEEK_NEXT, third), queue.look_up(Action.LOOKUP_PEEK_PREV, first)]
    judge(
        "MQDMPR-3.1.7.3.3-35",
        expected=LOCKED,
        observed=peek_locked.outcome,
        evidence=[locking_read, peek_locked],
        case="peek of the locked message",
    )
    judge(
        "MQDMPR-3.1.7.1.13-20",
        expected=facts(
            peek_of_the_locked_message=Call.FAILURE,
            receive_of_the_locked_message=Call.FAILURE,
            peek_of_a_free_message="first",
        ),
        observed={
            "peek_of_the_locked_message": peek_locked.label_or_failure,
            "receive_of_the_locked_message": receive_locked.label_or_failure,
            "peek_of_a_free_message": peek_free.label_or_outcome,
        },
        evidence=[locking_read, peek_locked, receive_locked],
    )
    judge(
        "MQDMPR-3.1.7.3.2-12",
        expected="third",
        observed=after_first.label_or_outcome,
        evidence=after_first,
        case="message that follows the first message",
    )
    judge(
        "MQDMPR-3.1.7.3.2-22",
        "MQDMPR-3.1.7.3.2-26",
        "MQDMPR-3.1.7.3.3-22",
        expected="first",
        observed=before_third.label_or_outcome,
        evidence=before_third,
        case="message that precedes the third message",
    )
    judge(
        "MQDMPR-3.1.7.3.2-27",
        expected=facts(
            message_after_the_first="third",
            message_before_the_third="first",
            reads_past_the_ends=[Call.FAILURE, Call.FAILURE],
        ),
        observed={
            "message_after_the_first": after_first.label_or_outcome,
            "message_before_the_third": before_third.label_or_outcome,
            "reads_past_the_ends": [read.label_or_failure for read in past_the_ends],
        },
        evidence=[after_first, before_third, *past_the_ends],
    )
    other.acknowledge(locking_read).expect_success()
    received = queue.look_up(Action.LOOKUP_PEEK_CURRENT, second)
    evidence = [locking_read, received]
    judge(
        "MQDMPR-3.1.7.3.3-37",
        expected=RECEIVED_OUTCOMES,
        observed=received.outcome,
        evidence=evidence,
        errata="E171",
        case="lookup of the received message",
    )
    other.start_receive().expect_success()  # locks the first message, so that the purge cannot delete it at once
    queue.purge().expect_success()
    purged = queue.look_up(Action.LOOKUP_PEEK_CURRENT, first)
    judge(
        "MQDMPR-3.1.7.3.3-39",
        expected=NOT_FOUND,
        observed=purged.outcome,
        evidence=purged,
        case="lookup of the purged message",
    )


@needs("qm2qm")
@covers(
    "MQDMPR-3.1.7.3.2-16",
    "MQDMPR-3.1.7.3.3-15",
    "MQDMPR-3.1.7.3.3-22",
    "MQDMPR-3.1.7.3.3-46",
    "MQDMPR-3.1.7.3.3-53",
)
def test_search_skips_all_locked_messages(remote, judge):
    """Of seven messages, all except the third and the sixth are locked. Lookups from both ends of the queue, the lookup
    after the third message, the lookup before the sixth message, and a peek and a peek-next by a cursor return the
    nearest of these two messages.
    """
    labels = ["a", "b", "c", "d", "e", "f", "g"]
    queue, other = remote.open_with_messages(*labels), remote.open()
    known = dict(zip(labels, find_lookup_ids(queue, len(labels)), strict=True))
    for label in ("a", "b", "d", "e", "g"):
        other.look_up(Action.LOOKUP_RECEIVE_CURRENT, known[label]).expect_success()
    cursor = queue.open_cursor()
    reads = {
        "peek by cursor": queue.peek(hCursor=cursor),
        "peek next by cursor": queue.peek_next(hCursor=cursor),
        "first": queue.look_up(Action.LOOKUP_PEEK_NEXT, LookupId.BEFORE_FIRST),
        "next": queue.look_up(Action.LOOKUP_PEEK_NEXT, known["c"]),
        "previous": queue.look_up(Action.LOOKUP_PEEK_PREV, known["f"]),
        "last": queue.look_up(Action.LOOKUP_PEEK_PREV, LookupId.BEHIND_LAST),
    }
    found = {name: read.label_or_outcome for name, read in reads.items()}
    for rule, names, expected in (
        ("MQDMPR-3.1.7.3.2-16", ("peek by cursor", "peek next by cursor"), ["c", "f"]),
        ("MQDMPR-3.1.7.3.3-15", ("first",), ["c"]),
        ("MQDMPR-3.1.7.3.3-46", ("next",), ["f"]),
        ("MQDMPR-3.1.7.3.3-22", ("previous",), ["c"]),
        ("MQDMPR-3.1.7.3.3-53", ("last",), ["f"]),
    ):
        judge(
            rule,
            expected=expected,
            observed=[found[name] for name in names],
            evidence=[reads[name] for name in names],
            case="labels returned by the reads",
        )
