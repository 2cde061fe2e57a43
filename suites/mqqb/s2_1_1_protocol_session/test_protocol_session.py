"""MS-MQQB 2.1.1 Protocol Session."""

from __future__ import annotations

from contextlib import suppress

from harness.errors import SutUnavailable
from harness.expectations import facts, packet
from harness.peer.handshake import establish_request
from harness.run.marks import covers, varied
from suites.mqqb.steps.exchanges import exchange_message
from suites.mqqb.steps.opening import RETRY_INTERVAL_MS
from suites.mqqb.steps.ordering import Receiver
from suites.mqqb.steps.outgoing_session import OutgoingSession

BASE_HEADER_SIZE = 16


@covers("MQQB-2.1.1-01")
def test_answers_of_an_acceptor_begin_with_a_base_header(peer, judge):
    """The peer opens a session and sends one message. Each of the SUT's three answers begins with a BaseHeader that
    contains a Signature.

    The recorder divides the bytes of a connection into packets by PacketSize.
    """
    exchange = exchange_message(peer)
    answers = exchange.connection.received
    with_header = [frame for frame in answers if frame.data[4:8] == b"LIOR" and len(frame.data) >= BASE_HEADER_SIZE]
    judge(
        "MQQB-2.1.1-01",
        expected=facts(exchange=exchange.ALL_ANSWERED_EXPECTATION, number_of_packets=3, number_of_BaseHeaders=3),
        observed={
            "exchange": exchange.outcome,
            "number_of_packets": len(answers),
            "number_of_BaseHeaders": len(with_header),
        },
        evidence=answers,
    )


@covers("MQQB-2.1.1-02")
def test_initiator_with_a_message_connects_to_the_tcp_port(peer, sut, judge):
    """The SUT has a message for the peer. It connects to the peer's TCP port and requests a session there. After the
    peer has closed the connection, the SUT connects to this port and requests a session a second time.
    """
    listener = OutgoingSession(peer, sut).listener
    retry_ms = sut.duration_ms(RETRY_INTERVAL_MS) + sut.slack_ms(RETRY_INTERVAL_MS)
    for _ in range(2):
        connection = listener.accept(sut.response_timeout_ms + retry_ms)
        request = connection.poll("EstablishConnection") if connection is not None else None
        judge(
            "MQQB-2.1.1-02",
            expected=packet("EstablishConnection"),
            observed=request or connection,
            case="first packet of the SUT",
            evidence=[request],
        )
        if connection is not None:
            connection.close()


@covers("MQQB-2.1.1-03")
def test_request_on_the_tcp_port_is_answered(peer, judge):
    """The SUT accepts four connections to its TCP port, and answers an EstablishConnection request on each."""
    for _ in range(4):
        _judge_that_request_on_connection_is_answered(peer, judge)


@covers("MQQB-2.1.1-03")
def test_request_beside_session_of_the_sut_is_answered(peer, sut, judge):
    """While a session that the SUT initiated to the peer is open, the SUT accepts a connection of the peer to its TCP
    port, and answers an EstablishConnection request on it.
    """
    initiated = OutgoingSession(peer, sut)
    initiated.open()
    _judge_that_request_on_connection_is_answered(peer, judge)
    initiated.connection.acknowledge_all()


def _judge_that_request_on_connection_is_answered(peer, judge):
    """Connect to the TCP port of the SUT; judge that the SUT answers a request on the connection."""
    connection = reply = None
    with suppress(SutUnavailable):
        connection = peer.connect()
        connection.send(establish_request(peer))
        reply = connection.poll("EstablishConnection")
    judge(
        "MQQB-2.1.1-03",
        expected=packet("EstablishConnection"),
        observed=reply or connection,
        case="answer of the SUT",
        evidence=[reply],
    )


@covers("MQQB-2.1.1-D01")
@varied("negative journaling", "response queue", priority=("3", "0"))
def test_message_on_a_session_of_either_side_is_acknowledged(peer, sut, judge):
    """The SUT acknowledges a message from the peer on a session that the SUT opened, and on each of two sessions that
    the peer opened. Each message arrives in its destination queue.
    """
    initiated = OutgoingSession(peer, sut)  # first: a SUT may send on a session that is open already (E16)
    message = initiated.open()
    known = len(sut.messages("plain")) if sut.has("receive") else 0
    sessions = [initiated.connection, peer.open_raw(), peer.open_raw()]
    answers = [session.request_acknowledgment() for session in sessions]
    names = ("initiated_session", "accepted_session", "second_accepted_session")
    evidence = [message, *(session.sent[-1] for session in sessions), *answers]
    judge(
        "MQQB-2.1.1-D01",
        expected=facts(**{f"answer_on_the_{name}": packet("SessionAck") for name in names}),
        observed={f"answer_on_the_{name}": answer for name, answer in zip(names, answers, strict=True)},
        evidence=evidence,
    )
    if sut.has("receive"):
        judge(
            "MQQB-2.1.1-D01",
            expected=len(sessions),
            observed=len(sut.messages("plain")) - known,
            case="number of these messages in the queue",
            evidence=evidence,
        )


@covers("MQQB-2.1.1-D01")
@varied("time to be received", "body", "destination", "queue privacy")
def test_transactional_messages_cause_order_ack_and_final_ack(peer, sut, judge):
    """The SUT sends an OrderAck for a transactional message that it accepts, and a FinalAck for a transactional message
    to a queue that is not transactional.
    """
    receiver = Receiver(peer, sut)
    sent = [receiver.send(), receiver.send(queue="plain")]
    final, ordered = receiver.poll_acknowledgment(final=True), receiver.poll_acknowledgment()
    expected = facts(OrderAck=packet(), FinalAck=packet())
    observed = {"OrderAck": ordered, "FinalAck": final}
    judge("MQQB-2.1.1-D01", expected=expected, observed=observed, evidence=[*sent, ordered, final])
