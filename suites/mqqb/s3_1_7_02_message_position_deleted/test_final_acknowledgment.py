"""MS-MQQB 3.1.7.2.2 Final Acknowledgment. The checks of 3.1.7.15 judge administration acknowledgments (3.1.7.2.1)."""

from __future__ import annotations

import pytest

from harness.expectations import acknowledgment_of_class, acknowledgments_of_classes
from harness.run.marks import covers, needs
from harness.sut.shown import lookup_id
from suites.mqqb.steps.disposition import AckClass, purge_queue, receive_first_message
from suites.mqqb.steps.ordering import Receiver


@needs("receive", "queues")
@covers("MQQB-3.1.7.2.2-01")
@pytest.mark.parametrize(
    ("user", "transaction"), [({"JP": 1}, {}), ({"JN": 1}, {}), ({}, {"FA": 1})], ids=["JP", "JN", "FA"]
)
@pytest.mark.parametrize(
    ("end", "wanted"),
    [("receive", AckClass.RECEIVE), ("purge", AckClass.Q_PURGED)],
    ids=["receive-0x4000", "purge-0xC001"],
)
def test_transactional_message_gets_final_ack_when_it_leaves_its_queue(
    peer, sut, judge, user, transaction, end, wanted
):
    """The peer sends a transactional message with JP, JN or FA, and an application receives or purges it. The SUT sends
    a FinalAck of class ACK_RECEIVE or NACK_Q_PURGED at that time, and not earlier.
    """
    receiver = Receiver(peer, sut)
    sent = receiver.send(user, transaction=transaction)
    receiver.await_acknowledgment()
    peer.eventually(lambda: bool(sut.messages("transactional")))
    early = receiver.list_acknowledgments(final=True)
    sut.control.call(end, queue=sut.queue("transactional"), **({"timeout_ms": 0} if end == "receive" else {}))
    frame = receiver.poll_acknowledgment(final=True)
    judge(
        "MQQB-3.1.7.2.2-01",
        expected={
            f"acknowledgments_before_the_{end}": acknowledgments_of_classes(),
            f"acknowledgment_after_the_{end}": acknowledgment_of_class(wanted),
        },
        observed={f"acknowledgments_before_the_{end}": early, f"acknowledgment_after_the_{end}": frame},
        evidence=[sent, frame],
    )


@needs("receive", "queue_control", "subqueues")
@covers("MQQB-3.1.7.2.2-01")
@pytest.mark.parametrize(
    ("act", "wanted"),
    [(receive_first_message, AckClass.RECEIVE), (purge_queue, AckClass.Q_PURGED)],
    ids=["receive-0x4000", "purge-0xC001"],
)
def test_transactional_message_gets_final_ack_when_it_leaves_subqueue(peer, sut, judge, act, wanted):
    """An application moves a transactional message with JP to a subqueue, and then receives or purges it there. The SUT
    sends a FinalAck only after the receive or purge.
    """
    receiver = Receiver(peer, sut)
    sent = receiver.send({"JP": 1})
    receiver.await_acknowledgment()
    peer.eventually(lambda: bool(sut.messages("transactional")))
    queue, [message] = sut.queue("transactional"), sut.messages("transactional")
    subqueue = f"{queue};mqc-sub"
    sut.create_queue(subqueue)
    sut.control.call("move", queue=queue, lookup_id=lookup_id(message), to=subqueue)
    peer.settle()
    early = receiver.list_acknowledgments(final=True)
    act(sut, subqueue)
    frame = receiver.poll_acknowledgment(final=True)
    judge(
        "MQQB-3.1.7.2.2-01",
        expected={
            "acknowledgments_after_the_move": acknowledgments_of_classes(),
            "acknowledgment_at_the_end": acknowledgment_of_class(wanted),
        },
        observed={"acknowledgments_after_the_move": early, "acknowledgment_at_the_end": frame},
        evidence=[sent, frame],
    )
