"""MS-MQDMPR 3.1.7.1.16 Move Message: moves in a transaction that a coordinator prepares and decides."""

from __future__ import annotations

import pytest

from harness.expectations import in_queue
from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome
from suites.applications import Application

LABELS_IN_QUEUE_AND_SUBQUEUE_BY_DECISION = {"commit": ("cd", "fab"), "abort": ("abc", "df")}
"""For each decision, the labels in the queue and in its subqueue; one letter stands for one message."""


@needs("queue_control", "receive", "subqueues", "transactions")
@covers("MQDMPR-3.1.7.1.16-D03")
@pytest.mark.parametrize("decision", LABELS_IN_QUEUE_AND_SUBQUEUE_BY_DECISION)
def test_moved_messages_stay_locked_until_decision_of_coordinator(peer, sut, judge, decision):
    """A transaction moves two messages from a queue to its subqueue, and one message from the subqueue to the queue. A
    coordinator prepares the transaction: no reader finds the messages in either place. A commit moves them, and an
    abort leaves them in their places.
    """
    application = Application(peer, sut, transactional=True)
    queue, subqueue = application.queue, f"{application.queue};mqc-sub"
    sut.create_queue(subqueue, transactional=True)
    application.fill_queue(*"abcdf")
    known = application.get_lookup_ids_by_label()
    for label in "df":
        application.call("move", queue=queue, lookup_id=known[label], to=subqueue)
    transaction = application.begin_transaction(external=True)
    moved = application.get_lookup_ids_by_label(subqueue)["d"]
    moves = [(queue, known["a"], subqueue), (queue, known["b"], subqueue), (subqueue, moved, queue)]
    for source, lookup_id, target in moves:
        application.call("move", queue=source, lookup_id=lookup_id, to=target, transaction=transaction)

    def list_labels_in_queue_and_subqueue() -> dict[str, list[str]]:
        return {"queue": application.labels(queue), "subqueue": application.labels(subqueue)}

    outcome = sut.attempt("prepare", transaction=transaction)
    judge(
        "MQDMPR-3.1.7.1.16-D03",
        expected={"prepare": Outcome.DONE, "queue": in_queue("c"), "subqueue": in_queue("f")},
        observed={"prepare": outcome, **list_labels_in_queue_and_subqueue()},
        case="places of the messages after the prepare request",
    )
    application.end_transaction(decision, transaction)
    in_places = LABELS_IN_QUEUE_AND_SUBQUEUE_BY_DECISION[decision]
    judge(
        "MQDMPR-3.1.7.1.16-D03",
        expected={"queue": in_queue(*in_places[0]), "subqueue": in_queue(*in_places[1])},
        observed=list_labels_in_queue_and_subqueue(),
        case=f"places of the messages after the {decision}",
    )
