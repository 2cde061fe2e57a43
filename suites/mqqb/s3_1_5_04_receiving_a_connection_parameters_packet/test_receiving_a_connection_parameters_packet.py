"""MS-MQQB 3.1.5.4 Receiving a ConnectionParameters Packet: a queue manager accepts the packet only in states that
expect it.
"""

from __future__ import annotations

from harness.expectations import closed_without_answer, connection_closed_by_sut
from harness.peer.handshake import build_parameters_request
from harness.run.marks import covers, sut_survives
from suites.mqqb.steps.outgoing_session import OutgoingSession


@sut_survives()
@covers("MQQB-3.1.5.4-01")
def test_connection_parameters_before_a_request_close_connection(peer, judge):
    """The peer sends ConnectionParameters as the first packet of a connection. The SUT closes the connection without an
    answer.
    """
    peer.open_raw()
    connection = peer.connect()
    sent = connection.send(build_parameters_request())
    observed = connection.await_close()
    judge("MQQB-3.1.5.4-01", expected=closed_without_answer(0), observed=observed, evidence=[sent, connection.last])


@sut_survives()
@covers("MQQB-3.1.5.4-01")
def test_connection_parameters_close_open_session(peer, judge):
    """The SUT has just acknowledged a message on an open session. The peer sends ConnectionParameters on this session,
    and the SUT closes it.
    """
    connection = peer.open_raw()
    connection.require_session_ack_for_message()
    sent = connection.send(build_parameters_request())
    judge(
        "MQQB-3.1.5.4-01",
        expected=connection_closed_by_sut(),
        observed=connection.await_close(),
        evidence=[sent, connection.last],
    )


@sut_survives()
@covers("MQQB-3.1.5.4-01")
def test_connection_parameters_out_of_turn_close_session_of_the_sut(peer, sut, judge):
    """The peer sends ConnectionParameters on a session of the SUT, in state WAITING_ECR_MSG or OPEN. The SUT closes the
    session.
    """
    session = OutgoingSession(peer, sut)
    for last_step in ("WAITING_ECR_MSG", "OPEN"):
        session.await_request()
        if last_step == "OPEN":
            session.respond()
            session.answer_connection_parameters()
        connection = session.connection
        sent = connection.send(build_parameters_request())
        observed, evidence = connection.await_close(), [sent, connection.last]
        judge(
            "MQQB-3.1.5.4-01", expected=connection_closed_by_sut(), observed=observed, case=last_step, evidence=evidence
        )
