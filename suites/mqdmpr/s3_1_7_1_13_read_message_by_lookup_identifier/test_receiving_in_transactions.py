"""MS-MQDMPR 3.1.7.1.13 Read Message By Lookup Identifier: receives in transactions."""

from __future__ import annotations

import pytest

from harness.run.marks import covers, needs, varied
from harness.sut.control import ControlRefused
from harness.sut.outcomes import Outcome, get_label
from suites.applications import Application

RULES_OF_RECEIVE = ("MQDMPR-3.1.7.1.10-D03", "MQDMPR-3.1.7.1.10-D04")
RULES_OF_READ_BY_LOOKUP_ID = ("MQDMPR-3.1.7.1.13-24", "MQDMPR-3.1.7.1.13-25", "MQDMPR-3.1.7.1.13-29")
LABEL_OF_FOUND_MESSAGE_BY_LOOKUP_ACTION = {"next": "d", "previous": "b", "current": "c", "last": "e", "first": "a"}
"""For each action, the label of the message that it finds: at or next to the third of five messages, or at an end."""


@needs("queue_control", "receive", "transactions")
@covers(*RULES_OF_RECEIVE, *RULES_OF_READ_BY_LOOKUP_ID)
@varied("queue journaling", body=("short", "5,000 bytes"), read_by=("queue", "handle"))
def test_message_received_in_transaction_is_locked_until_end(peer, sut, judge):
    """Two transactions receive messages, with and without a LookupIdentifier, which are then hidden from other readers.
    The commit removes the messages of its transaction. The abort restores the messages of the other transaction to
    their positions.
    """
    application = Application(peer, sut, transactional=True)
    application.fill_queue(*"abcde")
    committed, aborted = application.begin_transaction(), application.begin_transaction()
    received_labels = [application.receive(transaction=committed), application.receive(transaction=aborted)]
    labels_before = application.labels()
    looked_up = [
        application.receive_by_label(label, transaction=transaction)
        for label, transaction in (("d", committed), ("e", aborted))
    ]
    locked = application.labels()
    counts = list(application.count_operations_of_transactions(committed, aborted).values())
    application.end_transaction("commit", committed)
    application.end_transaction("abort", aborted)
    labels_after = application.labels()
    judge(
        "MQDMPR-3.1.7.1.10-D03",
        expected={"labels received": ["a", "b"], "labels visible to other readers": ["c", "d", "e"]},
        observed={"labels received": received_labels, "labels visible to other readers": labels_before},
    )
    judge(
        "MQDMPR-3.1.7.1.13-24",
        expected={"labels received": ["d", "e"], "labels visible to other readers": ["c"]},
        observed={"labels received": looked_up, "labels visible to other readers": locked},
    )
    judge(
        "MQDMPR-3.1.7.1.10-D04",
        expected=["b"],
        observed=[label for label in labels_after if label in "ab"],
        case="labels in the queue after the transactions",
    )
    judge(
        "MQDMPR-3.1.7.1.13-25",
        expected=["e"],
        observed=[label for label in labels_after if label in "de"],
        case="labels in the queue after the transactions",
    )
    judge("MQDMPR-3.1.7.1.13-29", expected=[2, 2], observed=counts, case="numbers of operations of the transactions")


@needs("queue_control", "receive", "transactions")
@covers(*RULES_OF_READ_BY_LOOKUP_ID)
@pytest.mark.parametrize("end", ["commit", "abort"])
def test_each_action_receives_within_transaction(peer, sut, judge, end):
    """By LookupIdentifier, a transaction receives the first message, the messages before and after the third message,
    and the last message of a queue. These messages are locked. A commit removes them, and an abort restores them to
    their positions.
    """
    application = Application(peer, sut, transactional=True)
    sut.control.call("set_queue", name=application.queue, journaling=True)
    application.fill_queue(*"abcde")
    third = application.get_lookup_ids_by_label()["c"]
    transaction = application.begin_transaction()
    looked_up = [
        get_label(
            application.call(
                "receive_by_lookup_id",
                queue=application.queue,
                lookup_id=0 if seek in ("first", "last") else third,
                seek=seek,
                transaction=transaction,
            )["message"]
        )
        for seek in ("next", "previous", "last", "first")
    ]
    locked = application.labels()
    counts = list(application.count_operations_of_transactions(transaction).values())
    application.end_transaction(end, transaction)
    judge(
        "MQDMPR-3.1.7.1.13-24",
        expected={"labels received": ["d", "b", "e", "a"], "labels visible to other readers": ["c"]},
        observed={"labels received": looked_up, "labels visible to other readers": locked},
    )
    judge(
        "MQDMPR-3.1.7.1.13-25",
        expected=["c"] if end == "commit" else [*"abcde"],
        observed=application.labels(),
        case="labels in the queue after the transaction",
    )
    judge("MQDMPR-3.1.7.1.13-29", expected=[4], observed=counts, case="number of operations of the transaction")
    journal = sut.labels(f"{application.queue};journal")
    judge(
        "MQDMPR-3.1.7.1.13-29",
        expected=["d", "b", "e", "a"] if end == "commit" else [],
        observed=journal,
        case="labels in the journal, in the order of the operations",
    )


@needs("queue_control", "receive", "transactions")
@covers("MQDMPR-3.1.7.1.13-11")
@pytest.mark.parametrize("external", [False, True], ids=["internal", "external"])
def test_each_action_finds_its_message_within_transaction(peer, sut, judge, external):
    """By LookupIdentifier, a transaction receives the messages after, before and at the position of the third message,
    and the last and the first message of a queue. Each receive finds the message that its action and its
    LookupIdentifier denote.
    """
    application = Application(peer, sut, transactional=True)
    packets = application.fill_queue(*"abcde")
    third = application.get_lookup_ids_by_label()["c"]
    transaction = application.begin_transaction(external=external)
    found: dict[str, str] = {}
    for seek in LABEL_OF_FOUND_MESSAGE_BY_LOOKUP_ACTION:
        place = {"lookup_id": 0 if seek in ("first", "last") else third, "seek": seek}
        try:
            how = {"queue": application.queue, "transaction": transaction, **place}
            found[seek] = get_label(application.call("receive_by_lookup_id", **how)["message"])
        except ControlRefused:
            found[seek] = Outcome.REFUSED
    if external:
        application.end_transaction("prepare", transaction)
    application.end_transaction("abort", transaction)
    judge(
        "MQDMPR-3.1.7.1.13-11",
        expected=LABEL_OF_FOUND_MESSAGE_BY_LOOKUP_ACTION,
        observed=found,
        evidence=packets,
        case="label that a receive with each action returned",
    )
