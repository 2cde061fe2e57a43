"""MS-MQDMPR 3.1.7.1.8 Create Transaction: new transactions beside a transaction that has operations or is prepared."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.run.marks import covers, needs
from suites.applications import Application

pytestmark = needs("queue_control", "receive", "transactions")


@covers("MQDMPR-3.1.7.1.8-04")
@pytest.mark.parametrize(
    "state",
    ["has an operation", "is prepared", pytest.param("was prepared before a restart", marks=needs("restart"))],
)
def test_new_transaction_beside_undecided_one_is_in_the_collection(peer, sut, judge, state):
    """A coordinated transaction has received a message, and is not prepared, is prepared, or was prepared before a
    restart. The SUT lists each further transaction, coordinated or not, and each of them accepts an operation.
    """
    application = Application(peer, sut, transactional=True)
    application.fill_queue("first", "second", "third")
    undecided = application.begin_transaction(external=True)
    application.receive(transaction=undecided)
    if state != "has an operation":
        application.end_transaction("prepare", undecided)
    if state == "was prepared before a restart":
        sut.restart()
    if not application.count_operations_of_transactions(undecided):
        raise ConformanceFailure(f"the SUT does not list the first transaction, which {state}")
    created = [application.begin_transaction(external=external) for external in (False, True)]
    judge.all(
        expected=dict.fromkeys(created, 0),
        observed=application.count_operations_of_transactions(*created),
        case=f"number of operations of each new transaction; the first transaction {state}",
    )
    for one in created:
        sut.attempt("receive", queue=application.queue, timeout_ms=0, transaction=one)
    judge.all(
        expected=dict.fromkeys(created, 1),
        observed=application.count_operations_of_transactions(*created),
        case=f"number of operations after a receive in each new transaction; the first transaction {state}",
    )
    for one in (*created, undecided):
        application.end_transaction("abort", one)
