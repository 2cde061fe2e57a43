"""MS-MQDMPR 3.1.7.1.7 Purge Queue: messages that a transaction received before the purge."""

from __future__ import annotations

import pytest

from harness.expectations import in_queue
from harness.run.marks import covers, needs, varied
from suites.applications import Application

pytestmark = needs("queues", "receive", "transactions")


@covers("MQDMPR-3.1.7.1.7-05")
@pytest.mark.parametrize(
    "ended",
    ["abort", "commit", pytest.param("restart", marks=needs("restart"))],
    ids=["aborted", "committed", "ended by a restart"],
)
@varied("time to reach queue", "application tag", read_by=("queue", "cursor"))
def test_message_received_in_transaction_is_purged(peer, sut, judge, ended):
    """A transaction receives two messages, and then their queue is purged. After the commit, abort or restart that ends
    the transaction, the messages are not in the queue.
    """
    application = Application(peer, sut, transactional=True)
    packets = application.fill_queue("first", "second", "third")
    transaction = application.begin_transaction()
    received = [application.receive(transaction=transaction) for _ in range(2)]
    application.call("purge", queue=application.queue)
    labels = {"queue_after_the_purge": application.labels()}
    if ended == "restart":
        sut.restart()
    else:
        application.end_transaction(ended, transaction)
    labels["queue_after_the_end_of_the_transaction"] = application.labels()
    packets += application.fill_queue("later")
    labels["queue_after_the_next_message"] = application.labels()
    judge(
        "MQDMPR-3.1.7.1.7-05",
        expected={
            "labels_of_the_received_messages": ["first", "second"],
            "queue_after_the_purge": in_queue(),
            "queue_after_the_end_of_the_transaction": in_queue(),
            "queue_after_the_next_message": in_queue("later"),
        },
        observed={"labels_of_the_received_messages": received, **labels},
        evidence=packets,
    )
