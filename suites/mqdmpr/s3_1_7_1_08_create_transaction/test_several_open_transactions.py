"""MS-MQDMPR 3.1.7.1.8 Create Transaction: transactions that are open at the same time, and both kinds of operations."""

from __future__ import annotations

import pytest

from harness.expectations import facts
from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome
from suites.applications import Application

pytestmark = needs("queue_control", "receive", "transactions")

OPEN_TRANSACTION_COUNT = 6


@covers("MQDMPR-3.1.7.1.8-04")
@pytest.mark.parametrize("external", [False, True], ids=["internal", "coordinated"])
def test_every_open_transaction_is_in_the_collection(peer, sut, judge, external):
    """The SUT lists each of six open transactions, after each creation and after some of them have ended."""
    application = Application(peer, sut, transactional=True)
    created: list[str] = []
    for number in range(1, OPEN_TRANSACTION_COUNT + 1):
        created.append(application.begin_transaction(external=external))
        judge(
            "MQDMPR-3.1.7.1.8-04",
            expected=dict.fromkeys(created, 0),
            observed=application.count_operations_of_transactions(*created),
            case=f"number of operations of each of {number} transactions",
        )
    ended, left = created[::2], created[1::2]
    for one in ended:
        application.end_transaction("abort", one)
    judge(
        "MQDMPR-3.1.7.1.8-04",
        expected=dict.fromkeys(left, 0),
        observed=application.count_operations_of_transactions(*created),
        case="number of operations of each transaction that is still open",
    )
    for one in left:
        application.end_transaction("abort", one)


@needs("send")
@covers("MQDMPR-3.1.7.1.8-05")
@pytest.mark.parametrize("order", ["receive first", "send first"])
@pytest.mark.parametrize("end", ["commit", "abort"])
def test_creator_sends_and_receives_in_one_transaction(peer, sut, judge, order, end):
    """In one transaction, an application receives a message, and sends one message to the same queue and one to another
    queue. A commit carries out all of these operations, and an abort carries out none of them.
    """
    first, second = (Application(peer, sut, transactional=True) for _ in range(2))
    first.fill_queue("received", "stays")
    transaction = first.begin_transaction()
    received, sends = [], []
    for step in ("receive", "send") if order == "receive first" else ("send", "receive"):
        if step == "receive":
            received.append(first.receive(transaction=transaction))
        else:
            for to, label in ((first, "sent"), (second, "sent elsewhere")):
                sends.append(sut.attempt(to.send, label, transaction=transaction))
    before = [first.labels(), second.labels()]
    first.end_transaction(end, transaction)
    done = end == "commit"
    first.await_message_count(2)
    second.await_message_count(int(done))
    judge(
        "MQDMPR-3.1.7.1.8-05",
        expected=facts(
            received=["received"],
            sends=[Outcome.DONE] * 2,
            queues_before_the_end=[["stays"], []],
            queues_after_the_end=[["stays", "sent"], ["sent elsewhere"]] if done else [["received", "stays"], []],
        ),
        observed={
            "received": received,
            "sends": sends,
            "queues_before_the_end": before,
            "queues_after_the_end": [first.labels(), second.labels()],
        },
    )
