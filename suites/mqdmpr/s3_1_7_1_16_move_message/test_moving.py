"""MS-MQDMPR 3.1.7.1.16 Move Message: moves between a queue and its subqueue."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import any_order, in_queue, none, one_of
from harness.run.marks import covers, needs, varied
from harness.sut.outcomes import Outcome
from suites.applications import Application, PendingRequest
from suites.mqdmpr.steps.rich_messages import (
    list_changed_properties,
    map_properties_by_label,
    store_messages_with_all_properties,
)
from suites.mqqb.steps.disposition import (
    RECEIVE,
    AcknowledgingReceiver,
    format_message_classes,
    list_message_class_names,
)

pytestmark = needs("queue_control", "receive", "subqueues")

PENDING_READ_TIMEOUT_MS = 60_000
LARGE_BODY_KB = 16


def create_subqueue(application):
    """Create a subqueue of an application's queue; return its path name."""
    name = f"{application.queue};mqc-sub"
    application.sut.create_queue(name, transactional=application.transactional)
    return name


def move_message(application, label, to, source=None, **how):
    """Move a message from the queue, or from a given subqueue, and return the outcome of the move."""
    queue = source or application.queue
    lookup_id = application.get_lookup_ids_by_label(queue).get(label, 0)
    return application.sut.attempt("move", queue=queue, lookup_id=lookup_id, to=to, **how)


class QueueWithSubqueues:
    """A queue with two subqueues, "sub 1" and "sub 2"."""

    def __init__(self, application):
        self.application = application
        self.names = {"queue": application.queue}
        for place in ("sub 1", "sub 2"):
            self.names[place] = f"{application.queue};mqc-{place.replace(' ', '-')}"
            application.sut.create_queue(self.names[place], transactional=application.transactional)

    def move(self, labels, source, target, **how):
        """Move messages, one after another; return the outcomes."""
        return [
            move_message(self.application, label, self.names[target], self.names[source], **how) for label in labels
        ]

    def labels(self):
        """Return the labels of the messages in each of the queues."""
        return {place: self.application.labels(name) for place, name in self.names.items()}

    def describe_messages_by_label(self):
        """Return the properties of the messages of all queues, by label."""
        return map_properties_by_label([one for name in self.names.values() for one in self.application.messages(name)])


def build_labels_expected_after_move(queue="", first="", second=""):
    """Return the expected labels of the messages in the queue and its subqueues; in each argument, one letter stands
    for one message.
    """
    return {"queue": in_queue(*queue), "sub 1": in_queue(*first), "sub 2": in_queue(*second)}


@covers("MQDMPR-3.1.7.1.16-05", "MQDMPR-3.1.7.1.16-06", "MQDMPR-3.1.7.1.16-07")
@varied("queue journaling", "acknowledgments", body=("short", "5,000 bytes"), read_by=("queue", "cursor"))
def test_moved_message_is_in_subqueue_by_priority(peer, sut, judge):
    """Three messages are moved to a subqueue. They are no longer in their queue, and they are unchanged in the
    subqueue, where the message with the highest priority is the first.
    """
    application = Application(peer, sut)
    subqueue = create_subqueue(application)
    for label, priority in (("a", 2), ("b", 2), ("c", 5), ("d", 3)):
        application.fill_queue(label, PR=priority)
    messages_before = {one["label"]: one for one in application.messages()}
    answers = [move_message(application, label, subqueue) for label in "abc"]
    judge(
        "MQDMPR-3.1.7.1.16-05",
        expected={"outcomes of the moves": [Outcome.DONE] * 3, "queue": in_queue("d")},
        observed={"outcomes of the moves": answers, "queue": application.labels()},
    )
    messages = application.messages(subqueue)
    labels = [one["label"] for one in messages]
    judge("MQDMPR-3.1.7.1.16-07", expected=[*"cab"], observed=labels, case="labels in the subqueue")
    changed = [
        f"{one['label']}: {name}"
        for one in messages
        for name, value in messages_before[one["label"]].items()
        if name != "lookup_id" and one.get(name) != value
    ]
    received = application.receive(queue=subqueue)
    judge(
        "MQDMPR-3.1.7.1.16-06",
        expected={
            "labels_in_the_subqueue": any_order(*"abc"),
            "properties": none("changed property"),
            "label_of_the_received_message": labels[:1],
            "labels_left_in_the_subqueue": labels[1:],
        },
        observed={
            "labels_in_the_subqueue": labels,
            "properties": changed,
            "label_of_the_received_message": [received],
            "labels_left_in_the_subqueue": application.labels(subqueue),
        },
    )


