"""REGRESSIONS 898618: a transactional message to a missing queue, at the sender and at the receiver."""

from __future__ import annotations

import pytest

from harness.expectations import any_order, facts
from harness.run.marks import covers, needs, varied
from suites.mqqb.steps.disposition import (
    BAD_DST_Q,
    MISSING_QUEUE,
    AcknowledgingReceiver,
    get_final_ack_identifier,
    get_message_class,
    identifier,
)
from suites.mqqb.steps.sequences import DEAD_LETTERS, SequenceSentBySut, find_positions_of_messages_in_queue


@needs("send", "receive")
@covers("REGRESSIONS-898618-01")
@pytest.mark.parametrize("ordered", [True, False], ids=["after-order-ack", "before-order-ack"])
@varied("positive journaling", "response queue", acknowledgments=("none", "of arrival"))
def test_message_to_missing_queue_becomes_dead_letter(peer, sut, judge, ordered):
    """The peer sends FinalAcks of the class NackBadDestQueue, with or without an earlier OrderAck: two messages with
    negative journaling become dead letters, and a third message does not. On the next session, the SUT sends a later
    message, but none of the three messages.
    """
    outgoing = SequenceSentBySut(peer, sut, f"mqc-no-queue-{int(ordered)}")
    outgoing.send(2, journal=["negative"])
    outgoing.send(1)
    frames = [outgoing.send_session_ack()]
    if ordered:
        frames.append(outgoing.send_order_ack(3))
        peer.settle()
    frames += [outgoing.send_final_ack(number, MessageClass=BAD_DST_Q) for number in (1, 2, 3)]
    peer.eventually(lambda: find_positions_of_messages_in_queue(sut, DEAD_LETTERS, outgoing.identifiers) == [1, 2])
    dead = find_positions_of_messages_in_queue(sut, DEAD_LETTERS, outgoing.identifiers)
    outgoing.session.close()
    outgoing.send(1)
    arrived = outgoing.list_sequence_numbers_on_session(outgoing.session)
    judge(
        "REGRESSIONS-898618-01",
        expected=facts(numbers_of_the_dead_letters=[1, 2], numbers_of_the_messages_on_the_next_session=[4]),
        observed={"numbers_of_the_dead_letters": dead, "numbers_of_the_messages_on_the_next_session": arrived},
        evidence=[*outgoing.sent, *frames],
    )
    outgoing.acknowledge_all()


@covers("REGRESSIONS-898618-02")
@varied("application tag", "destination", priority=("3", "7"))
def test_message_to_missing_queue_gets_final_ack(peer, sut, judge):
    """The peer sends two transactional messages to a missing queue: the SUT answers each of them with one FinalAck of
    the class NackBadDestQueue.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    packets = [receiver.send(destination=rf"TCP:{sut.address}\{MISSING_QUEUE}") for _ in range(2)]
    receiver.await_messages_of_sut(receiver.list_final_acks, len(packets))
    disposition = receiver.require_session_ack()
    acks = receiver.list_final_acks()
    classes = [(get_final_ack_identifier(frame), get_message_class(frame)) for frame in acks]
    expected = any_order(*((identifier(packet), BAD_DST_Q) for packet in packets))
    judge.all(expected=expected, observed=classes, case="FinalAcks", evidence=[*packets, disposition, *acks])
    receiver.acknowledge_all()
