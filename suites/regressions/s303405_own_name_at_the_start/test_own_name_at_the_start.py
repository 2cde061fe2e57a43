"""REGRESSIONS 303405: messages to direct names of the local computer, after a restart."""

from __future__ import annotations

from harness.expectations import any_order, facts
from harness.run.marks import covers, needs, varied
from suites.applications import list_computer_names


@needs("send", "receive", "restart")
@covers("REGRESSIONS-303405-01")
@varied("priority", "negative journaling", "application tag", "extension", "correlation", "body")
def test_message_to_own_name_stays_in_queue_after_restart(peer, sut, judge):
    """Messages that the SUT and the peer sent to a queue by each name of the SUT's computer are in the queue before
    and after a restart.
    """
    queue = sut.queue()
    connection = peer.open_raw()
    expected = []
    for name in list_computer_names(sut):
        to, labels = rf"OS:{name}\{queue}", [f"sent by the {sender} to {name}" for sender in ("SUT", "peer")]
        sut.send(f"DIRECT={to}", label=labels[0], delivery="recoverable")
        connection.send(peer.recoverable_message(destination=to, label=labels[1]))
        expected += labels
    peer.eventually(lambda: len(sut.labels(queue)) == len(expected))
    labels_before = sut.labels(queue)
    sut.restart()
    stay = any_order(*expected)
    judge.all(
        expected=facts(labels_in_the_queue_before_the_restart=stay, labels_in_the_queue_after_the_restart=stay),
        observed={
            "labels_in_the_queue_before_the_restart": labels_before,
            "labels_in_the_queue_after_the_restart": sut.labels(queue),
        },
    )
