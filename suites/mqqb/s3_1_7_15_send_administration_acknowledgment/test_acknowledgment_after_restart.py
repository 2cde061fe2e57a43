"""MS-MQQB 3.1.7.15 Send Administration Acknowledgment: an acknowledgment survives a restart."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.run.marks import covers, needs
from suites.mqqb.steps.disposition import AckClass, AcknowledgingReceiver
from suites.mqqb.steps.restarting import (
    UNCHANGED_ACK_OUTCOME,
    describe_change,
    restart_and_await_copy_of_acknowledgment,
)


@needs("restart")
@covers("MQQB-3.1.7.15-25")
def test_unacknowledged_arrival_acknowledgment_comes_again_after_restart(peer, sut, judge):
    """The peer does not acknowledge the SUT's arrival acknowledgment, and the SUT restarts. The SUT sends this
    acknowledgment again, unchanged.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    sent = receiver.send_packet(receiver.build_message({"DM": 1}, properties={"PA": 1}))
    before = receiver.poll(lambda: receiver.list_acks_of_class(AckClass.REACH_QUEUE, sent))
    if before is None:
        raise ConformanceFailure(
            "the SUT did not acknowledge the message that requests an acknowledgment of its arrival"
        )
    after = restart_and_await_copy_of_acknowledgment(receiver, before)
    observed = "gone" if after is None else describe_change(before, after, sut.guid)
    judge(
        "MQQB-3.1.7.15-25",
        expected=UNCHANGED_ACK_OUTCOME,
        observed=observed,
        case="acknowledgment after a restart",
        evidence=[sent, before, after],
    )
    receiver.await_acks(1)
