"""MS-MQSO 3.2.1 Message Delivery Assurance: exactly-once delivery of transactional messages."""

from __future__ import annotations

from harness.expectations import facts, in_queue
from harness.run.marks import covers, needs, varied
from suites.mqqb.steps.disposition import AcknowledgingReceiver
from suites.mqqb.steps.ordering import read_acknowledged_sequence_position

LARGE_BODY = bytes(range(256)) * 20
"""A body of more than 4 KiB."""


@needs("receive")
@covers("MQSO-3.2.1-01", "MQSO-3.2.1-D01", "MQSO-3.2.1-D03", "MQSO-4.3.1.2-D04")
@varied("application tag", "extension", "correlation", priority=("3", "7"))
def test_repeated_transactional_message_is_stored_once(peer, sut, judge):
    """The peer sends a transactional message twice. The SUT stores the message once and acknowledges it. After a purge,
    the same message arrives again, and the SUT does not store it. A nontransactional message is not stored in the
    transactional queue, and an express message that arrives twice is stored once. The SUT also stores a large message
    and two messages of one transaction.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    label, queue = f"once {peer.next_message_id()}", sut.queue("transactional")
    packet = receiver.sequence.message(label=label)
    packets = [receiver.send_packet(packet), receiver.send_packet(packet)]
    ack = receiver.poll_acknowledgment()
    outside = receiver.send_packet(
        receiver.build_message(queue="transactional", label="in no transaction", properties={"NA": 1})
    )
    peer.eventually(lambda: label in sut.labels(queue))
    peer.pass_time(sut.quiet_ms)
    evidence = [*packets, outside, *([] if ack is None else [ack])]
    number = None if ack is None else read_acknowledged_sequence_position(ack).TxSequenceNumber
    judge(
        "MQSO-4.3.1.2-D04",
        expected=facts(TxSequenceNumber=1, labels_of_the_stored_messages=[label]),
        observed={"TxSequenceNumber": number, "labels_of_the_stored_messages": sut.labels(queue)},
        evidence=evidence,
    )
    once = [one for one in sut.labels(queue) if one == label]
    judge("MQSO-3.2.1-D03", expected=in_queue(label), observed=once, evidence=packets)
    judge("MQSO-3.2.1-01", expected=in_queue(label), observed=sut.labels(queue), evidence=evidence)
    more = [
        receiver.send_packet(receiver.sequence.message(**message))
        for message in (
            {"label": "large", "body": LARGE_BODY},
            {"label": "first of two", "transaction": {"LM": 0}},
            {"label": "last of two", "transaction": {"FM": 0}},
        )
    ]
    labels = [label, "large", "first of two", "last of two"]
    peer.eventually(lambda: sut.labels(queue) == labels)
    judge(
        "MQSO-4.3.1.2-D04",
        expected=in_queue(*labels),
        observed=sut.labels(queue),
        evidence=more,
        case="queue after a large message and two messages of one transaction",
    )
    sut.control.call("purge", queue=queue)
    late = receiver.send_packet(packet)
    express = peer.message(label=f"express {label}")
    repeated = [receiver.send_packet(express), peer.open_raw().send(express)]
    peer.eventually(lambda: bool(sut.labels(sut.queue())))
    peer.pass_time(sut.quiet_ms)
    judge("MQSO-3.2.1-D03", expected=in_queue(), observed=sut.labels(queue), evidence=[*packets, late])
    judge("MQSO-3.2.1-D01", expected=in_queue(f"express {label}"), observed=sut.labels(sut.queue()), evidence=repeated)
    receiver.acknowledge_all()
