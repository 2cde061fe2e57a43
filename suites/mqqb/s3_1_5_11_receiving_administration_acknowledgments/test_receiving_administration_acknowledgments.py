"""MS-MQQB 3.1.5.11 Receiving Administration Acknowledgments."""

from __future__ import annotations

from harness.run.marks import covers
from suites.mqqb.steps.disposition import AckClass
from suites.mqqb.steps.exchanges import reception, taken


@covers("MQQB-3.1.5.11-01")
def test_administration_acknowledgments_are_received_as_messages(peer, sut, judge):
    """An acknowledgment of arrival for the SUT's administration queue is acknowledged, and gets there."""
    packet = peer.recoverable_message(queue="admin", MessageClass=AckClass.REACH_QUEUE, label="acknowledgment")
    done = reception(peer, packet, "acknowledgment", "admin")
    judge("MQQB-3.1.5.11-01", expected=taken(sut), observed=done.outcome, evidence=done.frames)
