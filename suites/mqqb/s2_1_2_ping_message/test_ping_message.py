"""MS-MQQB 2.1.2 Ping Message."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import fields, packet
from harness.run.marks import covers, needs
from harness.wire import ping_request, ping_response
from suites.mqqb.steps.provoking import let_send


@needs("ping_initiator")
@covers("MQQB-2.1.2-01", "MQQB-2.1.2-D01")
def test_initiator_hears_the_response_on_its_source_port(peer, sut, judge):
    """A Ping Request comes to the ping port; a response to the port that it came from is taken.

    The session is requested at once then.
    """
    hearing = peer.udp(port=sut.file.driver.peer_ping_port)
    listener = peer.listen_raw(ping=False)
    let_send(peer, sut, peer.direct_name())
    ping = hearing.poll()
    judge("MQQB-2.1.2-D01", expected=packet("Ping"), observed=ping, evidence=ping)
    judge.conclude("MQQB-2.1.2-D01")
    if ping is None:
        raise ConformanceFailure("the SUT sent no Ping Request before its session")
    source = hearing.received[0][0]
    answer = hearing.send(ping_response(Cookie=ping.packet.Cookie, RC=ping.packet.RC, RF=0), to=source)
    soon = sut.duration_ms(1_000) // 2
    connection = listener.accept(within_ms=soon + sut.slack_ms(1_000))
    first = connection.poll("EstablishConnection") if connection is not None else None
    judge("MQQB-2.1.2-01", expected=packet("EstablishConnection"), observed=first, evidence=[ping, answer, first])


@needs("ping")
@covers("MQQB-2.1.2-02")
@pytest.mark.parametrize("cookie", [1, 0xFFFFFFFF])
def test_a_response_goes_to_where_the_request_came_from(peer, judge, cookie):
    """Of two ports of the peer, the one that sent the request gets the response, and the other none."""
    asking, idle = peer.udp(), peer.udp()
    sent = asking.send(ping_request(Cookie=cookie, QMGuid=peer.identifier))
    reply = asking.poll()
    answered = reply is not None and reply.kind == "Ping" and reply.data != sent.data and reply.packet.Cookie == cookie
    observed = {"answer to the port that asked": answered, "other port quiet": idle.quiet()}
    expected = fields({"answer to the port that asked": True, "other port quiet": True})
    judge("MQQB-2.1.2-02", expected=expected, observed=observed, evidence=[sent, reply])
