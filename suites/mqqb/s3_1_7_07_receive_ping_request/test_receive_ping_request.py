"""MS-MQQB 3.1.7.7 Receive Ping Request."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import fields, holds
from harness.run.marks import covers, needs
from harness.wire import ping_request
from suites.mqqb.steps.pinging import (
    SIGNATURE,
    answered,
    answers,
    ask,
    read,
    response,
    seen,
    server_guid,
    session_outcome,
)


@needs("ping")
@covers("MQQB-3.1.7.7-02", "MQQB-3.1.7.7-11")
def test_two_requests_get_each_its_response_where_it_came_from(peer, sut, judge):
    """Two different requests, sent at once from two ports, are answered there, each with its own Cookie and RC."""
    asked = {0x1111_1111: 0, 0x2222_2222: 1}
    ends = {cookie: peer.udp() for cookie in asked}
    elsewhere = peer.udp(port=sut.file.driver.peer_ping_port)
    sent = {
        cookie: ends[cookie].send(ping_request(QMGuid=peer.identifier, Cookie=cookie, RC=RC))
        for cookie, RC in asked.items()
    }
    got = {cookie: response(end, sent[cookie]) for cookie, end in ends.items()}
    stray = [one for one in (*(end.poll(sut.quiet_ms // 2) for end in ends.values()), elsewhere.poll(0)) if one]
    evidence = [*sent.values(), *got.values(), *stray]
    judge(
        "MQQB-3.1.7.7-02",
        expected=[fields(Cookie=cookie, RC=RC) for cookie, RC in asked.items()],
        observed=[seen(frame, "Cookie", "RC") for frame in got.values()],
        evidence=evidence,
    )
    judge.conclude("MQQB-3.1.7.7-02")
    right = sum(answers(got[cookie], sent[cookie]) for cookie in asked)
    where = {"where it came from": right, "elsewhere": len(stray)}
    expected = fields({"where it came from": 2, "elsewhere": 0})
    judge("MQQB-3.1.7.7-11", expected=expected, observed=where, evidence=evidence)


@needs("ping")
@covers("MQQB-3.1.7.7-04", "MQQB-3.1.7.7-09")
def test_response_is_the_acceptors_own(peer, judge):
    """QMGuid of the response is the acceptor's as sessions show it, and a request with RF set does not get RF back."""
    guid = server_guid(peer)
    sent, got = ask(peer, RF=1)
    judge("MQQB-3.1.7.7-09", expected=fields(QMGuid=guid), observed=seen(got, "QMGuid"), evidence=[sent, got])
    judge.conclude("MQQB-3.1.7.7-09")
    plain = read(answered(peer))
    if plain is None or plain.RF or session_outcome(peer, peer.identifier)[0] != "accepted":
        raise ConformanceFailure("the SUT does not accept sessions now: its RF says nothing here")
    judge("MQQB-3.1.7.7-04", expected=fields(RF=0), observed=seen(got, "RF"), evidence=[sent, got])


COOKIES = (0x0000_0000, 0x0000_0001, 0x8765_4321, 0xFFFF_FFFF)


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
@pytest.mark.parametrize("cookie", COOKIES)
def test_response_repeats_type_and_cookie_of_the_request(peer, judge, RC, cookie):
    """A Ping Request is answered with its own RC and Cookie, and with the signature of pings."""
    sent, got = ask(peer, RC=RC, Cookie=cookie)
    evidence = [sent, got]
    judge(
        "MQQB-3.1.7.7-01",
        expected=holds("an answer", otherwise="no answer"),
        observed=bool(answers(got, sent)),
        evidence=evidence,
    )
    if not answers(got, sent):
        raise ConformanceFailure("what came, if anything, answers nothing")
    for rule, name, value in (
        ("MQQB-2.2.7-03", "RC", RC),
        ("MQQB-3.1.7.7-07", "RC", RC),
        ("MQQB-2.2.7-22", "Cookie", cookie),
        ("MQQB-3.1.7.7-08", "Cookie", cookie),
        ("MQQB-2.2.7-20", "Signature", SIGNATURE),
        ("MQQB-3.1.7.7-10", "Signature", SIGNATURE),
    ):
        judge(rule, expected=fields({name: value}), observed=seen(got, name), evidence=evidence)
