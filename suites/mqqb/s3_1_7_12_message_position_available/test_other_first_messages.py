"""MS-MQQB 3.1.7.12 Message Position Available Event: first messages that the queue manager creates, and packets of
messages with several queues of the same name.
"""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import acknowledgment_of_class, facts, holds
from harness.run.marks import covers, needs
from suites.mqqb.steps.disposition import (
    AckClass,
    get_correlation_id,
    get_message_class,
    identifier,
    purge_queue,
    receive_first_message,
)
from suites.mqqb.steps.ordering import Receiver
from suites.mqqb.steps.sender import Sender
from suites.whole_messages import describe_packet, normalize_format_name

ANSWER_QUEUE, OTHER_ANSWER_QUEUE = "mqc-answers", "mqc-other-answers"
QUEUES_BY_CASE = {
    "same queue": (ANSWER_QUEUE, ANSWER_QUEUE),
    "different queues": (ANSWER_QUEUE, OTHER_ANSWER_QUEUE),
    "destination": ("mqc-peer", "mqc-peer"),
}
"""The administration queue and the response queue of a message to the queue mqc-peer, by the kind of case."""


@needs("receive", "queue_control")
@covers("MQQB-3.1.7.12-06")
@pytest.mark.parametrize(
    ("remove", "wanted"),
    [
        pytest.param(receive_first_message, AckClass.RECEIVE, id="receive"),
        pytest.param(purge_queue, AckClass.Q_PURGED, id="purge"),
    ],
)
def test_session_is_established_for_acknowledgment_as_first_message(peer, sut, judge, remove, wanted):
    """The peer sends a message to a queue of the SUT and closes its session. An application removes the message from
    the queue: the acknowledgment, which is the first message to its administration queue, reaches the peer.
    """
    queue = sut.new_queue("first")
    admin = rf"TCP:{peer.address}\private$\mqc-{sut.own}-first-{wanted:x}"
    peer.listen()
    connection = peer.open_raw()
    sent = connection.send(
        peer.message(
            {"DM": 1, "AdminQueue": admin},
            destination=rf"TCP:{sut.address}\{queue}",
            label="first",
            properties={"PR": 1, "NR": 1},
        )
    )
    if not peer.await_label("first", queue):
        raise ConformanceFailure("the message is not in its queue")
    connection.end()
    peer.settle()
    remove(sut, queue)

    def is_acknowledgment(frame):
        return get_message_class(frame) == wanted and get_correlation_id(frame) == identifier(sent)

    came = peer.inbox.wait(is_acknowledgment)
    observed = bool(came)
    if not observed:
        _require_acknowledgment_after_message(peer, sut, f"DIRECT={admin}", is_acknowledgment)
    judge.all(
        expected=holds("the acknowledgment arrives", otherwise="the acknowledgment arrives only after a message"),
        observed=observed,
        evidence=[sent, *came],
    )
    peer.inbox.acknowledge()


def _require_acknowledgment_after_message(peer, sut, to, is_acknowledgment):
    """Let the SUT send a message to the administration queue, and check that the acknowledgment then arrives. Raise
    ConformanceFailure if it does not arrive, because the SUT then did not acknowledge the removal of the message.
    """
    if sut.has("send"):
        sut.send(to, body="after the acknowledgment", label="after the acknowledgment")
    if not peer.inbox.wait(is_acknowledgment):
        raise ConformanceFailure("the SUT does not acknowledge the removal of a message")


@needs("receive")
@covers("MQQB-3.1.7.12-06")
def test_session_is_established_for_final_ack_after_end_of_session(peer, sut, judge):
    """The peer sends two transactional messages with JN, and gets the FinalAck of the first message. Then the peer
    closes its session, and an application receives the second message: its FinalAck reaches the peer.
    """
    receiver = Receiver(peer, sut)
    sent = [receiver.send({"JN": 1}, label=f"final {number}") for number in (1, 2)]
    receiver.await_last_acknowledgment(2)
    receive_first_message(sut, sut.queue("transactional"))
    first = receiver.await_acknowledgment(final=True)
    peer.inbox.acknowledge()
    receiver.session.end()
    peer.settle()
    receive_first_message(sut, sut.queue("transactional"))
    second = receiver.poll_acknowledgment(final=True)
    judge.all(
        expected=acknowledgment_of_class(AckClass.RECEIVE),
        observed=second,
        case="class of the FinalAck of the second message",
        evidence=[*sent, first, second],
    )
    peer.inbox.acknowledge()


@needs("send")
@covers("MQQB-3.1.7.12-09")
@pytest.mark.parametrize("names", QUEUES_BY_CASE)
def test_packet_has_administration_and_response_queue_of_message(peer, sut, judge, names):
    """The SUT sends a message whose administration queue and response queue are the same queue, different queues, or
    the destination. The packet contains both queues.
    """
    admin, response = (peer.direct_name(name) for name in QUEUES_BY_CASE[names])
    sender = Sender(peer, sut)
    sender.send(1, acks=["positive_arrival"], admin_queue=admin, response_queue=response)
    session, sent = sender.await_first_messages(1)
    described = describe_packet(sent[0], peer.identifier)
    judge.all(
        expected=facts(admin_queue=normalize_format_name(admin), response_queue=normalize_format_name(response)),
        observed={name: normalize_format_name(described[name]) for name in ("admin_queue", "response_queue")},
        evidence=sent,
    )
    session.acknowledge_all()
