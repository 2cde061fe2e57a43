"""MS-MQSO 3.3.4.5 Transfer Message: duplicates and refused messages at the receiver."""

from __future__ import annotations

from harness.expectations import acknowledgment, in_queue
from harness.run.marks import covers, needs, varied
from suites.mqqb.steps.disposition import AcknowledgingReceiver, get_message_class

NEGATIVE_CLASS_BIT = 0x8000
"""The bit of MessageClass that is set in negative acknowledgments (MS-MQMQ 2.2.18.1.6)."""


@needs("receive")
@covers("MQSO-3.3.4.5-D01", "MQSO-3.3.4.5-D02")
@varied("application tag", "extension", "correlation", priority=("3", "0"))
def test_duplicate_is_discarded_and_refused_message_is_nacked(peer, sut, judge):
    """Two messages that arrive twice are stored once each. A nontransactional message to a transactional queue gets a
    negative acknowledgment.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    labels = [f"{which} {peer.next_message_id()}" for which in ("first", "second")]
    packets = [peer.recoverable_message(label=label) for label in labels]
    sent = [receiver.send_packet(packet) for packet in (*packets, *packets)]
    peer.eventually(lambda: labels[1] in sut.labels(sut.queue()))
    refused = receiver.send_packet(
        receiver.build_message(queue="transactional", label="in no transaction", properties={"NA": 1})
    )
    answer = acknowledgment(refused)
    acks = [ack for ack in receiver.await_acks(1) if answer.compare(ack) is None]
    judge("MQSO-3.3.4.5-D01", expected=in_queue(*labels), observed=sut.labels(sut.queue()), evidence=sent)
    signs = ["negative" if get_message_class(ack) & NEGATIVE_CLASS_BIT else "positive" for ack in acks]
    judge(
        "MQSO-3.3.4.5-D02",
        expected=["negative"],
        observed=signs,
        evidence=[refused, *acks],
        case="acknowledgments of the refused message",
    )
    receiver.acknowledge_all()
