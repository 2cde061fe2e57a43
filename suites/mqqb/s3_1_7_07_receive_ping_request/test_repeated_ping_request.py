"""MS-MQQB 3.1.7.7 Receive Ping Request: a repeated request."""

from __future__ import annotations

from harness.expectations import holds
from harness.run.marks import covers, needs
from harness.wire import ping_request
from suites.mqqb.steps.pinging import PingExchange


@needs("ping")
@covers("MQQB-3.1.7.7-01")
def test_repeated_ping_request_is_answered_again(peer, judge):
    """The peer sends the same Ping Request four times from one port: at least two responses arrive (the network may
    lose some).
    """
    end = peer.udp()
    packet = ping_request(QMGuid=peer.identifier, Cookie=0x1234)
    exchanges = [PingExchange.on(end, packet) for _ in range(4)]
    came = sum(exchange.is_answered for exchange in exchanges)
    judge(
        "MQQB-3.1.7.7-01",
        expected=holds("the SUT sends 2 or more Ping Responses", otherwise=f"{came} answers"),
        observed=came >= 2,
        evidence=[frame for exchange in exchanges for frame in exchange],
    )
