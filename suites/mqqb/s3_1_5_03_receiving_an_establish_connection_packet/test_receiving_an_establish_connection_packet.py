"""MS-MQQB 3.1.5.3 Receiving an EstablishConnection Packet: a queue manager accepts the packet only in states that
expect it.
"""

from __future__ import annotations

from harness.expectations import connection_closed_by_sut
from harness.peer.handshake import build_parameters_request, establish_request
from harness.peer.inbox import establish_response
from harness.run.marks import covers, sut_survives
from suites.mqqb.steps.outgoing_session import OutgoingSession


@sut_survives()
@covers("MQQB-3.1.5.3-01")
def test_second_establish_connection_request_closes_session(peer, judge):
    """The peer sends a second EstablishConnection request instead of ConnectionParameters. The SUT
    closes the session.
    """
    in_turn = peer.request_session()
    in_turn.send(build_parameters_request())
    in_turn.expect("ConnectionParameters")
    connection = peer.request_session()
    sent = connection.send(establish_request(peer))
    judge(
        "MQQB-3.1.5.3-01",
        expected=connection_closed_by_sut(),
        observed=connection.await_close(),
        evidence=[sent, connection.last],
    )


@sut_survives()
@covers("MQQB-3.1.5.3-01")
def test_establish_connection_request_closes_open_session(peer, judge):
    """The SUT has just acknowledged a message on an open session. The peer sends an EstablishConnection request on this
    session, and the SUT closes it.
    """
    connection = peer.open_raw()
    connection.require_session_ack_for_message()
    sent = connection.send(establish_request(peer))
    judge(
        "MQQB-3.1.5.3-01",
        expected=connection_closed_by_sut(),
        observed=connection.await_close(),
        evidence=[sent, connection.last],
    )


@sut_survives()
@covers("MQQB-3.1.5.3-01")
def test_second_establish_connection_response_closes_session(peer, sut, judge):
    """The peer sends a second EstablishConnection response on a session of the SUT, in state WAITING_CPR_MSG or OPEN.
    The SUT closes the session.
    """
    session = OutgoingSession(peer, sut)
    for last_step in ("WAITING_CPR_MSG", "OPEN"):
        asked = session.await_request()
        session.respond()
        if last_step == "OPEN":
            session.answer_connection_parameters()
        connection = session.connection
        sent = connection.send(establish_response(peer, asked))
        observed, evidence = connection.await_close(), [sent, connection.last]
        judge(
            "MQQB-3.1.5.3-01",
            expected=connection_closed_by_sut(),
            observed=observed,
            case=f"session in state {last_step}",
            evidence=evidence,
        )