@pytest.mark.parametrize("restarted", [False, pytest.param(True, marks=needs("restart"))], ids=["at once", "restarted"])
@covers("MQDMPR-3.1.7.1.16-05", "MQDMPR-3.1.7.1.16-06", "MQDMPR-3.1.7.1.16-07")
def test_message_moved_several_times_is_whole_in_its_last_queue(peer, sut, judge, restarted):
    """Four messages, each with different properties, are moved to a subqueue, from there to a second subqueue, and back
    to their queue. After each step, and after a restart, every message is in exactly one place, in the order of
    priority, with all its properties.
    """
    application = Application(peer, sut)
    places = QueueWithSubqueues(application)
    store_messages_with_all_properties(application, "abcde", priorities=(2, 5, 2, 3, 2))
    before = places.describe_messages_by_label()
    steps = (
        ("abce", "queue", "sub 1", build_labels_expected_after_move("d", "bace")),
        ("eab", "sub 1", "sub 2", build_labels_expected_after_move("d", "c", "bea")),
        ("a", "sub 2", "queue", build_labels_expected_after_move("da", "c", "be")),
        ("b", "sub 2", "sub 1", build_labels_expected_after_move("da", "bc", "e")),
        ("e", "sub 2", "queue", build_labels_expected_after_move("dae", "bc")),
    )
    for labels, source, target, expected in steps:
        places.move(labels, source, target)
        if restarted:
            sut.restart()
        found = places.labels()
        case = f"after the move of {', '.join(labels)} from {source} to {target}"
        judge("MQDMPR-3.1.7.1.16-05", "MQDMPR-3.1.7.1.16-07", expected=expected, observed=found, case=case)
        everywhere = [label for labels in found.values() for label in labels]
        judge(
            "MQDMPR-3.1.7.1.16-06",
            expected={"messages": any_order(*"abcde"), "properties": none("changed property")},
            observed={
                "messages": everywhere,
                "properties": list_changed_properties(before, places.describe_messages_by_label()),
            },
            case=case,
        )


