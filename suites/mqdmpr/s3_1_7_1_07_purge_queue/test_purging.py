"""MS-MQDMPR 3.1.7.1.7 Purge Queue: what is received within a transaction meanwhile."""

from __future__ import annotations

import pytest

from harness.run.marks import covers, needs
from suites.applications import Application

pytestmark = needs("queue_control", "receive", "transactions")


@covers("MQDMPR-3.1.7.1.7-05")
@pytest.mark.parametrize(
    "ended",
    ["abort", "commit", pytest.param("restart", marks=needs("restart"))],
    ids=["aborted", "committed", "ended by a restart"],
)
def test_what_a_transaction_received_is_purged_however_that_ends(peer, sut, judge, ended):
    """Of three messages one is received within a transaction, then all are purged, then the transaction ends: none is
    there, also not the one that was received; one that comes then is.
    """
    application = Application(peer, sut, transactional=True)
    sent = application.fill("first", "second", "third")
    transaction = application.begin()
    taken = application.take(transaction=transaction)
    application.call("purge", queue=application.queue)
    left = [application.labels()]
    if ended == "restart":
        sut.restart()
    else:
        application.decide(ended, transaction)
    left.append(application.labels())
    sent += application.fill("later")
    left.append(application.labels())
    judge("MQDMPR-3.1.7.1.7-05", expected=["first", [[], [], ["later"]]], observed=[taken, left], evidence=sent)
