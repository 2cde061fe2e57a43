"""MS-MQQB 3.1.5.4.2 Response Packet: a session that the response opened receives messages of every delivery mode."""

from __future__ import annotations

import pytest

from harness.expectations import packet
from harness.peer.handshake import UNUSUAL_WINDOW_SIZE
from harness.peer.inbox import parameters_response
from harness.run.marks import covers
from suites.messages import Sequence
from suites.mqqb.steps.ordering import ORDER_ACK_TIMEOUT_MS, is_order_or_final_ack
from suites.mqqb.steps.outgoing_session import OutgoingSession


@covers("MQQB-3.1.5.4.2-D01")
@pytest.mark.parametrize("window", [1, UNUSUAL_WINDOW_SIZE, 0xFFFF])
def test_initiated_session_receives_messages_of_every_delivery(peer, sut, judge, window):
    """The WindowSize of the peer's ConnectionParameters response is not that of the SUT. The SUT sends its message, and
    acknowledges an express, a recoverable and a transactional message of the peer.
    """
    session = OutgoingSession(peer, sut)
    session.await_request()
    parameters = session.respond()
    connection = session.connection
    agreed = connection.send(parameters_response(parameters, WindowSize=window))
    message = connection.poll("UserMessage")
    judge.all(
        expected=packet("UserMessage"),
        observed=message or connection,
        case=f"packet after a response with WindowSize {window}",
        evidence=[parameters, agreed, message],
    )
    if message is None:
        return
    connection.acknowledge_all()
    sent = [
        connection.send(one)
        for one in (peer.message({}), peer.recoverable_message(), Sequence(peer, ordinal=1).message())
    ]
    ack = connection.await_session_ack(len(sent))
    judge.all(
        expected=packet("SessionAck", {"SessionHeader.AckSequenceNumber": len(sent)}),
        observed=ack or connection,
        case="acknowledgment of three messages",
        evidence=[*sent, ack],
    )
    within_ms = sut.duration_ms(ORDER_ACK_TIMEOUT_MS) + sut.slack_ms(ORDER_ACK_TIMEOUT_MS)
    if connection.closed_by_sut or connection.poll("UserMessage", is_order_or_final_ack, within_ms=within_ms):
        connection.acknowledge_all()
        return
    other = OutgoingSession(peer, sut, listener=session.listener)
    if other.poll_request() is not None:
        other.respond()
        other.answer_connection_parameters()
        other.connection.acknowledge_all()
