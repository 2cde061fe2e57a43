"""MS-MQQB 3.1.5.5.3 Delete Acknowledged Recoverable Messages: flags of transactional messages that AckSequenceNumber
does not acknowledge.
"""

from __future__ import annotations

from harness.expectations import each
from harness.run.marks import covers, needs
from harness.wire import session_ack
from suites.mqqb.steps.sequences import RESENT_OUTCOME, SequenceSentBySut


@needs("send")
@covers("MQQB-3.1.5.5.3-03")
def test_flag_before_ack_number_keeps_transactional_message(peer, sut, judge):
    """The SUT sends two transactional messages. The SessionAck of the peer has the flags of both messages set, but its
    AckSequenceNumber acknowledges only the first message. The SUT sends both messages again, because no OrderAck has
    arrived.
    """
    outgoing = SequenceSentBySut(peer, sut)
    sent = outgoing.send(2)
    session = outgoing.session
    ack = session.send(session_ack(AckSequenceNumber=1, RecoverableMsgAckSeqNumber=1, RecoverableMsgAckFlags=0b11))
    session.close()
    judge(
        "MQQB-3.1.5.5.3-03",
        expected=each(RESENT_OUTCOME, "message"),
        observed=[outgoing.await_resend(number) for number in (1, 2)],
        evidence=[*sent, ack],
    )
    outgoing.session.acknowledge_all()
