"""MS-MQQB 3.1.5.10 Handling an Incoming Transport Connection: a request that crosses a request of the SUT."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.expectations import packet
from harness.peer.handshake import establish_request
from harness.run.marks import covers
from suites.mqqb.steps.outgoing_session import OutgoingSession


@covers("MQQB-3.1.5.10-02")
def test_acceptor_answers_request_while_its_own_request_or_parameters_wait(peer, sut, judge):
    """The SUT sends the peer an EstablishConnection request, and then ConnectionParameters. Before the peer answers
    each of them, it sends an EstablishConnection request on a new connection. The SUT answers the peer's request.
    """
    session = OutgoingSession(peer, sut)
    session.await_request()
    states = {"EstablishConnection request": session.request}
    for waiting in ("EstablishConnection request", "ConnectionParameters"):
        if waiting not in states:
            states[waiting] = session.respond()
        connection = peer.connect()
        sent = connection.send(establish_request(peer))
        came = connection.poll("EstablishConnection")
        if session.connection.closed_by_sut:
            raise ConformanceFailure(f"the SUT closed its own connection while its {waiting} awaited an answer")
        judge(
            "MQQB-3.1.5.10-02",
            expected=packet("EstablishConnection"),
            observed=came or connection,
            case=f"request while the SUT's {waiting} awaits its response",
            evidence=[states[waiting], sent, came],
        )
        connection.close()
    session.answer_connection_parameters()
    session.connection.acknowledge_all()
