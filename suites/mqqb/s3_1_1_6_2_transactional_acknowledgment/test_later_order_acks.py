"""MS-MQQB 3.1.1.6.2 Transactional Acknowledgment: OrderAcks of messages that were sent again, and OrderAcks on another
session.
"""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.run.marks import covers, needs
from suites.mqqb.steps.ordering import build_order_ack
from suites.mqqb.steps.sequences import RESENT_OUTCOME, SequenceSentBySut

MESSAGE_COUNT = 3


@needs("send")
@covers("MQQB-3.1.1.6.2-08")
def test_messages_sent_again_are_discarded_at_order_ack(peer, sut, judge):
    """The SUT sends three messages again because the peer sent no OrderAck. Then the peer sends the OrderAck of the
    second one. On the next session, the SUT sends only the third message.
    """
    outgoing = SequenceSentBySut(peer, sut, "mqc-order-again")
    outgoing.send(MESSAGE_COUNT)
    outgoing.send_session_ack()
    if outgoing.await_resend(MESSAGE_COUNT) != RESENT_OUTCOME:
        raise ConformanceFailure("the SUT did not send its messages again")
    outgoing.send_session_ack()
    frame = outgoing.send_order_ack(2)
    _judge_last_message_is_resent_on_next_session(judge, outgoing, frame)


@needs("send")
@covers("MQQB-3.1.1.6.2-08")
def test_messages_are_discarded_at_order_ack_on_session_of_peer(peer, sut, judge):
    """The SUT sends three messages, and the peer sends the OrderAck of the second one on a session that the peer
    opened. On the next session, the SUT sends only the third message.
    """
    outgoing = SequenceSentBySut(peer, sut, "mqc-order-other")
    outgoing.send(MESSAGE_COUNT)
    outgoing.send_session_ack()
    carrier = peer.open_raw()
    frame = carrier.send(build_order_ack(peer, outgoing.sent[1]))
    _judge_last_message_is_resent_on_next_session(judge, outgoing, frame)


def _judge_last_message_is_resent_on_next_session(judge, outgoing: SequenceSentBySut, frame) -> None:
    """Close the session, and judge that the SUT sends only the last message on the next session."""
    outgoing.peer.settle()
    outgoing.session.close()
    session = outgoing.await_session()
    while not session.stays_quiet():
        pass
    judge(
        "MQQB-3.1.1.6.2-08",
        expected=[MESSAGE_COUNT],
        observed=outgoing.list_sequence_numbers_on_session(session),
        case="numbers of the messages on the next session",
        evidence=[*outgoing.sent, frame, session.last],
    )
    outgoing.send_session_ack()
    outgoing.acknowledge_all()
