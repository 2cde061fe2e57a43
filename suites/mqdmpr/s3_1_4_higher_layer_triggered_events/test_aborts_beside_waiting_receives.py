"""MS-MQDMPR 3.1.4.5 Transaction Abort: transactions in which a receive waits for a message."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import in_queue
from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome
from suites.applications import Application, PendingRequest

LONG_READ_TIMEOUT_MS = 60_000


@needs("receive", "queue_control", "send", "transactions")
@covers("MQDMPR-3.1.4.5-20")
@pytest.mark.parametrize("reader", ["queue", "handle", "cursor"])
def test_transaction_with_waiting_receive_can_be_aborted(peer, sut, judge, reader):
    """A transaction receives a message from one queue, and a second receive of the transaction waits at an empty queue.
    An abort succeeds, and the received message is in its queue again. The check does not judge how the waiting receive
    ends.
    """
    application, empty = (Application(peer, sut, transactional=True) for _ in range(2))
    application.store("received")
    transaction = application.begin_transaction()
    if application.receive(transaction=transaction) != "received":
        raise ConformanceFailure("the transaction did not receive the message")
    place = {"queue": empty.queue}
    if reader != "queue":
        place = {"handle": sut.control.call("open_queue", queue=empty.queue, access="receive")["handle"]}
    if reader == "cursor":
        place = {"cursor": sut.control.call("open_cursor", **place)["cursor"]}
    waiting = PendingRequest(peer, "receive", **place, timeout_ms=LONG_READ_TIMEOUT_MS, transaction=transaction)
    peer.settle()
    if waiting.is_answered():
        raise ConformanceFailure("the receive from the empty queue did not wait")
    outcome = sut.attempt("abort", transaction=transaction)
    judge(
        "MQDMPR-3.1.4.5-20",
        expected={"abort": Outcome.DONE, "queue": in_queue("received")},
        observed={"abort": outcome, "queue": application.labels()},
    )
    peer.settle()
    if not waiting.is_answered():
        sut.control.call("cancel", request=waiting.number)
