"""MS-MQQB 3.1.5.4.2 Response Packet: the Session Initialization Timer of the initiator is stopped."""

from __future__ import annotations

from harness.expectations import packet
from harness.run.marks import covers, needs
from harness.wire import session_ack
from suites.mqqb.steps.opening import INITIALIZATION_MS, agree, called, respond
from suites.mqqb.steps.provoking import let_send


@needs("set_timers")
@covers("MQQB-3.1.5.4.2-06")
def test_an_initiated_session_outlives_the_timer(peer, sut, judge):
    """A session that is open is alive when the timer would have expired: the next message comes on it."""
    sut.set_timers(session_initialization_ms=INITIALIZATION_MS)
    connection, asked = called(peer, sut)
    first = agree(connection, respond(connection, asked))
    connection.send(session_ack(AckSequenceNumber=1))  # else its wait for that may end it
    peer.pass_time(sut.duration_ms(INITIALIZATION_MS) + sut.slack_ms(INITIALIZATION_MS))
    there = not connection.closed_by_sut
    let_send(peer, sut, peer.direct_name(), tag=2)
    second = connection.poll("UserMessage") if there else None
    judge(
        "MQQB-3.1.5.4.2-06",
        expected=packet("UserMessage"),
        observed=second or connection,
        evidence=[first, second],
    )
