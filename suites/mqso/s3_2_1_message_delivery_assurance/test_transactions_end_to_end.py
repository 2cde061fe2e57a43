"""MS-MQSO 3.2.1 Message Delivery Assurance."""

from __future__ import annotations

from harness.run.marks import covers, needs
from suites.mqqb.steps.disposition import AcknowledgingReceiver
from suites.mqqb.steps.ordering import place


@needs("receive")
@covers("MQSO-3.2.1-01", "MQSO-3.2.1-D03", "MQSO-4.3.1.2-D04")
def test_a_transactional_message_is_stored_once_and_acknowledged(peer, sut, judge):
    """One that comes twice is there once, and its transfer is acknowledged; one in no transaction is not taken."""
    receiver = AcknowledgingReceiver(peer, sut)
    label = f"once {peer.message_id()}"
    packet = receiver.sequence.message(label=label)
    sent = [receiver.give(packet), receiver.give(packet)]
    ack = receiver.poll_acknowledgment()
    outside = receiver.give(receiver.asking(queue="transactional", label="in no transaction", properties={"NA": 1}))
    peer.eventually(lambda: label in sut.labels(sut.queue("transactional")))
    peer.pass_time(sut.quiet_ms)
    evidence = [*sent, outside, *([] if ack is None else [ack])]
    number = None if ack is None else place(ack).TxSequenceNumber
    judge(
        "MQSO-4.3.1.2-D04",
        expected=f"1 acknowledged, {[label]}",
        observed=f"{number} acknowledged, {sut.labels(sut.queue('transactional'))}",
        evidence=evidence,
    )
    judge(
        "MQSO-3.2.1-D03",
        expected=[label],
        observed=[one for one in sut.labels(sut.queue("transactional")) if one == label],
        evidence=sent,
    )
    judge("MQSO-3.2.1-01", expected=[label], observed=sut.labels(sut.queue("transactional")), evidence=evidence)
    receiver.end()
