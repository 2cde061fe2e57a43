"""MS-MQDMPR 3.1.7.1.4 Delete Queue: the subqueues, the journal and the handles of a deleted queue, and other queues
with similar names.
"""

from __future__ import annotations

from harness.expectations import each, facts, in_queue
from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome
from suites.applications import Application

pytestmark = needs("queue_control", "receive")


@needs("subqueues", "transactions", "send")
@covers("MQDMPR-3.1.7.1.4-11", "MQDMPR-3.1.7.1.4-17")
def test_queue_is_deleted_with_its_parts_only(peer, sut, judge):
    """A queue with a subqueue, a journaled message and a message that a transaction has received is deleted. Another
    queue, whose longer name begins with the name of the deleted queue, is unchanged. A new queue with the name of the
    deleted queue has no messages, no subqueue and an empty journal, even after the transaction is aborted.
    """
    application = Application(peer, sut, transactional=True)
    queue, subqueue = application.queue, f"{application.queue};mqc-sub"
    longer = f"{queue}-longer"
    sut.create_queue(longer)
    sut.send_here(longer, ["neighbour"])
    application.call("set_queue", name=queue, journaling=True)
    frames = application.fill_queue("journaled", "moved", "locked", "left")
    sut.create_queue(subqueue, transactional=True)
    application.receive()
    application.call("move", queue=queue, lookup_id=application.get_lookup_ids_by_label()["moved"], to=subqueue)
    transaction = application.begin_transaction()
    application.receive(transaction=transaction)
    deleted = sut.attempt("delete_queue", name=queue)
    judge("MQDMPR-3.1.7.1.4-17", expected=Outcome.DONE, observed=deleted, case="deletion", evidence=frames)
    gone = {name: sut.attempt("peek", queue=name) for name in (queue, subqueue, f"{queue};journal")}
    judge("MQDMPR-3.1.7.1.4-11", expected=each(Outcome.REFUSED, "peek"), observed=gone, evidence=frames)
    created = sut.attempt(sut.create_queue, queue, transactional=True)
    application.end_transaction("abort", transaction)
    if created == Outcome.DONE:
        judge(
            "MQDMPR-3.1.7.1.4-11",
            expected=facts(queue=in_queue(), journal=in_queue(), subqueue=Outcome.REFUSED),
            observed={
                "queue": application.labels(),
                "journal": application.labels(f"{queue};journal"),
                "subqueue": sut.attempt("peek", queue=subqueue),
            },
            evidence=frames,
        )
    neighbour = application.labels(longer) if sut.attempt("peek", queue=longer) == Outcome.DONE else ["not found"]
    judge("MQDMPR-3.1.7.1.4-11", expected=in_queue("neighbour"), observed=neighbour, case="neighbour", evidence=frames)


@needs("subqueues")
@covers("MQDMPR-3.1.7.1.4-17")
def test_subqueue_can_be_deleted(peer, sut, judge):
    """A subqueue with a message is deleted. Its queue and a second subqueue still exist, with their messages."""
    application = Application(peer, sut)
    subqueues = [f"{application.queue};mqc-{number}" for number in (1, 2)]
    frames = application.fill_queue("first", "second", "third")
    for name, label in zip(subqueues, ("first", "second"), strict=True):
        sut.create_queue(name)
        application.call(
            "move", queue=application.queue, lookup_id=application.get_lookup_ids_by_label()[label], to=name
        )
    deleted = sut.attempt("delete_queue", name=subqueues[0])
    judge(
        "MQDMPR-3.1.7.1.4-17",
        expected={"deletion": Outcome.DONE, "queue": in_queue("third"), "second subqueue": in_queue("second")},
        observed={
            "deletion": deleted,
            "queue": application.labels(),
            "second subqueue": application.labels(subqueues[1]),
        },
        evidence=frames,
    )


@needs("subqueues")
@covers("MQDMPR-3.1.7.1.4-10")
def test_each_handle_of_deleted_queue_fails(peer, sut, judge):
    """Handles of a queue, of its subqueue and of its journal, with ReceiveAccess and with PeekAccess, are open when the
    queue is deleted and created again. Reads through each of these handles fail.
    """
    application = Application(peer, sut)
    queue = application.queue
    subqueue = f"{queue};mqc-sub"
    frames = application.fill_queue("old")
    sut.create_queue(subqueue)
    handles = {
        f"{access} {name.rpartition(';')[2]}": application.call("open_queue", queue=name, access=access)["handle"]
        for name in (queue, subqueue, f"{queue};journal")
        for access in ("receive", "peek")
    }
    sut.delete_queue(queue)
    sut.create_queue(queue)
    frames += application.fill_queue("new")
    outcomes = {kind: sut.attempt("peek_message", handle=handle, timeout_ms=0) for kind, handle in handles.items()}
    judge("MQDMPR-3.1.7.1.4-10", expected=each(Outcome.REFUSED, "peek"), observed=outcomes, evidence=frames)
