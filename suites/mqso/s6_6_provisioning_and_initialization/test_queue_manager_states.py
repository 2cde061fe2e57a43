"""MS-MQSO 6.6 Provisioning and Initialization Procedures."""

from __future__ import annotations

from harness.run.marks import covers, needs
from suites.messages import recoverable_message
from suites.mqqb.steps.disposition import labels
from suites.mqqb.steps.opening import opened
from suites.mqqb.steps.sender import eventually
from suites.mqso.steps.serving import SERVED, Attempt


@needs("restart", "receive")
@covers("MQSO-6.6.2-01", "MQSO-6.6.2-02", "MQSO-6.6.2-D06", "MQSO-6.6.2-D07")
def test_sessions_are_served_after_a_restart(peer, sut, judge):
    """When it has started again it accepts a session and takes a message."""
    sut.restart()
    attempt = Attempt(peer)
    judge("MQSO-6.6.2-D06", expected=SERVED, observed=attempt.outcome, evidence=attempt.evidence)
    again = opened(peer)
    sent = again.send(recoverable_message(peer, label="after"))
    arrived = eventually(peer, lambda: "after" in labels(sut, sut.queue()))
    observed = "running" if arrived else "no message is taken"
    judge("MQSO-6.6.2-01", "MQSO-6.6.2-02", "MQSO-6.6.2-D07", expected="running", observed=observed, evidence=[sent])
