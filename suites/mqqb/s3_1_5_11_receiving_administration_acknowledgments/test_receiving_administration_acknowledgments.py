"""MS-MQQB 3.1.5.11 Receiving Administration Acknowledgments."""

from __future__ import annotations

from harness.run.marks import covers, varied
from suites.mqqb.steps.disposition import AckClass
from suites.mqqb.steps.exchanges import deliver_message


@covers("MQQB-3.1.5.11-01")
@varied("priority", "time to reach queue", "application tag", "extension", "correlation", "destination")
def test_administration_acknowledgment_is_received_like_a_message(peer, sut, judge):
    """The peer sends an ACK_REACH_QUEUE to an administration queue of the SUT. The SUT acknowledges the message and
    puts it into the queue.
    """
    packet = peer.recoverable_message(queue="admin", MessageClass=AckClass.REACH_QUEUE, label="acknowledgment")
    done = deliver_message(peer, packet, "acknowledgment", "admin")
    judge(
        "MQQB-3.1.5.11-01",
        expected=done.accepted_outcome,
        observed=done.outcome,
        evidence=done.frames,
        case="administration acknowledgment",
    )
