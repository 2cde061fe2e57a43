"""MS-MQQB 3.1.1.7.3 Session with Transactional Messages Sent: the sender acknowledges FinalAcks like other messages."""

from __future__ import annotations

from harness.expectations import facts
from harness.run.marks import covers, needs, varied
from suites.mqqb.steps.ordering import ACK_RECEIVE, BAD_DST_Q
from suites.mqqb.steps.sequences import SequenceSentBySut

FINAL_ACK_COUNT = 2


@needs("send")
@covers("MQQB-3.1.1.7.3-D01")
@varied("negative journaling", "time to reach queue")
def test_final_acks_are_acknowledged_by_session_acks(peer, sut, judge):
    """The SUT has sent two messages. The peer sends a negative FinalAck for the first and a positive FinalAck for the
    second. The SUT's SessionAcks count both FinalAcks, and acknowledge both as recoverable.
    """
    outgoing = SequenceSentBySut(peer, sut, "mqc-finals")
    sent = outgoing.send(FINAL_ACK_COUNT)
    outgoing.send_session_ack()
    session = outgoing.session
    known = len(session.received)
    finals = [
        outgoing.send_final_ack(number, MessageClass=value)
        for number, value in zip(range(1, FINAL_ACK_COUNT + 1), (BAD_DST_Q, ACK_RECEIVE), strict=True)
    ]
    session.await_session_ack(FINAL_ACK_COUNT)
    acks = [frame for frame in session.received[known:] if frame.kind == "SessionAck"]
    headers = [ack["SessionHeader"] for ack in acks]
    counted = max((int(header.AckSequenceNumber) for header in headers), default=0)
    named = {
        header.RecoverableMsgAckSeqNumber + bit
        for header in headers
        for bit in range(32)
        if header.RecoverableMsgAckFlags >> bit & 1
    }
    observed = {"AckSequenceNumber": counted, "numbers_of_the_acknowledged_recoverable_messages": sorted(named)}
    expected, evidence = (
        facts(AckSequenceNumber=2, numbers_of_the_acknowledged_recoverable_messages=[1, 2]),
        [*sent, *finals, *acks],
    )
    judge("MQQB-3.1.1.7.3-D01", expected=expected, observed=observed, evidence=evidence)
