"""MS-MQQB 3.1.5.4.1 Request Packet: handshakes of several connections at the same time, and unfinished packets."""

from __future__ import annotations

import pytest

from harness.expectations import packet
from harness.peer.handshake import build_parameters_request
from harness.run.marks import covers, needs
from suites.mqqb.steps import opening

CONNECTION_ORDERS = {"first": (0, 1, 2), "last": (2, 1, 0), "middle": (1, 2, 0)}
"""The order in which the connections of a check send ConnectionParameters, by the connection that begins."""


@covers("MQQB-3.1.5.4.1-05")
@pytest.mark.parametrize("begin", CONNECTION_ORDERS)
def test_connection_parameters_are_answered_in_any_order_of_connections(peer, judge, begin):
    """The peer requests three sessions, and then sends ConnectionParameters on the three connections in a given order.
    The SUT answers each request on its connection.
    """
    connections = [peer.request_session() for _ in range(3)]
    for at in CONNECTION_ORDERS[begin]:
        sent = connections[at].send(build_parameters_request())
        answer = connections[at].poll("ConnectionParameters")
        judge.all(
            expected=packet("ConnectionParameters"),
            observed=answer or connections[at],
            case=f"answer on connection {at + 1}",
            evidence=[sent, answer],
        )


@needs("timers")
@covers("MQQB-3.1.2.1-D01")
def test_unfinished_connection_parameters_do_not_stop_initialization_timer(peer, sut, judge):
    """The peer requests two sessions, sends the first bytes of a ConnectionParameters packet on one connection, and all
    bytes except the last on the other connection. The SUT closes each connection when its Session Initialization Timer
    expires.
    """
    lasts_ms = sut.get_timer_duration_ms("session_initialization_ms", opening.INITIALIZATION_TIMER_MS)
    data = bytes(build_parameters_request())
    connections = [peer.request_session() for _ in range(2)]
    for connection, part in zip(connections, (data[:1], data[:-1]), strict=True):
        connection.send(part)
    for case, connection in zip(("first bytes", "all bytes except the last"), connections, strict=True):
        answer = connection.received[0]
        observed = opening.describe_initialization_end(sut, connection, answer.time_ms, lasts_ms)
        judge.all(expected=opening.CLOSED_ON_TIME_EXPECTATION, observed=observed, case=case, evidence=answer)
