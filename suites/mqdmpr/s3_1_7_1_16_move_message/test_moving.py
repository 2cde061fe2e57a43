"""MS-MQDMPR 3.1.7.1.16 Move Message: moves between a queue and its subqueue."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.expectations import any_order, in_queue, none, one_of
from harness.run.marks import covers, needs, varied
from harness.sut.outcomes import Outcome
from suites.applications import Application, PendingRequest

pytestmark = needs("queue_control", "receive", "subqueues")

PENDING_TIMEOUT_MS = 60_000
LARGE_BODY_KB = 16


def create_subqueue(application):
    """Create a subqueue of an application's queue; return its path name."""
    name = f"{application.queue};mqc-sub"
    application.sut.create_queue(name, transactional=application.transactional)
    return name


def move_message(application, label, to, **how):
    """Move a message; return the outcome."""
    lookup_id = application.lookup_ids().get(label, 0)
    return application.sut.attempt("move", queue=application.queue, lookup_id=lookup_id, to=to, **how)


@covers("MQDMPR-3.1.7.1.16-05", "MQDMPR-3.1.7.1.16-06", "MQDMPR-3.1.7.1.16-07")
@varied("queue journaling", "acknowledgments", body=("short", "5,000 bytes"), read_by=("queue", "cursor"))
def test_moved_message_is_in_subqueue_by_priority(peer, sut, judge):
    """Three messages that are moved to a subqueue are removed from their queue; they are unchanged in the subqueue, and
    the message with the highest priority is the first.
    """
    application = Application(peer, sut)
    subqueue = create_subqueue(application)
    for label, priority in (("a", 2), ("b", 2), ("c", 5), ("d", 3)):
        application.fill(label, PR=priority)
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


@covers("MQDMPR-3.1.7.1.16-D01")
@varied("priority", "negative journaling", "body", "queue quota", "queue privacy")
def test_moved_message_completes_pending_receive_of_subqueue(peer, sut, judge):
    """A pending receive from a subqueue returns a message that is moved to the subqueue; so does a pending peek."""
    application = Application(peer, sut)
    subqueue = create_subqueue(application)
    application.fill("first", "second")
    read = PendingRequest(peer, "receive", queue=subqueue, timeout_ms=PENDING_TIMEOUT_MS)
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
    peek = PendingRequest(peer, "peek_message", queue=subqueue, timeout_ms=PENDING_TIMEOUT_MS)
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
@varied("trace", "extension", body=("short", "5,000 bytes"))
def test_committed_move_completes_pending_reads_of_subqueue(peer, sut, judge):
    """A pending peek and a pending receive of a subqueue wait while a message is moved in an open transaction; when the
    transaction commits, the receive returns the message, and the peek returns it unless the receive was served first.
    """
    application = Application(peer, sut, transactional=True)
    subqueue = create_subqueue(application)
    application.fill("first", "second")
    reads = []
    for verb in ("peek_message", "receive"):
        reads.append(PendingRequest(peer, verb, queue=subqueue, timeout_ms=PENDING_TIMEOUT_MS))
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
    application.fill("a", "b", "c")
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
    counts = list(application.count_operations(committed, aborted).values())
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
    """A message in a subqueue uses up the queue manager's quota: a further message is not stored."""
    application = Application(peer, sut)
    subqueue = create_subqueue(application)
    connection = peer.open_raw()
    connection.send(application.build_message("large", body=bytes(LARGE_BODY_KB * 1024)))
    if not application.await_labels(1):
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