@covers("MQDMPR-3.1.7.1.16-05", "MQDMPR-3.1.7.1.16-06")
@pytest.mark.parametrize("transactional", [False, pytest.param(True, marks=needs("transactions"))])
def test_move_of_message_is_no_receipt(peer, sut, judge, transactional):
    """Messages that request acknowledgments of their receipt are moved to a subqueue, one of them in a transaction, and
    back to their queue. The SUT neither acknowledges nor journals them. When an application receives them, the SUT
    acknowledges and journals them.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    application = Application(peer, sut, transactional=transactional)
    sut.control.call("set_queue", name=application.queue, journaling=True)
    places = QueueWithSubqueues(application)
    user, journal = receiver.add_admin_queue_fields(), f"{application.queue};journal"
    for label in "ab":
        receiver.send_packet(application.build_message(label, user, properties={"PR": 1, "NR": 1}))
    if not application.await_message_count(2):
        raise ConformanceFailure("the SUT did not store the messages")
    places.move("ab", "queue", "sub 1")
    places.move("b", "sub 1", "queue")
    if transactional:
        transaction = application.begin_transaction()
        places.move("b", "queue", "sub 2", transaction=transaction)
        application.end_transaction("commit", transaction)
    early = receiver.await_acks(0)
    judge(
        "MQDMPR-3.1.7.1.16-05",
        expected={"acknowledgments": [], "journal": in_queue()},
        observed={"acknowledgments": list_message_class_names(early), "journal": application.labels(journal)},
        evidence=early,
    )
    received = [
        sut.read_label("receive", queue=places.names[place])
        for place in ("sub 1", "sub 2" if transactional else "queue")
    ]
    acks = receiver.await_acks(2)
    judge(
        "MQDMPR-3.1.7.1.16-06",
        expected={
            "received": [*"ab"],
            "acknowledgments": format_message_classes(RECEIVE, RECEIVE),
            "places": build_labels_expected_after_move(),
        },
        observed={"received": received, "acknowledgments": list_message_class_names(acks), "places": places.labels()},
        evidence=acks,
    )
    receiver.acknowledge_all()


@covers("MQDMPR-3.1.7.1.16-D01")
def test_moved_message_completes_reads_of_target_in_their_order(peer, sut, judge):
    """Two peeks and a receive, by handle and by cursors, wait for a message in a subqueue, and another peek waits at a
    second subqueue. A message that is moved to the first subqueue completes the peeks and the receive that wait there,
    and no other read.
    """
    application = Application(peer, sut)
    places = QueueWithSubqueues(application)
    application.fill_queue("first", "second")
    handle = sut.control.call("open_queue", queue=places.names["sub 1"], access="receive")["handle"]
    cursors = [sut.control.call("open_cursor", handle=handle)["cursor"] for _ in range(2)]
    reads = {}
    for name, verb, where in (
        ("peek by handle", "peek_message", {"handle": handle}),
        ("peek by cursor", "peek_message", {"cursor": cursors[0]}),
        ("receive by cursor", "receive", {"cursor": cursors[1]}),
        ("receive behind it", "receive", {"handle": handle}),
        ("peek of another subqueue", "peek_message", {"queue": places.names["sub 2"]}),
    ):
        reads[name] = PendingRequest(peer, verb, timeout_ms=PENDING_READ_TIMEOUT_MS, **where)
        peer.settle()
    early = [name for name, read in reads.items() if read.is_answered()]
    places.move(["first"], "queue", "sub 1")
    labels = {name: reads[name].await_label() for name in [*reads][:3]}
    peer.settle()
    waiting = [name for name, read in reads.items() if not read.is_answered()]
    judge(
        "MQDMPR-3.1.7.1.16-D01",
        expected={
            "reads that end before the move": [],
            "labels": dict.fromkeys([*reads][:3], "first"),
            "reads that still wait": ["receive behind it", "peek of another subqueue"],
        },
        observed={"reads that end before the move": early, "labels": labels, "reads that still wait": waiting},
    )
    places.move(["second"], "queue", "sub 1")
    judge(
        "MQDMPR-3.1.7.1.16-D01",
        expected={"receive behind it": "second", "sub 1": in_queue()},
        observed={"receive behind it": reads["receive behind it"].await_label(), "sub 1": places.labels()["sub 1"]},
    )
    for read in reads.values():
        if not read.is_answered():
            sut.control.call("cancel", request=read.number)


@needs("transactions")
@covers("MQDMPR-3.1.7.1.16-D02", "MQDMPR-3.1.7.1.16-D03")
@pytest.mark.parametrize("end", ["commit", "abort", pytest.param("restart", marks=needs("restart"))])
def test_moves_of_transaction_happen_together_at_its_end(peer, sut, judge, end):
    """A transaction moves messages from a queue to a subqueue, from there back to the queue, and to a second subqueue.
    All these messages are locked until the transaction ends. A commit moves them in the order of the moves. An abort,
    or a restart before the end, leaves each message in its place. A second transaction, which also moves messages, is
    aborted.
    """
    application = Application(peer, sut, transactional=True)
    places = QueueWithSubqueues(application)
    application.fill_queue(*"abcdefgh")
    places.move("defgh", "queue", "sub 1")
    transaction, other = application.begin_transaction(), application.begin_transaction()
    moves = (("b", "queue", "sub 1"), ("e", "sub 1", "queue"), ("gd", "sub 1", "sub 2"), ("a", "queue", "sub 1"))
    answers = [
        answer
        for labels, source, target in moves
        for answer in places.move(labels, source, target, transaction=transaction)
    ]
    answers += places.move("h", "sub 1", "sub 2", transaction=other)
    answers += places.move("c", "queue", "sub 1", transaction=other)
    peeks = [sut.read_label("peek_message", queue=name) for name in places.names.values()]
    judge(
        "MQDMPR-3.1.7.1.16-D02",
        expected={
            "outcomes of the moves": [Outcome.DONE] * 7,
            "places": build_labels_expected_after_move("", "f"),
            "first messages": [Outcome.NOTHING, "f", Outcome.NOTHING],
        },
        observed={"outcomes of the moves": answers, "places": places.labels(), "first messages": peeks},
    )
    counts = list(application.count_operations_of_transactions(transaction, other).values())
    judge("MQDMPR-3.1.7.1.16-D03", expected=[5, 2], observed=counts, case="number of operations of each transaction")
    if end == "restart":
        sut.restart()
    else:
        application.end_transaction(end, transaction)
        application.end_transaction("abort", other)
    judge(
        "MQDMPR-3.1.7.1.16-D03",
        expected=build_labels_expected_after_move("ce", "fhba", "gd")
        if end == "commit"
        else build_labels_expected_after_move("abc", "defgh"),
        observed=places.labels(),
        case=f"places of the messages after the {end}",
    )


@covers("MQDMPR-3.1.7.1.16-D01")
@varied("priority", "negative journaling", "body", "queue quota", "queue privacy")
def test_moved_message_completes_pending_receive_of_subqueue(peer, sut, judge):
    """A message is moved to a subqueue at which a receive or a peek waits: the waiting read returns the message."""
    application = Application(peer, sut)
    subqueue = create_subqueue(application)
    application.fill_queue("first", "second")
    read = PendingRequest(peer, "receive", queue=subqueue, timeout_ms=PENDING_READ_TIMEOUT_MS)
    peer.settle()
    is_early = read.is_answered()
    move_message(application, "first", subqueue)
    judge(
        "MQDMPR-3.1.7.1.16-D01",
        expected={
            "receive ends before the move": False,
            "label returned by the receive": "first",
            "labels left in the subqueue": [],
        },
        observed={
            "receive ends before the move": is_early,
            "label returned by the receive": read.await_label(),
            "labels left in the subqueue": application.labels(subqueue),
        },
    )
    peek = PendingRequest(peer, "peek_message", queue=subqueue, timeout_ms=PENDING_READ_TIMEOUT_MS)
    peer.settle()
    move_message(application, "second", subqueue)
    judge(
        "MQDMPR-3.1.7.1.16-D01",
        expected={"label returned by the peek": "second", "labels left in the subqueue": ["second"]},
        observed={
            "label returned by the peek": peek.await_label(),
            "labels left in the subqueue": application.labels(subqueue),
        },
    )
    for request in (read, peek):
        if not request.is_answered():
            sut.control.call("cancel", request=request.number)


@needs("transactions")
@covers("MQDMPR-3.1.7.1.16-D01", "MQDMPR-3.1.7.1.16-D03")
@varied("trace", "extension", "correlation", body=("short", "5,000 bytes"))
def test_committed_move_completes_pending_reads_of_subqueue(peer, sut, judge):
    """A pending peek and a pending receive at a subqueue wait while a message is moved there in an open transaction.
    When the transaction commits, the receive returns the message. The peek also returns it, unless the receive was
    completed first.
    """
    application = Application(peer, sut, transactional=True)
    subqueue = create_subqueue(application)
    application.fill_queue("first", "second")
    reads = []
    for verb in ("peek_message", "receive"):
        reads.append(PendingRequest(peer, verb, queue=subqueue, timeout_ms=PENDING_READ_TIMEOUT_MS))
        peer.settle()
    transaction = application.begin_transaction()
    move_message(application, "first", subqueue, transaction=transaction)
    peer.settle()
    early = [read.is_answered() for read in reads]
    application.end_transaction("commit", transaction)
    judge(
        "MQDMPR-3.1.7.1.16-D01",
        "MQDMPR-3.1.7.1.16-D03",
        expected={
            "reads end before the commit": [False, False],
            "peek": one_of("first", Outcome.NO_ANSWER),
            "receive": "first",
        },
        observed=dict(
            zip(
                ("reads end before the commit", "peek", "receive"),
                (early, *(read.await_label() for read in reads)),
                strict=True,
            )
        ),
    )
    for read in reads:
        if not read.is_answered():
            sut.control.call("cancel", request=read.number)


@needs("transactions")
@covers("MQDMPR-3.1.7.1.16-D02", "MQDMPR-3.1.7.1.16-D03")
@varied("positive journaling", "negative journaling", "trace", "body")
def test_message_moved_in_transaction_is_moved_at_commit(peer, sut, judge):
    """A message that is moved in a transaction is in neither queue until the transaction ends; a commit moves the
    message to the target queue, and an abort restores it to its queue.
    """
    application = Application(peer, sut, transactional=True)
    subqueue = create_subqueue(application)
    application.fill_queue("a", "b", "c")
    committed, aborted = application.begin_transaction(), application.begin_transaction()
    answers = [
        move_message(application, label, subqueue, transaction=transaction)
        for label, transaction in (("a", committed), ("b", aborted))
    ]
    observed = {
        "outcomes of the moves": answers,
        "queue": application.labels(),
        "subqueue": application.labels(subqueue),
        "peeks of the queue and the subqueue": [
            sut.read_label("peek_message", queue=queue) for queue in (application.queue, subqueue)
        ],
    }
    counts = list(application.count_operations_of_transactions(committed, aborted).values())
    judge(
        "MQDMPR-3.1.7.1.16-D02",
        expected={
            "outcomes of the moves": [Outcome.DONE] * 2,
            "queue": in_queue("c"),
            "subqueue": in_queue(),
            "peeks of the queue and the subqueue": ["c", Outcome.NOTHING],
        },
        observed=observed,
    )
    application.end_transaction("commit", committed)
    application.end_transaction("abort", aborted)
    judge(
        "MQDMPR-3.1.7.1.16-D03",
        expected={
            "number of operations of each transaction": [1, 1],
            "queue": in_queue("b", "c"),
            "subqueue": in_queue("a"),
        },
        observed={
            "number of operations of each transaction": counts,
            "queue": application.labels(),
            "subqueue": application.labels(subqueue),
        },
    )


@needs("configure")
@covers("MQDMPR-3.1.7.1.9-04")
@varied("positive journaling", "trace", acknowledgments=("none", "of receipt"))
def test_subqueue_message_counts_against_quota(peer, sut, judge):
    """A message in a subqueue counts against the quota of the queue manager. The SUT does not store a further message
    that would exceed the quota.
    """
    application = Application(peer, sut)
    subqueue = create_subqueue(application)
    connection = peer.open_raw()
    connection.send(application.build_message("large", body=bytes(LARGE_BODY_KB * 1024)))
    if not application.await_message_count(1):
        raise ConformanceFailure("the SUT did not accept the message")
    move_message(application, "large", subqueue)
    sut.configure(quota_kb=LARGE_BODY_KB)
    packet = connection.send(application.build_message("no room"))
    connection.wait_closed()
    judge(
        "MQDMPR-3.1.7.1.9-04",
        expected={"queue": in_queue(), "subqueue": in_queue("large")},
        observed={"queue": application.labels(), "subqueue": application.labels(subqueue)},
        evidence=[packet, connection.last],
    )
