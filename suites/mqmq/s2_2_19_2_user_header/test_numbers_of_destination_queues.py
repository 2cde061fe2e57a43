"""MS-MQMQ 2.2.19.2 UserHeader: the 4 bytes of the number in DestinationQueue if DQ is 3."""

from __future__ import annotations

from harness.expectations import in_queue
from harness.run.marks import covers, needs
from suites.mqqb.steps.disposition import private_queue
from suites.mqqb.steps.ordering import get_private_queue_number

CHANGED_QUEUE_NUMBER_BITS = (0x0000_8000, 0x0001_0000, 0x0080_0000, 0x0100_0000, 0x8000_0000)
"""A bit of the second byte of a number, and bits of the third and of the fourth byte."""


@needs("receive", "queue_control")
@covers("MQMQ-2.2.19.2-D06")
def test_each_byte_of_received_queue_number_is_read(peer, sut, judge):
    """The peer sends messages with DQ 3 whose numbers differ from the number of a queue of the SUT in one bit of the
    upper three bytes, and then a message with the number of the queue. Only the last message is in the queue.
    """
    queue = sut.new_queue("numbered")
    number = get_private_queue_number(sut, queue)
    connection = peer.open_raw()
    sent = [
        connection.send(
            peer.recoverable_message(private_queue(sut.guid, one), destination=None, label=f"for {one:08x}")
        )
        for one in (*(number ^ bit for bit in CHANGED_QUEUE_NUMBER_BITS), number)
    ]
    peer.await_label(f"for {number:08x}", queue)
    judge(
        "MQMQ-2.2.19.2-D06",
        expected=in_queue(f"for {number:08x}"),
        observed=sut.labels(queue),
        evidence=sent,
        case=f"messages in the queue with the number {number:08x}",
    )
