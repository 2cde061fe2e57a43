"""MS-MQQB 3.1.5.5.5 Validate Message Counts: a message that was sent again is also kept until its OrderAck arrives."""

from __future__ import annotations

from harness.run.marks import covers, needs
from suites.mqqb.steps.sequences import RESENT_OUTCOME, SequenceSentBySut


@needs("send")
@covers("MQQB-3.1.5.5.3-03", "MQQB-3.1.5.5.5-03")
def test_repeated_message_without_order_ack_comes_on_next_session(peer, sut, judge):
    """By a SessionAck, the peer acknowledges a transactional message, and later its repetition. No OrderAck arrives,
    and the peer closes the session. The SUT sends the message again on its next session, and once more on the session
    after a further SessionAck.
    """
    outgoing = SequenceSentBySut(peer, sut)
    evidence = outgoing.send()
    evidence.append(outgoing.send_session_ack())
    judge.all(expected=RESENT_OUTCOME, observed=outgoing.await_resend(1), case="first repetition", evidence=evidence)
    judge.conclude()
    for case in ("first session after the repetition", "second session after the repetition"):
        evidence.append(outgoing.send_session_ack())
        outgoing.session.close()
        judge.all(expected=RESENT_OUTCOME, observed=outgoing.await_resend(1), case=case, evidence=evidence)
        judge.conclude()
    outgoing.acknowledge_all()
