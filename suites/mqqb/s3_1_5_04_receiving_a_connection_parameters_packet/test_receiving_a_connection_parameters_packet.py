"""MS-MQQB 3.1.5.4 Receiving a ConnectionParameters Packet: only in the states that wait for one."""

from __future__ import annotations

from harness.expectations import closed, closed_unanswered
from harness.peer.handshake import parameters
from harness.run.marks import covers, sut_survives
from suites.mqqb.steps.opening import accepted, agree, listen, respond


@sut_survives()
@covers("MQQB-3.1.5.4-01")
def test_parameters_before_a_request_close_an_accepted_session(peer, judge):
    """An acceptor in WAITING_EC_MSG closes on ConnectionParameters; after an EstablishConnection they are welcome."""
    peer.open_raw()
    connection = peer.connect()
    sent = connection.send(parameters())
    observed = connection.until_closed()
    judge("MQQB-3.1.5.4-01", expected=closed_unanswered(0), observed=observed, evidence=[sent, connection.last])


@sut_survives()
@covers("MQQB-3.1.5.4-01")
def test_parameters_close_an_accepted_session_that_is_open(peer, judge):
    """An acceptor in OPEN, which just acknowledged a message, closes on ConnectionParameters."""
    connection = peer.open_raw()
    connection.check_alive()
    sent = connection.send(parameters())
    judge("MQQB-3.1.5.4-01", expected=closed(), observed=connection.until_closed(), evidence=[sent, connection.last])


@sut_survives()
@covers("MQQB-3.1.5.4-01")
def test_parameters_out_of_turn_close_an_initiated_session(peer, sut, judge):
    """An initiator closes on ConnectionParameters in WAITING_ECR_MSG and in OPEN; in turn it takes them."""
    listener = listen(peer, sut)
    for last_step in ("WAITING_ECR_MSG", "OPEN"):
        connection, asked = accepted(listener)
        if last_step == "OPEN":
            agree(connection, respond(connection, asked))
        sent = connection.send(parameters())
        observed, evidence = connection.until_closed(), [sent, connection.last]
        judge("MQQB-3.1.5.4-01", expected=closed(), observed=observed, case=last_step, evidence=evidence)
