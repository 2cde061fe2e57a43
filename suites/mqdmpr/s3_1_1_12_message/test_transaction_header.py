"""MS-MQDMPR 3.1.1.12 Message: FinalAckRequired."""

from __future__ import annotations

from harness.run.marks import covers, varied
from suites.mqqb.steps.disposition import get_final_ack_identifier, identifier
from suites.mqqb.steps.ordering import Receiver

SHORT_LIFETIME_S = 2


@covers("MQMQ-2.2.20.5-D02", "MQDMPR-3.1.1.12-64", "MQDMPR-3.1.1.12-63", "MQDMPR-3.1.1.12-62")
@varied("response queue", body=("short", "5,000 bytes"))
def test_final_ack_is_sent_only_for_message_with_fa(peer, sut, judge):
    """Two transactional messages expire in their queue: the SUT sends a FinalAck for the message with FA 1, and none
    for the message with FA 0.
    """
    receiver = Receiver(peer, sut)
    packets = [receiver.send({"TimeToBeReceived": SHORT_LIFETIME_S}, transaction={"FA": bit}) for bit in (0, 1)]
    receiver.await_acknowledgment()
    peer.pass_time((SHORT_LIFETIME_S + 1) * 1_000)
    receiver.poll_acknowledgment(final=True)
    peer.pass_time(sut.quiet_ms)
    acks = receiver.acknowledgments(final=True)
    identifiers = {identifier(frame): name for frame, name in zip(packets, ("without FA", "with FA"), strict=True)}
    answered = sorted(identifiers.get(get_final_ack_identifier(frame), "another") for frame in acks)
    judge.all(expected=["with FA"], observed=answered, evidence=[*packets, *acks], case="messages with a FinalAck")
