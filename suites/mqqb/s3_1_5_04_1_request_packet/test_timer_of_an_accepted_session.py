"""MS-MQQB 3.1.5.4.1 Request Packet: the acceptor stops its Session Initialization Timer."""

from __future__ import annotations

from harness.expectations import packet
from harness.peer.handshake import build_parameters_request
from harness.run.marks import covers, needs
from suites.mqqb.steps.opening import INITIALIZATION_TIMER_MS

DELAY_OF_SLOW_ANSWER_MS = 2_000
"""A time in ms that is short compared with the Session Initialization Timer."""


@needs("timers")
@covers("MQQB-3.1.5.4.1-12", "MQQB-3.1.2.1-D01")
def test_open_session_survives_initialization_timer(peer, sut, judge):
    """The peer opens three sessions. It opens one of them slowly, and with the SUT's GUID as ServerGuid. The peer waits
    for longer than the Session Initialization Timer. The SUT still acknowledges a message on each session.
    """
    lasts_ms = sut.get_timer_duration_ms("session_initialization_ms", INITIALIZATION_TIMER_MS)
    slow = peer.request_session(ServerGuid=sut.guid)
    peer.pass_time(sut.duration_ms(DELAY_OF_SLOW_ANSWER_MS))
    slow.send(build_parameters_request())
    slow.expect("ConnectionParameters")
    connections = [peer.open_raw(), peer.open_raw(), slow]
    peer.pass_time(sut.duration_ms(lasts_ms) + sut.slack_ms(lasts_ms))
    for connection in connections:
        alive = None if connection.closed_by_sut else connection.request_acknowledgment()
        judge.all(
            expected=packet("SessionAck"),
            observed=alive or connection,
            case="answer to the message",
            evidence=[*connection.received[:2], alive],
        )
