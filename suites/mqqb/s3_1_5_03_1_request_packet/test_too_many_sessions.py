"""MS-MQQB 3.1.5.3.1 Request Packet, 2.2.1: what becomes of a session beyond those that the SUT allows."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.expectations import closed, packet
from harness.peer.handshake import request
from harness.run.marks import covers, sut_survives
from reference_qm.surface.entropy import new_guid

MORE_THAN_A_CLIENT_TAKES = 12
"""Sessions of different initiators; Windows client releases accept ten (notes <12>, <70>)."""
LIMIT = "max_sessions"
FEW = 2
CS = 0x10


def _beyond_the_limit(peer):
    """Open sessions of different initiators until one is refused or closed; return it and its request, or None."""
    for _ in range(MORE_THAN_A_CLIENT_TAKES):
        connection = peer.connect()
        sent = connection.send(request(peer, ClientGuid=new_guid(peer.entropy), SE=1))
        answer = connection.poll_packet(0)
        if answer is None or answer.data[18] & CS or connection.wait_closed(peer.sut.quiet_ms):
            return connection, sent
    return None


@sut_survives()
@covers("MQQB-2.2.1-06", "MQQB-3.1.5.3.1-D01")
def test_a_session_too_many_is_refused_and_closed(peer, sut, judge):
    """The first session that is not accepted gets a response with CS set, and its connection ends.

    A SUT that can be told how many it accepts is told; another may have a limit that is not met.
    """
    usual = sut.control.call("configure").get(LIMIT) if sut.has("configure") else None
    if usual is not None:
        sut.configure(max_sessions=FEW)
    refused = _beyond_the_limit(peer)
    if refused is None:
        judge.mark_not_exercised(
            "MQQB-2.2.1-06", "MQQB-3.1.5.3.1-D01", reason=f"{MORE_THAN_A_CLIENT_TAKES} sessions are accepted"
        )
        return
    connection, sent = refused
    answer = connection.received[0] if connection.received else None
    refusal = packet("EstablishConnection", {"InternalHeader.CS": 1})
    judge("MQQB-2.2.1-06", expected=refusal, observed=answer or connection, evidence=[sent, answer])
    judge("MQQB-3.1.5.3.1-D01", expected=closed(), observed=connection.until_closed(), evidence=[sent, answer])
    if usual is not None:
        sut.configure(max_sessions=usual)
        if not peer.eventually(lambda: peer.request_session().received[0]["InternalHeader"].CS == 0):
            raise ConformanceFailure("the SUT accepts no session any more")
