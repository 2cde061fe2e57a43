"""MS-MQQB 3.1.6.1 Session Retry Connect Timer Event: many attempts that open no session."""

from __future__ import annotations

from harness.expectations import holds
from harness.run.marks import covers
from suites.mqqb.steps.opening import RETRY_INTERVAL_MS
from suites.mqqb.steps.outgoing_session import OutgoingSession

FAILED_ATTEMPT_COUNT = 6


@covers("MQQB-3.1.6.1-01")
def test_initiator_connects_again_after_many_failed_attempts(peer, sut, judge):
    """The SUT has a message for the peer. Six times in succession, the peer closes the connection at the SUT's
    EstablishConnection request. Each time, the SUT connects again.
    """
    session = OutgoingSession(peer, sut)
    session.await_request()
    requests = [session.request]
    for number in range(1, FAILED_ATTEMPT_COUNT + 1):
        session.connection.close()
        wait_ms = RETRY_INTERVAL_MS * 2 ** (number - 1)  # the time may grow with each failed attempt (3.1.2.3)
        came = session.poll_request(sut.response_timeout_ms + sut.duration_ms(wait_ms) + sut.slack_ms(wait_ms))
        judge(
            "MQQB-3.1.6.1-01",
            expected=holds("the SUT connects again", otherwise="the SUT does not connect again"),
            observed=came is not None,
            case=f"failed attempt {number}",
            evidence=[requests[-1], came],
        )
        if came is None:
            return
        requests.append(came)
    session.respond()
    session.answer_connection_parameters()
    session.connection.acknowledge_all()
