"""MS-MQDMPR 3.1.7.1.8 Create Transaction: the identifier and the operations of a transaction."""

from __future__ import annotations

from uuid import NAMESPACE_URL, uuid5

import pytest

from harness.expectations import distinct_values
from harness.run.marks import covers, needs
from suites.applications import Application

pytestmark = needs("queue_control", "receive", "transactions")


@covers("MQDMPR-3.1.7.1.8-03", "MQDMPR-3.1.7.1.8-04", "MQDMPR-3.1.7.1.8-05")
def test_transaction_has_supplied_identifier(peer, sut, judge):
    """Two new transactions, one of an application and one of a coordinator, have the identifiers that their creators
    supplied, and no operations. A commit removes the message that its transaction received, and an abort returns the
    message to the queue.
    """
    application = Application(peer, sut, transactional=True)
    application.fill_queue("first", "second")
    identifiers = [str(uuid5(NAMESPACE_URL, f"{sut.own} {number}")) for number in (1, 2)]
    transactions = [
        application.begin_transaction(transaction=one, external=external)
        for one, external in zip(identifiers, (False, True), strict=True)
    ]
    judge("MQDMPR-3.1.7.1.8-03", expected=identifiers, observed=transactions, case="identifiers of the transactions")
    judge(
        "MQDMPR-3.1.7.1.8-04",
        expected=dict.fromkeys(transactions, 0),
        observed=application.count_operations_of_transactions(*transactions),
        case="number of operations of each transaction",
    )
    for one in transactions:
        application.receive(transaction=one)
    received = application.labels()
    application.end_transaction("abort", transactions[1])
    aborted = application.labels()
    application.end_transaction("commit", transactions[0])
    judge(
        "MQDMPR-3.1.7.1.8-05",
        expected={
            "labels in the queue before the end": [],
            "labels after the abort": ["second"],
            "labels after the commit": ["second"],
            "remaining operations": {},
        },
        observed={
            "labels in the queue before the end": received,
            "labels after the abort": aborted,
            "labels after the commit": application.labels(),
            "remaining operations": application.count_operations_of_transactions(*transactions),
        },
    )


@covers("MQDMPR-3.1.7.1.8-05")
@pytest.mark.parametrize("external", [False, True], ids=["internal", "coordinated"])
def test_each_creator_gets_transaction_of_its_own(peer, sut, judge, external):
    """Seven transactions without operations are created in turn, and their creators supply no identifiers. The
    identifiers of the transactions differ. Three of the transactions each receive a message. The commit or abort of one
    transaction changes only the message of that transaction.
    """
    application = Application(peer, sut, transactional=True)
    packets = application.fill_queue("first", "second", "third")
    created = [application.begin_transaction(external=external) for _ in range(7)]
    judge.all(
        expected=distinct_values("transactions", len(created)),
        observed=[str(one).lower() for one in created],
        evidence=packets,
    )
    if len({str(one).lower() for one in created}) < len(created):  # the next steps need each of them
        return
    application.end_transaction("abort", created[0])
    received = [application.receive(transaction=created[number]) for number in (1, 2, 5)]
    labels = []
    for verb, number in (("abort", 3), ("commit", 4), ("abort", 6), ("commit", 1), ("abort", 2), ("commit", 5)):
        if external and verb == "commit":
            application.end_transaction("prepare", created[number])
        application.end_transaction(verb, created[number])
        labels.append(application.labels())
    judge.all(
        expected={
            "labels received": ["first", "second", "third"],
            "labels after each decision": [[]] * 4 + [["second"]] * 2,
        },
        observed={"labels received": received, "labels after each decision": labels},
        evidence=packets,
    )
