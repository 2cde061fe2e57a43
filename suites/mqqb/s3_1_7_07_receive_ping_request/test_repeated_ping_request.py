"""MS-MQQB 3.1.7.7 Receive Ping Request: a Ping Request that the peer repeats."""

from __future__ import annotations

from uuid import UUID

from harness.expectations import fields, holds
from harness.run.marks import covers, needs
from harness.wire import ping_request
from suites.mqqb.steps.pinging import PING_SIGNATURE, PingExchange


@needs("ping")
@covers("MQQB-3.1.7.7-01", "MQQB-3.1.7.7-10")
def test_repeated_ping_request_is_answered_again(peer, judge):
    """The peer sends the same Ping Request four times from one port without a session, four times while a session is
    open, and four times with QMGuid zero and without a session. Each time, at least two responses arrive (the network
    may lose some), and each response has Signature 0x5548.
    """
    end = peer.open_ping_port()
    for when, guid in (
        ("without a session", peer.identifier),
        ("with QMGuid zero", UUID(int=0)),
        ("during a session", peer.identifier),
    ):
        packet = ping_request(QMGuid=guid, Cookie=0x1234)
        if when == "during a session":
            peer.open_raw()
        exchanges = [PingExchange.exchange_from_port(end, packet) for _ in range(4)]
        came = sum(exchange.is_answered for exchange in exchanges)
        judge(
            "MQQB-3.1.7.7-01",
            expected=holds("2 or more responses arrive", otherwise=f"{came} answers"),
            observed=came >= 2,
            case=when,
            evidence=[frame for exchange in exchanges for frame in exchange],
        )
        for exchange in exchanges:
            if exchange.ping is not None:
                judge(
                    "MQQB-3.1.7.7-10",
                    expected=fields({"Signature": PING_SIGNATURE}),
                    observed=exchange.fields("Signature"),
                    case=when,
                    evidence=[*exchange],
                )
