"""REGRESSIONS 898618: a transactional message to a missing queue, at the sender and at the receiver."""

from __future__ import annotations

import pytest

from harness.expectations import facts
from harness.run.marks import covers, needs, varied
from suites.mqqb.steps.disposition import BAD_DST_Q, MISSING_QUEUE, AcknowledgingReceiver, message_class
from suites.mqqb.steps.sequences import DEAD_LETTERS, Outgoing, find_kept_messages


@needs("send", "receive")
@covers("REGRESSIONS-898618-01")
@pytest.mark.parametrize("ordered", [True, False], ids=["after-order-ack", "before-order-ack"])
@varied("positive journaling", "response queue", acknowledgments=("none", "of arrival"))
def test_message_to_missing_queue_becomes_dead_letter(peer, sut, judge, ordered):
    """After a FinalAck of the class NackBadDestQueue, with or without an earlier OrderAck, the message is a dead
    letter. On the next session, the SUT sends a later message, but not the dead letter.
    """
    outgoing = Outgoing(peer, sut, f"mqc-no-queue-{int(ordered)}")
    outgoing.send(1, journal=["negative"])
    frames = [outgoing.send_session_ack()]
    if ordered:
        frames.append(outgoing.send_order_ack(1))
        peer.settle()
    frames.append(outgoing.send_final_ack(1, MessageClass=BAD_DST_Q))
    peer.eventually(lambda: find_kept_messages(sut, DEAD_LETTERS, outgoing.identifiers) == [1])
    dead = find_kept_messages(sut, DEAD_LETTERS, outgoing.identifiers)
    outgoing.session.close()
    outgoing.send(1)
    arrived = outgoing.list_numbers_on(outgoing.session)
    judge(
        "REGRESSIONS-898618-01",
        expected=facts(numbers_of_the_dead_letters=[1], numbers_of_the_messages_on_the_next_session=[2]),
        observed={"numbers_of_the_dead_letters": dead, "numbers_of_the_messages_on_the_next_session": arrived},
        evidence=[*outgoing.sent, *frames],
    )
    outgoing.acknowledge_all()


@covers("REGRESSIONS-898618-02")
@varied("application tag", "destination", priority=("3", "7"))
def test_message_to_missing_queue_gets_final_ack(peer, sut, judge):
    """A transactional message to a missing queue is answered with one FinalAck of the class NackBadDestQueue."""
    receiver = AcknowledgingReceiver(peer, sut)
    packet = receiver.send(destination=rf"TCP:{sut.address}\{MISSING_QUEUE}")
    receiver.poll_acknowledgment(final=True)
    disposition = receiver.require_reception()
    acks = receiver.final_acks()
    classes = [message_class(frame) for frame in acks]
    judge.all(expected=[BAD_DST_Q], observed=classes, case="MessageClass", evidence=[packet, disposition, *acks])
    receiver.acknowledge_all()
