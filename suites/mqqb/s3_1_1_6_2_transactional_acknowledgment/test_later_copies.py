"""MS-MQQB 3.1.1.6.2 Transactional Acknowledgment: copies of messages that were acknowledged or received before."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import holds
from harness.run.marks import covers, malforms, needs
from suites.mqqb.steps.ordering import ACK_RECEIVE, Receiver, read_acknowledged_sequence_position
from suites.mqqb.steps.sequences import SequenceSentBySut

SESSION_COUNT_OF_REPEATED_MESSAGE = 3
"""The number of sessions on which the SUT sends the message."""


@needs("send")
@covers("MQQB-3.1.1.6.2-09")
@pytest.mark.parametrize("journal", [[], ["positive"], ["negative"]], ids=["plain", "positive-journal", "dead-letter"])
def test_message_comes_on_each_session_until_its_order_ack(peer, sut, judge, journal):
    """The SUT sends a transactional message on three successive sessions. On each session, the peer acknowledges the
    message by a SessionAck and closes the session. Each time, the SUT sends the message again on the next session.
    """
    outgoing = SequenceSentBySut(peer, sut, "mqc-every-session")
    outgoing.send(1, journal=journal)
    for number in range(2, SESSION_COUNT_OF_REPEATED_MESSAGE + 1):
        ack = outgoing.send_session_ack()
        outgoing.session.close()
        peer.environment.run_until(
            lambda number=number: len(outgoing.copies(1)) >= number, sut.connect_timeout_ms + sut.response_timeout_ms
        )
        again = len(outgoing.copies(1)) >= number
        judge(
            "MQQB-3.1.1.6.2-09",
            expected=holds("the message comes again", otherwise="the message does not come again"),
            observed=again,
            case=f"after {number - 1} SessionAcks",
            evidence=[*outgoing.copies(1), ack],
        )
        if not again:
            raise ConformanceFailure("the message did not arrive again")
    outgoing.send_final_ack(1, **{"MessageClass": ACK_RECEIVE} if journal == ["negative"] else {})
    outgoing.acknowledge_all()


@malforms("MQMQ-2.2.20.5-16", "MQMQ-2.2.20.5-18")
@covers("MQQB-3.1.1.6.2-D01")
def test_order_ack_after_repeated_message_names_last_message(peer, sut, judge):
    """The peer sends three messages of a sequence, and later repeats the first of them. The OrderAck after the repeated
    message contains the number 3.
    """
    receiver = Receiver(peer, sut)
    sent = [receiver.send() for _ in range(3)]
    if receiver.await_last_acknowledgment(3) is None:
        raise ConformanceFailure("no OrderAck arrived for the transactional messages")
    receiver.sequence.number = 0
    sent.append(receiver.send())
    frame = receiver.await_acknowledgment()
    judge(
        "MQQB-3.1.1.6.2-D01",
        expected=3,
        observed=int(read_acknowledged_sequence_position(frame).TxSequenceNumber),
        case="TxSequenceNumber of the OrderAck after the repeated message",
        evidence=[*sent, frame],
    )
