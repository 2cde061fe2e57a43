"""MS-MQQB 3.1.5.3 Receiving an EstablishConnection Packet: only in the states that wait for one."""

from __future__ import annotations

from harness.expectations import closed
from harness.peer.handshake import parameters, request
from harness.peer.inbox import response
from harness.run.marks import covers, sut_survives
from suites.mqqb.steps.opening import accepted, agree, listen, respond


@sut_survives()
@covers("MQQB-3.1.5.3-01")
def test_a_second_request_closes_a_session_that_waits_for_parameters(peer, judge):
    """An acceptor in WAITING_CP_MSG closes on an EstablishConnection; on ConnectionParameters it goes on."""
    sut_survives = peer.request_session()
    sut_survives.send(parameters())
    sut_survives.expect("ConnectionParameters")
    connection = peer.request_session()
    sent = connection.send(request(peer))
    judge("MQQB-3.1.5.3-01", expected=closed(), observed=connection.until_closed(), evidence=[sent, connection.last])


@sut_survives()
@covers("MQQB-3.1.5.3-01")
def test_a_request_closes_an_accepted_session_that_is_open(peer, judge):
    """An acceptor in OPEN, which just acknowledged a message, closes on an EstablishConnection."""
    connection = peer.open_raw()
    connection.check_alive()
    sent = connection.send(request(peer))
    judge("MQQB-3.1.5.3-01", expected=closed(), observed=connection.until_closed(), evidence=[sent, connection.last])


@sut_survives()
@covers("MQQB-3.1.5.3-01")
def test_a_second_response_closes_an_initiated_session(peer, sut, judge):
    """An initiator closes on an EstablishConnection in WAITING_CPR_MSG and in OPEN; on the right packets it goes on."""
    listener = listen(peer, sut)
    for last_step in ("WAITING_CPR_MSG", "OPEN"):
        connection, asked = accepted(listener)
        wanted = respond(connection, asked)
        if last_step == "OPEN":
            agree(connection, wanted)
        sent = connection.send(response(peer, asked))
        observed, evidence = connection.until_closed(), [sent, connection.last]
        judge("MQQB-3.1.5.3-01", expected=closed(), observed=observed, case=last_step, evidence=evidence)
