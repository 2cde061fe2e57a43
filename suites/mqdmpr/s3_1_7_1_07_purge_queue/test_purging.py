"""MS-MQDMPR 3.1.7.1.7 Purge Queue: messages that a transaction received before the purge."""

from __future__ import annotations

import pytest

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
    """A message that a transaction received before a purge is not in the queue after the commit, abort or restart
    that ends the transaction.
    """
    application = Application(peer, sut, transactional=True)
    packets = application.fill("first", "second", "third")
    transaction = application.begin_transaction()
    label = application.receive(transaction=transaction)
    application.call("purge", queue=application.queue)
    labels = {"queue_after_the_purge": application.labels()}
    if ended == "restart":
        sut.restart()
    else:
        application.end_transaction(ended, transaction)
    labels["queue_after_the_end_of_the_transaction"] = application.labels()
    packets += application.fill("later")
    labels["queue_after_the_next_message"] = application.labels()
    judge(
        "MQDMPR-3.1.7.1.7-05",
        expected={
            "label_of_the_received_message": "first",
            "queue_after_the_purge": [],
            "queue_after_the_end_of_the_transaction": [],
            "queue_after_the_next_message": ["later"],
        },
        observed={"label_of_the_received_message": label, **labels},
        evidence=packets,
    )
