"""MS-MQQB 3.1.7.7 Receive Ping Request."""

from __future__ import annotations

from uuid import UUID

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import fields, holds
from harness.run.marks import covers, needs
from harness.wire import ping_request
from suites.mqqb.steps.pinging import (
    PING_SIGNATURE,
    PingExchange,
    await_ping_response,
    fetch_server_guid,
    ping_sut,
    request_session_with_client_guid,
    require_ping_answer,
)


@needs("ping")
@covers("MQQB-3.1.7.7-02", "MQQB-3.1.7.7-07", "MQQB-3.1.7.7-11")
def test_ping_requests_are_answered_at_their_own_ports(peer, sut, judge):
    """The peer sends three different Ping Requests from three ports, two of them with the same Cookie. Each of these
    ports receives one Ping Response, with the Cookie and RC of its request; other ports receive no response.
    """
    asked = ((0x1111_1111, 0), (0x2222_2222, 1), (0x2222_2222, 0))
    ends = {request: peer.open_ping_port() for request in asked}
    elsewhere = peer.open_ping_port(port=sut.file.driver.peer_ping_port)
    sent = {
        (cookie, RC): ends[cookie, RC].send(ping_request(QMGuid=peer.identifier, Cookie=cookie, RC=RC))
        for cookie, RC in asked
    }
    exchanges = {
        request: PingExchange(sent[request], await_ping_response(end, sent[request])) for request, end in ends.items()
    }
    stray = [one for one in (*(end.poll(sut.quiet_ms // 2) for end in ends.values()), elsewhere.poll(0)) if one]
    evidence = [*(frame for exchange in exchanges.values() for frame in exchange), *stray]
    judge(
        "MQQB-3.1.7.7-02",
        expected=[fields(Cookie=cookie, RC=RC) for cookie, RC in asked],
        observed=[exchange.fields("Cookie", "RC") for exchange in exchanges.values()],
        case="Ping Responses",
        evidence=evidence,
    )
    judge(
        "MQQB-3.1.7.7-07",
        expected=[fields(RC=RC) for _, RC in asked],
        observed=[exchange.fields("RC") for exchange in exchanges.values()],
        case="Ping Responses",
        evidence=evidence,
    )
    judge.conclude("MQQB-3.1.7.7-02", "MQQB-3.1.7.7-07")
    right = sum(exchange.is_answered for exchange in exchanges.values())
    where = {
        "number of responses at the port of their request": right,
        "number of responses at other ports": len(stray),
    }
    expected = fields(
        {"number of responses at the port of their request": len(asked), "number of responses at other ports": 0}
    )
    judge("MQQB-3.1.7.7-11", expected=expected, observed=where, evidence=evidence)


@needs("ping")
@covers("MQQB-2.2.7-04", "MQQB-3.1.7.7-01", "MQQB-3.1.7.7-04", "MQQB-3.1.7.7-09")
def test_ping_response_has_guid_and_rf_of_acceptor(peer, judge):
    """The peer sends Ping Requests from different ports, all with RF set, some with RC clear and some with RC set, and
    one with a zero QMGuid. The last Ping Request arrives while a session is open. The Ping Responses have the QMGuid of
    the SUT's sessions, and RF clear.
    """
    guid = fetch_server_guid(peer)
    exchanges = [ping_sut(peer, RF=1, RC=RC) for RC in (0, 1)] + [ping_sut(peer, RF=1, QMGuid=UUID(int=0))]
    peer.open_raw()
    exchanges.append(ping_sut(peer, RF=1))
    for exchange in exchanges:
        judge(
            "MQQB-3.1.7.7-01",
            expected=holds("the SUT answered the Ping Request", otherwise="the SUT did not answer"),
            observed=exchange.is_answered,
            evidence=[*exchange],
        )
    for exchange in exchanges:
        judge("MQQB-3.1.7.7-09", expected=fields(QMGuid=guid), observed=exchange.fields("QMGuid"), evidence=[*exchange])
    judge.conclude("MQQB-3.1.7.7-01", "MQQB-3.1.7.7-09")
    plain = require_ping_answer(peer).ping
    if plain is None or plain.RF or request_session_with_client_guid(peer, peer.identifier)[0] != "accepted":
        raise ConformanceFailure("the SUT accepts no sessions now, so RF of its Ping Response cannot be judged")
    for exchange in exchanges:
        seen = exchange.fields("RF")
        judge("MQQB-2.2.7-04", "MQQB-3.1.7.7-04", expected=fields(RF=0), observed=seen, evidence=[*exchange])


PING_COOKIES = (0x0000_0000, 0x0000_0001, 0x8765_4321, 0xFFFF_FFFF)


@needs("ping")
@covers(
    "MQQB-2.2.7-03",
    "MQQB-2.2.7-20",
    "MQQB-2.2.7-22",
    "MQQB-3.1.7.7-01",
    "MQQB-3.1.7.7-07",
    "MQQB-3.1.7.7-08",
    "MQQB-3.1.7.7-10",
)
@pytest.mark.parametrize("RC", [0, 1])
@pytest.mark.parametrize("cookie", PING_COOKIES)
def test_ping_response_repeats_rc_and_cookie_of_request(peer, judge, RC, cookie):
    """The peer sends a Ping Request with RC 0 or 1 and several Cookies: the Ping Response repeats both values, and has
    Signature 0x5548. An earlier Ping Request from the same port has other values.
    """
    end = peer.open_ping_port()
    ping_sut(peer, end=end, RC=1 - RC, Cookie=cookie ^ 0x5A5A)
    exchange = ping_sut(peer, end=end, RC=RC, Cookie=cookie)
    judge(
        "MQQB-3.1.7.7-01",
        expected=holds("the SUT answered the Ping Request", otherwise="the SUT did not answer"),
        observed=exchange.is_answered,
        evidence=[*exchange],
    )
    if not exchange.is_answered:
        raise ConformanceFailure("no datagram answered the request")
    for rule, name, value in (
        ("MQQB-2.2.7-03", "RC", RC),
        ("MQQB-3.1.7.7-07", "RC", RC),
        ("MQQB-2.2.7-22", "Cookie", cookie),
        ("MQQB-3.1.7.7-08", "Cookie", cookie),
        ("MQQB-2.2.7-20", "Signature", PING_SIGNATURE),
        ("MQQB-3.1.7.7-10", "Signature", PING_SIGNATURE),
    ):
        judge(rule, expected=fields({name: value}), observed=exchange.fields(name), evidence=[*exchange])
