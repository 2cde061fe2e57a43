"""MS-MQDMPR 3.1.7.1.3 Create Queue: a queue with the name of a deleted queue has received no sequence of messages."""

from __future__ import annotations

from harness.expectations import in_queue
from harness.run.marks import covers, needs
from suites.applications import Application

MESSAGE_COUNT = 3


@needs("queue_control", "receive")
@covers("MQDMPR-3.1.7.1.3-06")
def test_later_queue_accepts_sequence_from_its_first_message(peer, sut, judge):
    """The peer sends three messages of a sequence to a transactional queue, which is then deleted and created again.
    The peer sends three new messages with the same places in the sequence: all of them arrive in the later queue.
    """
    application = Application(peer, sut, transactional=True)
    packets = application.fill_queue(*(f"deleted {number}" for number in range(1, MESSAGE_COUNT + 1)))
    sut.delete_queue(application.queue)
    sut.create_queue(application.queue, transactional=True)
    application.sequence.number = 0
    connection = peer.open_raw()
    labels = [f"new {number}" for number in range(1, MESSAGE_COUNT + 1)]
    packets += [connection.send(application.build_message(label)) for label in labels]
    application.await_message_count(MESSAGE_COUNT)
    judge.all(
        expected=in_queue(*labels),
        observed=application.labels(),
        evidence=packets,
        case="later queue",
    )
    connection.close()
