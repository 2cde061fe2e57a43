"""MS-MQQB 3.1.5.3.1 Request Packet: requests that arrive while the SUT waits for answers to its own request."""

from __future__ import annotations

import pytest

from harness.expectations import packet
from harness.peer.handshake import NULL_GUID, establish_request
from harness.run.marks import covers
from harness.wire import session_ack
from suites.mqqb.steps.outgoing_session import OutgoingSession


@covers("MQQB-3.1.5.3.1-D02")
@pytest.mark.parametrize("awaited", ["response", "parameters"])
def test_request_beside_own_request_is_answered(peer, sut, judge, awaited):
    """While the SUT waits for the response to its own request, or to its ConnectionParameters, the peer sends two
    requests, one without and one with the SUT's GUID, on connections of its own. The SUT answers both.
    """
    outgoing = OutgoingSession(peer, sut)
    outgoing.await_request()
    if awaited == "parameters":
        outgoing.respond()
    for case, guid in (("without GUID", NULL_GUID), ("with the GUID of the SUT", sut.guid)):
        connection = peer.connect()
        sent = connection.send(establish_request(peer, ServerGuid=guid))
        answer = connection.poll("EstablishConnection")
        judge.all(
            expected=packet("EstablishConnection", {"InternalHeader.CS": 0}),
            observed=answer or connection,
            case=f"response to the request {case}",
            evidence=[outgoing.request, sent, answer],
        )
    judge.conclude()
    if awaited == "response":
        outgoing.respond()
    outgoing.answer_connection_parameters()
    outgoing.connection.send(session_ack(AckSequenceNumber=1))
