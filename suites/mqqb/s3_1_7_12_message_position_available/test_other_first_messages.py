"""MS-MQQB 3.1.7.12 Message Position Available Event: first messages that the queue manager creates, and packets of
messages with several queues of the same name.
"""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import facts, holds
from harness.run.marks import covers, needs
from suites.mqqb.steps.disposition import (
    AckClass,
    get_correlation_id,
    get_message_class,
    identifier,
    receive_first_message,
)
from suites.mqqb.steps.ordering import Receiver, is_order_or_final_ack
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
@pytest.mark.parametrize("removal", ["receive", "purge"])
def test_session_is_established_for_acknowledgment_as_first_message(peer, sut, judge, removal):
    """The peer sends a message to a queue of the SUT and closes its session. An application removes the message from
    the queue: the acknowledgment, which is the first message to its administration queue, reaches the peer.
    """
    queue = sut.new_queue("first")
    admin = rf"TCP:{peer.address}\private$\mqc-{sut.own}-first-{removal}"
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
    sut.control.call(removal, queue=queue, **({"timeout_ms": 0} if removal == "receive" else {}))
    wanted = AckClass.RECEIVE if removal == "receive" else AckClass.Q_PURGED
    came = peer.inbox.wait(
        lambda frame: get_message_class(frame) == wanted and get_correlation_id(frame) == identifier(sent)
    )
    judge.all(
        expected=holds("the acknowledgment arrives", otherwise="the acknowledgment does not arrive"),
        observed=bool(came),
        evidence=[sent, *came],
    )
    peer.inbox.acknowledge()


@needs("receive")
@covers("MQQB-3.1.7.12-06")
def test_session_is_established_for_final_ack_after_end_of_session(peer, sut, judge):
    """The peer sends a transactional message with JN, gets its OrderAck, and closes its session. An application
    receives the message: the FinalAck reaches the peer.
    """
    receiver = Receiver(peer, sut)
    sent = receiver.send({"JN": 1}, label="final")
    receiver.await_last_acknowledgment(1)
    receiver.session.end()
    peer.settle()
    receive_first_message(sut, sut.queue("transactional"))
    came = peer.inbox.wait(lambda frame: get_message_class(frame) == AckClass.RECEIVE and is_order_or_final_ack(frame))
    judge.all(
        expected=holds("the FinalAck arrives", otherwise="the FinalAck does not arrive"),
        observed=bool(came),
        evidence=[sent, *came],
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
