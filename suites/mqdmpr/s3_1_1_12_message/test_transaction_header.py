"""MS-MQDMPR 3.1.1.12 Message: FinalAckRequired."""

from __future__ import annotations

import pytest

from harness.run.marks import covers, needs, varied
from harness.sut.shown import lookup_id
from suites.mqqb.steps.disposition import (
    delete,
    get_final_ack_identifier,
    identifier,
    purge_queue,
    receive_first_message,
)
from suites.mqqb.steps.ordering import Receiver

SHORT_LIFETIME_S = 2
RULES_OF_FINAL_ACK_REQUEST = ("MQMQ-2.2.20.5-D02", "MQDMPR-3.1.1.12-64", "MQDMPR-3.1.1.12-63", "MQDMPR-3.1.1.12-62")


@covers(*RULES_OF_FINAL_ACK_REQUEST)
@varied("response queue", body=("short", "5,000 bytes"))
def test_final_ack_is_sent_only_for_message_with_fa(peer, sut, judge):
    """Two transactional messages request acknowledgments, but name no administration queue; they expire in their queue.
    The SUT sends a FinalAck for the message with FA 1, and none for the message with FA 0.
    """
    receiver = Receiver(peer, sut)
    fields = {"TimeToBeReceived": SHORT_LIFETIME_S}
    packets = [receiver.send(fields, transaction={"FA": bit}, properties={"PR": 1, "NR": 1}) for bit in (0, 1)]
    receiver.await_acknowledgment()
    peer.pass_time((SHORT_LIFETIME_S + 1) * 1_000)
    _judge_final_acks(judge, receiver, packets)


def move_message_to_subqueue_and_receive_it(sut, queue):
    """Move the first message of a queue to a subqueue, and receive it there."""
    subqueue = f"{queue};mqc-sub"
    sut.attempt(sut.create_queue, subqueue, transactional=True)
    first = sut.control.call("peek", queue=queue)["messages"][0]
    sut.control.call("move", queue=queue, lookup_id=lookup_id(first), to=subqueue)
    receive_first_message(sut, subqueue)


@needs("receive", "queue_control")
@covers(*RULES_OF_FINAL_ACK_REQUEST)
@pytest.mark.parametrize(
    "act",
    [
        pytest.param(receive_first_message, id="take"),
        pytest.param(purge_queue, id="purge"),
        pytest.param(delete, id="delete"),
        pytest.param(move_message_to_subqueue_and_receive_it, marks=needs("subqueues"), id="move"),
    ],
)
def test_final_ack_is_sent_however_message_leaves_queue(peer, sut, judge, act):
    """Two transactional messages leave their queue: they are received, either from the queue or from a subqueue to
    which they were moved; or they are purged; or they are deleted with the queue. The SUT sends a FinalAck for the
    message with FA 1, and none for the message with FA 0.
    """
    queue = sut.new_queue("final", transactional=True)
    receiver = Receiver(peer, sut)
    to = rf"TCP:{sut.address}\{queue}"
    packets = [receiver.send(destination=to, transaction={"FA": bit}) for bit in (0, 1)]
    receiver.await_acknowledgment()
    peer.eventually(lambda: len(sut.labels(queue)) == len(packets))
    for _ in packets if act in (receive_first_message, move_message_to_subqueue_and_receive_it) else packets[:1]:
        act(sut, queue)
    _judge_final_acks(judge, receiver, packets)


def _judge_final_acks(judge, receiver, packets):
    """Judge that the SUT sends a FinalAck for the second of two messages, and none for the first message."""
    receiver.poll_acknowledgment(final=True)
    receiver.peer.pass_time(receiver.sut.quiet_ms)
    acks = receiver.list_acknowledgments(final=True)
    identifiers = {
        identifier(frame): name for frame, name in zip(packets, ("message with FA 0", "message with FA 1"), strict=True)
    }
    answered = sorted(identifiers.get(get_final_ack_identifier(frame), "another") for frame in acks)
    judge.all(
        expected=["message with FA 1"], observed=answered, evidence=[*packets, *acks], case="messages with a FinalAck"
    )
