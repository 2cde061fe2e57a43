"""MS-MQQB 3.1.5.2.2 Ping Mechanism: the ConnectionHistory of a failed ping."""

from __future__ import annotations

from harness.expectations import holds
from harness.run.marks import covers, needs
from suites.mqqb.steps.opening import (
    RETRY_INTERVAL_MS,
    expect_recent_connection_history_entry,
    get_last_connection_history_entry,
    list_connection_history,
)
from suites.mqqb.steps.outgoing_session import OutgoingSession
from suites.mqqb.steps.pinging import PingingSut
from suites.mqqb.steps.provoking import make_sut_send_message

UNREACHABLE_QUEUE_NAME = "DIRECT=TCP:192.0.2.7\\private$\\mqc-peer"
"""A queue at an address that is reserved for documentation (RFC 5737)."""


@needs("ping_initiator", "management")
@covers("MQQB-3.1.5.2.2-06", "MQQB-3.1.5.2.2-07")
def test_refused_ping_adds_ping_failure_to_connection_history(peer, sut, judge):
    """The peer answers a Ping Request with RF 1, accepts a session, and answers the Ping Request for the next session
    with RF 1. After each Ping Response with RF 1, ConnectionHistory has one more entry, with PingFailure, the time, an
    error and the peer's address.
    """
    if sut.has("send"):  # the queue of the peer is then not the only outgoing queue
        sut.send(UNREACHABLE_QUEUE_NAME, time_to_reach_queue_s=60)
    pinging_sut = PingingSut(peer, sut)
    for tag in (2, 0):
        asked = pinging_sut.await_ping()
        known = list_connection_history(sut, pinging_sut.name)
        answer = pinging_sut.answer_ping(asked, RF=1)
        peer.settle()
        entries = list_connection_history(sut, pinging_sut.name)
        evidence = [asked, answer]
        judge(
            "MQQB-3.1.5.2.2-06",
            expected=holds("ConnectionHistory has one more entry, after the earlier ones"),
            observed=(len(entries) == len(known) + 1 and entries[:-1] == known) or str(entries),
            evidence=evidence,
        )
        expected = expect_recent_connection_history_entry(peer, "PingFailure", failed=True)
        judge(
            "MQQB-3.1.5.2.2-07",
            expected=expected,
            observed=get_last_connection_history_entry(entries),
            evidence=evidence,
        )
        if not tag:
            return
        session = OutgoingSession(peer, sut, listener=pinging_sut.listener)
        retry_ms = sut.duration_ms(RETRY_INTERVAL_MS) + sut.slack_ms(RETRY_INTERVAL_MS)
        if session.poll_request(sut.response_timeout_ms + retry_ms) is None:
            return
        session.respond()
        session.answer_connection_parameters()
        session.connection.acknowledge_all()
        peer.settle()
        session.connection.close()
        peer.settle()
        make_sut_send_message(peer, sut, pinging_sut.name, tag=tag)
