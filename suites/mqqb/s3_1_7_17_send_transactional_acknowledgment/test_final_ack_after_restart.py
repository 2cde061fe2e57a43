"""MS-MQQB 3.1.7.17 Send Transactional Acknowledgment: a FinalAck survives a restart."""

from __future__ import annotations

from harness.capture.recorder import Frame
from harness.expectations import acknowledgments_of_classes, facts
from harness.run.marks import covers, needs
from suites.mqqb.steps.disposition import AckClass, get_final_ack_identifier, identifier
from suites.mqqb.steps.ordering import Receiver
from suites.mqqb.steps.restarting import (
    UNCHANGED_ACK_OUTCOME,
    describe_change,
    restart_and_await_copy_of_acknowledgment,
)
from suites.whole_messages import describe_packet


@needs("restart", "receive")
@covers("MQQB-3.1.7.17-D01", "MQQB-3.1.7.2.2-01")
def test_unacknowledged_final_ack_comes_again_after_restart(peer, sut, judge):
    """The peer does not acknowledge a FinalAck, and the SUT restarts. The SUT sends the FinalAck again, unchanged and
    recoverable. The SUT also sends the FinalAck of a message that an application receives only after the restart.
    """
    receiver = Receiver(peer, sut)
    sent, stored = receiver.send(transaction={"FA": 1}), receiver.send(transaction={"FA": 1})
    receiver.await_last_acknowledgment(2)
    peer.eventually(lambda: bool(sut.messages("transactional")))
    sut.control.call("receive", queue=sut.queue("transactional"), timeout_ms=0)
    before = receiver.await_acknowledgment(final=True)
    after = restart_and_await_copy_of_acknowledgment(receiver, before)
    delivery = describe_packet(before, sut.guid)["delivery"]
    observed = {
        "delivery": delivery,
        "after_restart": "gone" if after is None else describe_change(before, after, sut.guid),
    }
    expected = facts(delivery="recoverable", after_restart=UNCHANGED_ACK_OUTCOME)
    judge("MQQB-3.1.7.17-D01", expected=expected, observed=observed, evidence=[sent, before, after])
    judge.conclude("MQQB-3.1.7.17-D01")
    sut.control.call("receive", queue=sut.queue("transactional"), timeout_ms=0)

    def list_final_acks_of_stored_message() -> list[Frame]:
        came = receiver.list_acknowledgments(final=True)
        return [frame for frame in came if get_final_ack_identifier(frame) == identifier(stored)]

    peer.environment.run_until(
        lambda: bool(list_final_acks_of_stored_message()), sut.connect_timeout_ms + sut.response_timeout_ms
    )
    judge(
        "MQQB-3.1.7.2.2-01",
        expected=acknowledgments_of_classes(AckClass.RECEIVE),
        observed=list_final_acks_of_stored_message(),
        case="FinalAcks of the message that is received after the restart",
        evidence=[stored, *list_final_acks_of_stored_message()],
    )
