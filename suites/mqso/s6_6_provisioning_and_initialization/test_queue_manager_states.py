"""MS-MQSO 6.6 Provisioning and Initialization Procedures."""

from __future__ import annotations

from harness.expectations import holds
from harness.run.marks import covers, needs
from suites.mqso.steps.serving import SessionAttempt


@needs("restart", "receive")
@covers("MQSO-6.6.2-01", "MQSO-6.6.2-02", "MQSO-6.6.2-D06", "MQSO-6.6.2-D07")
def test_sessions_are_served_after_a_restart(peer, sut, judge):
    """A queue manager that has started again accepts a session and takes a message."""
    sut.restart()
    attempt = SessionAttempt(peer)
    judge("MQSO-6.6.2-D06", expected=SessionAttempt.SERVED, observed=attempt.outcome, evidence=attempt.evidence)
    again = peer.open_raw()
    sent = again.send(peer.recoverable_message(label="after"))
    arrived = peer.eventually(lambda: "after" in sut.labels(sut.queue()))
    judge(
        "MQSO-6.6.2-01",
        "MQSO-6.6.2-02",
        "MQSO-6.6.2-D07",
        expected=holds("running", otherwise="no message is taken"),
        observed=bool(arrived),
        evidence=[sent],
    )
