"""MS-MQSO 4.3.1.1 Message Queuing and Applications: several applications use one queue at the same time."""

from __future__ import annotations

import pytest

from harness.expectations import any_order, facts, holds, in_queue
from harness.run.marks import covers, needs
from suites.applications import PendingRequest
from suites.messages import Sequence

LONG_READ_TIMEOUT_MS = 600_000
RECEIVING_APPLICATION_COUNT = 3


@needs("send", "receive", "queue_control")
@covers("MQSO-4.3.1.1-01")
@pytest.mark.parametrize("transactional", [False, True], ids=["plain", "transactional"])
def test_every_waiting_application_receives_message(peer, sut, judge, transactional):
    """Three applications wait for a message of one queue. The peer sends two messages, and another application of the
    SUT sends one. Each waiting application gets one of the messages, and the queue is empty afterwards.
    """
    queue = sut.new_queue("shared", transactional=transactional)
    receives = [
        PendingRequest(peer, "receive", queue=queue, timeout_ms=LONG_READ_TIMEOUT_MS)
        for _ in range(RECEIVING_APPLICATION_COUNT)
    ]
    peer.settle()
    waiting = [not request.is_answered() for request in receives]
    labels = [f"message {peer.next_message_id()}" for _ in receives]
    to = rf"TCP:{sut.address}\{queue}"
    make = Sequence(peer).message if transactional else peer.recoverable_message
    session = peer.open_raw()
    packets = [session.send(make(destination=to, label=label)) for label in labels[:-1]]
    peer.eventually(lambda: sum(request.is_answered() for request in receives) >= len(packets))
    sut.send_here(queue, [labels[-1]], delivery="transactional" if transactional else "recoverable")
    received = [request.await_label() for request in receives]
    expected = facts(
        every_application_waits=holds("every application waits"),
        labels_received=any_order(*labels),
        messages_left=in_queue(),
    )
    observed = {
        "every_application_waits": all(waiting),
        "labels_received": received,
        "messages_left": sut.labels(queue),
    }
    judge("MQSO-4.3.1.1-01", expected=expected, observed=observed, evidence=packets)
