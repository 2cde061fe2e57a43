"""MS-MQQB 2.1.1 Protocol Session."""

from __future__ import annotations

from harness.errors import SutUnavailable
from harness.expectations import facts, holds, packet
from harness.peer.handshake import request
from harness.run.marks import covers
from suites.mqqb.steps.exchanges import ORDINARY, exchange
from suites.mqqb.steps.opening import agree, called, listen, respond
from suites.mqqb.steps.ordering import Receiver

BASE_HEADER_SIZE = 16


@covers("MQQB-2.1.1-01")
def test_every_packet_begins_with_a_base_header(peer, judge):
    """The answers of an acceptor in an exchange can be cut into packets by their BaseHeaders, nothing left over."""
    done = exchange(peer)
    answers = done.connection.received
    good = [frame for frame in answers if frame.data[4:8] == b"LIOR" and len(frame.data) >= BASE_HEADER_SIZE]
    judge(
        "MQQB-2.1.1-01",
        expected=facts(exchange=ORDINARY, headers=3, packets=3),
        observed={"exchange": done.outcome, "headers": len(good), "packets": len(answers)},
        evidence=answers,
    )


@covers("MQQB-2.1.1-02")
def test_initiator_connects_to_the_tcp_port(peer, sut, judge):
    """A SUT with a message to send connects to the acceptor's TCP port and begins a session there."""
    connection = listen(peer, sut).accept()
    first = connection.poll("EstablishConnection") if connection is not None else None
    observed = "no connection" if connection is None else bool(first) or "nothing is requested"
    judge("MQQB-2.1.1-02", expected=holds("a session is requested"), observed=observed, evidence=[first])


@covers("MQQB-2.1.1-03")
def test_acceptor_listens_on_the_tcp_port(peer, judge):
    """A connection to the acceptor's TCP port is taken, and a session request there is answered."""
    reply = None
    try:
        connection = peer.connect()
    except SutUnavailable as error:
        observed: bool | str = str(error)
    else:
        connection.send(request(peer))
        reply = connection.poll("EstablishConnection")
        observed = bool(reply) or f"not answered: {connection.outcome()}"
    judge("MQQB-2.1.1-03", expected=holds("answered"), observed=observed, evidence=[reply])


@covers("MQQB-2.1.1-D01")
def test_messages_go_both_ways_on_a_session(peer, sut, judge):
    """The peer's message is acknowledged on the session that the SUT's own came on, and on the one that it opened."""
    initiated, asked = called(peer, sut)  # first: it may send on a session that is open already (E16)
    message = agree(initiated, respond(initiated, asked))
    second = initiated.acknowledgment()
    accepted = peer.open_raw()
    first = accepted.acknowledgment()
    judge(
        "MQQB-2.1.1-D01",
        expected=facts(accepted=packet("SessionAck"), initiated=packet("SessionAck")),
        observed={"accepted": first, "initiated": second},
        evidence=[accepted.sent[-1], first, message, initiated.sent[-1], second],
    )


@covers("MQQB-2.1.1-D01")
def test_transactional_messages_have_order_and_final_acks(peer, sut, judge):
    """A transactional message that is taken has an OrderAck, and one that no queue takes a FinalAck."""
    receiver = Receiver(peer, sut)
    sent = [receiver.send(), receiver.send(queue="plain")]
    final, ordered = receiver.poll_acknowledgment(final=True), receiver.poll_acknowledgment()
    expected = facts(OrderAck=packet(), FinalAck=packet())
    observed = {"OrderAck": ordered, "FinalAck": final}
    judge("MQQB-2.1.1-D01", expected=expected, observed=observed, evidence=[*sent, ordered, final])
