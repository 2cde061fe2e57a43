"""MS-MQDMPR 3.1.7.3.2 Seek Available Message Position: messages that a search skips."""

from __future__ import annotations

from harness.expectations import each, facts, one_of
from harness.peer.association import Call
from harness.peer.remote import BODY_OF_MESSAGES_FROM_PEER
from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome
from harness.wire.rpc_qm2qm import Action, LookupId
from suites.applications import Application, PendingRequest
from suites.mqqp.steps.lookups import find_lookup_ids

NOT_FOUND_STATUS, LOCKED_MESSAGE_STATUS = "MQ_ERROR_MESSAGE_NOT_FOUND", "MQ_ERROR_TRANSACTION_USAGE"


OUTCOMES_OF_READ_OF_RECEIVED_MESSAGE = one_of("MQ_ERROR_MESSAGE_ALREADY_RECEIVED", NOT_FOUND_STATUS)
"""The permitted outcomes for a received message; the first outcome is permitted only while a cursor is at the message
(erratum E171).
"""


@needs("qm2qm")
@covers(
    "MQDMPR-3.1.7.3.3-17",
    "MQDMPR-3.1.7.3.3-22",
    "MQDMPR-3.1.7.3.3-35",
    "MQDMPR-3.1.7.3.3-37",
    "MQDMPR-3.1.7.3.3-39",
    "MQDMPR-3.1.7.3.3-41",
    "MQDMPR-3.1.7.1.13-20",
    "MQDMPR-3.1.7.3.2-12",
    "MQDMPR-3.1.7.3.2-16",
    "MQDMPR-3.1.7.3.2-22",
    "MQDMPR-3.1.7.3.2-26",
    "MQDMPR-3.1.7.3.2-27",
)
def test_locked_received_or_purged_message_is_not_found(remote, judge):
    """While a reader has locked the second of three messages, another reader's lookup of it fails. Lookups from the
    other two messages skip it, and lookups of the next and the previous message from the locked message find its
    neighbors. After the message has been received, a lookup of it still fails. The first message, which is locked while
    the queue is purged, is not found afterwards, not even by a search of the whole queue.
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
    beside_locked = [queue.look_up(one, second) for one in (Action.LOOKUP_PEEK_NEXT, Action.LOOKUP_PEEK_PREV)]
    for rule, expected, read in zip(
        ("MQDMPR-3.1.7.3.3-41", "MQDMPR-3.1.7.3.3-17"), ("third", "first"), beside_locked, strict=True
    ):
        case = "neighbour of the locked message"
        judge(rule, expected=expected, observed=read.label_or_outcome, evidence=read, case=case)
    past_the_ends = [queue.look_up(Action.LOOKUP_PEEK_NEXT, third), queue.look_up(Action.LOOKUP_PEEK_PREV, first)]
    judge(
        "MQDMPR-3.1.7.3.3-35",
        expected=LOCKED_MESSAGE_STATUS,
        observed=peek_locked.outcome,
        evidence=[locking_read, peek_locked],
        case="peek of the locked message",
    )
    judge(
        "MQDMPR-3.1.7.1.13-20",
        expected=facts(
            peek_of_the_locked_message=Call.FAILURE_HRESULT_TEXT,
            receive_of_the_locked_message=Call.FAILURE_HRESULT_TEXT,
            peek_of_a_free_message="first",
        ),
        observed={
            "peek_of_the_locked_message": peek_locked.label_or_failure,
            "receive_of_the_locked_message": receive_locked.label_or_failure,
            "peek_of_a_free_message": peek_free.label_or_outcome,
        },
        evidence=[locking_read, peek_locked, receive_locked],
    )
    receive_next = queue.look_up(Action.LOOKUP_RECEIVE_NEXT, first)
    judge(
        "MQDMPR-3.1.7.1.13-20",
        expected=facts(peek_after_the_first="third", peek_before_the_third="first", receive_after_the_first="third"),
        observed={
            "peek_after_the_first": after_first.label_or_outcome,
            "peek_before_the_third": before_third.label_or_outcome,
            "receive_after_the_first": receive_next.label_or_outcome,
        },
        evidence=[locking_read, after_first, before_third, receive_next],
        case="reads of the neighbors of the locked message",
    )
    queue.put_message_back(receive_next)
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
            reads_past_the_ends=[Call.FAILURE_HRESULT_TEXT, Call.FAILURE_HRESULT_TEXT],
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
        expected=OUTCOMES_OF_READ_OF_RECEIVED_MESSAGE,
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
        expected=NOT_FOUND_STATUS,
        observed=purged.outcome,
        evidence=purged,
        case="lookup of the purged message",
    )
    searches = [queue.start_receive(), queue.look_up(Action.LOOKUP_PEEK_PREV, LookupId.BEHIND_LAST)]
    for rule, search in zip(("MQDMPR-3.1.7.3.2-16", "MQDMPR-3.1.7.3.2-26"), searches, strict=True):
        judge(
            rule,
            expected=Call.FAILURE_HRESULT_TEXT,
            observed=search.label_or_failure,
            evidence=search,
            case="search after the purge",
        )


LABELS_IN_ORDER_OF_ARRIVAL = "gfabedc"
"""The labels of seven messages in the order of their arrival; their priorities put them into alphabetical order."""


@needs("qm2qm")
@covers(
    "MQDMPR-3.1.7.1.1-08",
    "MQDMPR-3.1.7.3.2-04",
    "MQDMPR-3.1.7.3.2-09",
    "MQDMPR-3.1.7.3.2-12",
    "MQDMPR-3.1.7.3.2-16",
    "MQDMPR-3.1.7.3.2-19",
    "MQDMPR-3.1.7.3.2-21",
    "MQDMPR-3.1.7.3.2-22",
    "MQDMPR-3.1.7.3.2-26",
    "MQDMPR-3.1.7.3.3-04",
    "MQDMPR-3.1.7.3.3-15",
    "MQDMPR-3.1.7.3.3-22",
    "MQDMPR-3.1.7.3.3-46",
    "MQDMPR-3.1.7.3.3-53",
    "MQDMPR-3.2.7.1-07",
    "MQDMPR-3.2.7.3-09",
)
def test_search_skips_all_locked_messages(remote, judge):
    """Seven messages arrive in an order other than that of their priorities; lookups before and after each message
    follow the order of priority. Then all messages except the third and the sixth are locked. A lookup from either end
    of the queue, the lookup after the third message, the lookup before the sixth message, and a peek and a peek-next by
    a cursor each return the nearer unlocked message. The peek-next does not return a message of the highest priority
    that arrives before it. When the lock of the first message ends, a cursor that was opened earlier reads the message
    of the highest priority, and then the first message.
    """
    labels = sorted(LABELS_IN_ORDER_OF_ARRIVAL)
    queue, other = remote.open_with_messages(), remote.open()
    for label in LABELS_IN_ORDER_OF_ARRIVAL:
        priority = 6 - labels.index(label)
        remote.send_messages_and_require_acks(
            [remote.peer.recoverable_message(base={"PR": priority}, label=label, body=BODY_OF_MESSAGES_FROM_PEER)]
        )
    ends = (
        queue.look_up(Action.LOOKUP_PEEK_NEXT, LookupId.BEFORE_FIRST),
        queue.look_up(Action.LOOKUP_PEEK_PREV, LookupId.BEHIND_LAST),
    )
    for rule, expected, read in zip(("MQDMPR-3.1.7.3.2-09", "MQDMPR-3.1.7.3.2-19"), "ag", ends, strict=True):
        judge(rule, expected=expected, observed=read.label_or_outcome, evidence=read, case="end of the queue")
    known = dict(zip(labels, find_lookup_ids(queue, len(labels)), strict=True))
    backward = [queue.look_up(Action.LOOKUP_PEEK_PREV, known[label]) for label in reversed(labels)]
    forward = [queue.look_up(Action.LOOKUP_PEEK_NEXT, known[label]) for label in labels]
    for order_rules, found_reads, expected_order in (
        (("MQDMPR-3.1.7.3.2-04", "MQDMPR-3.1.7.3.2-21"), backward, "fedcba"),
        (("MQDMPR-3.1.7.3.3-46",), forward, "bcdefg"),
    ):
        judge(
            *order_rules,
            expected=[*expected_order, Call.FAILURE_HRESULT_TEXT],
            observed=[read.label_or_failure for read in found_reads],
            evidence=found_reads,
            case="neighbours of all messages",
        )
    first = other.start_receive().expect_success()
    for label in ("b", "d", "e", "g"):
        other.look_up(Action.LOOKUP_RECEIVE_CURRENT, known[label]).expect_success()
    cursor, late_cursor = queue.open_cursor(), queue.open_cursor()
    reads = {
        "peek by cursor": queue.peek(hCursor=cursor),
        "first": queue.look_up(Action.LOOKUP_PEEK_NEXT, LookupId.BEFORE_FIRST),
        "next": queue.look_up(Action.LOOKUP_PEEK_NEXT, known["c"]),
        "previous": queue.look_up(Action.LOOKUP_PEEK_PREV, known["f"]),
        "last": queue.look_up(Action.LOOKUP_PEEK_PREV, LookupId.BEHIND_LAST),
    }
    similar = [queue.look_up(Action.LOOKUP_PEEK_CURRENT, known["c"] ^ 1 << bit) for bit in (32, 55)]
    outcomes = [read.outcome for read in similar]
    case = "lookup of an identifier that differs in a high bit"
    judge(
        "MQDMPR-3.1.7.3.3-04", expected=each(NOT_FOUND_STATUS, "lookup"), observed=outcomes, evidence=similar, case=case
    )
    remote.send_messages_and_require_acks(
        [remote.peer.recoverable_message(base={"PR": 7}, label="urgent", body=BODY_OF_MESSAGES_FROM_PEER)]
    )
    reads["peek next by cursor"] = queue.peek_next(hCursor=cursor)
    other.put_message_back(first).expect_success()
    reads["peek by late cursor"] = queue.peek(hCursor=late_cursor)
    reads["peek next by late cursor"] = queue.peek_next(hCursor=late_cursor)
    reads["received last"] = queue.look_up(Action.LOOKUP_RECEIVE_PREV, LookupId.BEHIND_LAST)
    reads["received previous"] = queue.look_up(Action.LOOKUP_RECEIVE_PREV, known["f"])
    found = {name: read.label_or_outcome for name, read in reads.items()}
    for rules, names, expected_labels in (
        (("MQDMPR-3.1.7.3.2-16",), ("peek by cursor", "peek next by cursor"), ["c", "f"]),
        (("MQDMPR-3.2.7.3-09",), ("peek next by cursor",), ["f"]),
        (("MQDMPR-3.1.7.3.2-09", "MQDMPR-3.1.7.3.3-15"), ("first",), ["c"]),
        (("MQDMPR-3.1.7.3.2-12", "MQDMPR-3.1.7.3.3-46"), ("next",), ["f"]),
        (("MQDMPR-3.1.7.3.2-22", "MQDMPR-3.1.7.3.3-22"), ("previous",), ["c"]),
        (("MQDMPR-3.1.7.3.2-19", "MQDMPR-3.1.7.3.3-53"), ("last",), ["f"]),
        (("MQDMPR-3.1.7.3.2-26",), ("received last", "received previous"), ["f", "c"]),
        (
            ("MQDMPR-3.1.7.1.1-08", "MQDMPR-3.2.7.1-07"),
            ("peek by late cursor", "peek next by late cursor"),
            ["urgent", "a"],
        ),
    ):
        judge(
            *rules,
            expected=expected_labels,
            observed=[found[name] for name in names],
            evidence=[reads[name] for name in names],
            case="labels returned by the reads",
        )


@needs("receive", "queue_control", "subqueues")
@covers(
    "MQDMPR-3.1.7.3.2-04",
    "MQDMPR-3.1.7.3.2-09",
    "MQDMPR-3.1.7.3.2-19",
    "MQDMPR-3.1.7.3.2-21",
    "MQDMPR-3.1.7.3.3-06",
    "MQDMPR-3.1.7.3.3-22",
    "MQDMPR-3.1.7.3.3-24",
    "MQDMPR-3.1.7.3.3-26",
    "MQDMPR-3.1.7.3.3-29",
    "MQDMPR-3.1.7.3.3-46",
)
def test_search_follows_positions_of_moved_messages(peer, sut, judge):
    """Three messages are moved to a subqueue in an order other than their order of arrival. Searches for the first, the
    last, the previous and the next message follow the positions in the subqueue, and a peek or a receive of the current
    message finds each message. A search in the subqueue by the identifier of a message that stayed in the queue finds
    no message, and a search in the queue finds no moved message. The messages that are moved back are also found by
    their identifiers.
    """
    application = Application(peer, sut)
    sent = application.fill_queue("b", "c", "a", "stays")
    subqueue = f"{application.queue};mqc-sub"
    sut.create_queue(subqueue)
    known = application.get_lookup_ids_by_label()
    for label in "abc":
        application.call("move", queue=application.queue, lookup_id=known[label], to=subqueue)
    moved = application.get_lookup_ids_by_label(subqueue)
    elsewhere = {
        seek: PendingRequest(peer, "peek_by_lookup_id", queue=subqueue, lookup_id=known["stays"], seek=seek)
        for seek in ("current", "next", "previous")
    }
    judge(
        "MQDMPR-3.1.7.3.3-06",
        expected=each(one_of(Outcome.REFUSED, Outcome.NOTHING), "search"),
        observed={seek: read.await_label() for seek, read in elsewhere.items()},
        evidence=sent,
    )

    gone = [
        PendingRequest(peer, verb, queue=application.queue, lookup_id=moved[label], seek="current").await_label()
        for verb, label in (("peek_by_lookup_id", "a"), ("receive_by_lookup_id", "b"))
    ]
    not_found = each(one_of(Outcome.REFUSED, Outcome.NOTHING), "search")
    case = "searches in the queue for moved messages"
    judge("MQDMPR-3.1.7.3.3-24", "MQDMPR-3.1.7.3.3-26", expected=not_found, observed=gone, evidence=sent, case=case)

    def look_up_label(seek: str, label: str, verb: str = "peek_by_lookup_id") -> str:
        return PendingRequest(peer, verb, queue=subqueue, lookup_id=moved[label], seek=seek).await_label()

    for rules, expected, observed in (
        (("MQDMPR-3.1.7.3.2-09",), "a", look_up_label("first", "b")),
        (("MQDMPR-3.1.7.3.2-19",), "c", look_up_label("last", "b")),
        (("MQDMPR-3.1.7.3.3-46",), ["b", "c"], [look_up_label("next", label) for label in "ab"]),
        (
            ("MQDMPR-3.1.7.3.2-04", "MQDMPR-3.1.7.3.2-21", "MQDMPR-3.1.7.3.3-22"),
            ["a", "b", Outcome.REFUSED],
            [look_up_label("previous", label) for label in "bca"],
        ),
        (("MQDMPR-3.1.7.3.3-29",), [*"abc"], [look_up_label("current", label) for label in "abc"]),
    ):
        judge(*rules, expected=expected, observed=observed, evidence=sent, case="labels returned by the searches")
    for label in "ca":
        application.call("move", queue=subqueue, lookup_id=moved[label], to=application.queue)
    returned = application.get_lookup_ids_by_label()
    current = [
        PendingRequest(peer, verb, queue=application.queue, lookup_id=returned[label], seek="current").await_label()
        for verb in ("peek_by_lookup_id", "receive_by_lookup_id")
        for label in ("stays", "a", "c")
        if label in returned
    ]
    judge(
        "MQDMPR-3.1.7.3.3-29",
        expected=facts(in_queue=["stays", "a", "c"] * 2, in_subqueue="b"),
        observed={"in_queue": current, "in_subqueue": look_up_label("current", "b", "receive_by_lookup_id")},
        evidence=sent,
        case="searches for the current message after two messages were moved back",
    )
