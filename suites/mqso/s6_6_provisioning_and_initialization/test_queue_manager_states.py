"""MS-MQSO 6.6.2 Queue Manager Initialization: a restart."""

from __future__ import annotations

from harness.expectations import holds
from harness.run.marks import covers, needs
from suites.mqso.steps.serving import SessionAttempt


@needs("restart", "receive")
@covers("MQSO-6.6.2-01", "MQSO-6.6.2-02", "MQSO-6.6.2-D06", "MQSO-6.6.2-D07")
def test_restarted_sut_accepts_session_and_message(peer, sut, judge):
    """After a restart the SUT accepts a session and stores a message."""
    sut.restart()
    attempt = SessionAttempt(peer)
    judge(
        "MQSO-6.6.2-D06",
        expected=SessionAttempt.SERVED,
        observed=attempt.outcome,
        evidence=attempt.evidence,
        case="session request of the peer",
    )
    second_session = peer.open_raw()
    packet = second_session.send(peer.recoverable_message(label="after"))
    arrived = peer.eventually(lambda: "after" in sut.labels(sut.queue()))
    judge(
        "MQSO-6.6.2-01",
        "MQSO-6.6.2-02",
        "MQSO-6.6.2-D07",
        expected=holds("running", otherwise="the SUT does not store messages"),
        observed=bool(arrived),
        evidence=[packet],
        case="queue manager",
    )
