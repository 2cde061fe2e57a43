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
def test_ping_response_to_the_source_port_lets_the_initiator_connect(peer, sut, judge):
    """The SUT sends a Ping Request to the peer's ping port; a response to the source port of the request makes the SUT
    request a session at once.
    """
    listening_port = peer.udp(port=sut.file.driver.peer_ping_port)
    listener = peer.listen_raw(ping=False)
    let_send(peer, sut, peer.direct_name())
    ping = listening_port.poll()
    judge("MQQB-2.1.2-D01", expected=packet("Ping"), observed=ping, case="datagram at the ping port", evidence=ping)
    judge.conclude("MQQB-2.1.2-D01")
    if ping is None:
        raise ConformanceFailure("the SUT sent no Ping Request before its session")
    source = listening_port.received[0][0]
    answer = listening_port.send(ping_response(Cookie=ping.packet.Cookie, RC=ping.packet.RC, RF=0), to=source)
    connection = listener.accept(within_ms=sut.duration_ms(1_000) // 2 + sut.slack_ms(1_000))
    request = connection.poll("EstablishConnection") if connection is not None else None
    judge(
        "MQQB-2.1.2-01",
        expected=packet("EstablishConnection"),
        observed=request,
        case="first packet on the connection",
        evidence=[ping, answer, request],
    )


@needs("ping")
@covers("MQQB-2.1.2-02")
@pytest.mark.parametrize("cookie", [1, 0xFFFFFFFF])
def test_ping_response_goes_to_the_port_of_the_request(peer, judge, cookie):
    """Of two UDP ports of the peer, only the port that sent a Ping Request receives the response, which has the same
    Cookie.
    """
    asking_port, other_port = peer.udp(), peer.udp()
    sent = asking_port.send(ping_request(Cookie=cookie, QMGuid=peer.identifier))
    reply = asking_port.poll()
    is_answer = reply is not None and reply.kind == "Ping" and reply.data != sent.data and reply.packet.Cookie == cookie
    observed = {"answer to the port that asked": is_answer, "other port quiet": other_port.quiet()}
    expected = fields({"answer to the port that asked": True, "other port quiet": True})
    judge("MQQB-2.1.2-02", expected=expected, observed=observed, evidence=[sent, reply])
