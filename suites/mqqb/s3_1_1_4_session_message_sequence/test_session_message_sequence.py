"""MS-MQQB 3.1.1.4 Session Message Sequence."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import holds
from harness.run.marks import covers, malforms, needs, varied
from harness.wire import session_ack
from suites.messages import Sequence
from suites.mqqb.steps.outgoing_session import await_session_of_sut
from suites.mqqb.steps.sender import Sender
from suites.mqqb.steps.sequences import SequenceSentBySut


@covers("MQQB-3.1.1.4-01", "MQQB-3.1.7.1.3-12")
@pytest.mark.parametrize("acknowledged", [1, 2])
@varied("trace", "label", priority=("3", "0"))
def test_session_messages_are_acknowledged_by_number_from_1(peer, sut, judge, acknowledged):
    """The peer acknowledges the first one or two of three express messages. The SUT sends the remaining messages again
    on the next session.
    """
    sender = Sender(peer, sut, peer.direct_name(f"mqc-numbered-{acknowledged}"))
    sender.send(1, 2, 3)
    session, came = sender.await_first_messages(3)
    ack = session.send(session_ack(AckSequenceNumber=acknowledged))
    peer.settle()
    session.close()
    left = [tag for tag in (1, 2, 3) if tag > acknowledged]
    next_session = sender.poll_session()
    resent = [] if next_session is None else sender.collect_messages_until_silence(next_session, len(left))
    if next_session is not None:
        next_session.acknowledge_all()
    judge.all(
        expected=left,
        observed=sorted(set(Sender.list_tags(resent))),
        case="numbers of the messages sent again",
        evidence=[*came, ack, *resent],
    )


@malforms("MQMQ-2.2.20.5-16", "MQMQ-2.2.20.5-18")
@covers("MQQB-3.1.1.4-D01", "MQQB-3.1.5.8.2-02")
@pytest.mark.parametrize("initiator", ["peer", "SUT"])
@varied("acknowledgments", "application tag", "extension", "correlation", "body", "destination")
def test_received_transactional_messages_count_as_recoverable(peer, sut, judge, initiator):
    """On a session that the peer or the SUT opened, the peer sends one express, one recoverable and two transactional
    messages. The SUT acknowledges three messages as recoverable, because transactional messages are recoverable. It
    also counts a transactional message after a gap in its sequence: it accepts a SessionAck with a
    RecoverableMsgSeqNumber of 4.
    """
    session = peer.open_raw() if initiator == "peer" else await_session_of_sut(peer, sut)
    sequence = Sequence(peer)
    sent = [
        session.send(message)
        for message in (peer.message(), sequence.message(), peer.recoverable_message(), sequence.message())
    ]
    last = session.await_session_ack(len(sent))
    if last is not None:
        judge(
            "MQQB-3.1.5.8.2-02",
            expected=len(sent),
            observed=last["SessionHeader"].AckSequenceNumber,
            case="AckSequenceNumber of the last SessionAck",
            evidence=[*sent, last],
        )
        judge.conclude("MQQB-3.1.5.8.2-02")
    if last is None or last["SessionHeader"].AckSequenceNumber < len(sent):
        raise ConformanceFailure("the SUT did not acknowledge all messages on the session")
    acks = [frame for frame in session.received if frame.kind == "SessionAck"]
    numbers = sorted({number for ack in acks for number in _list_acknowledged_recoverable_numbers(ack)})
    judge(
        "MQQB-3.1.1.4-D01",
        expected=[1, 2, 3],
        observed=numbers,
        case="numbers of the acknowledged recoverable messages",
        evidence=[*sent, *acks],
    )
    sequence.number += 1
    sent.append(session.send(sequence.message()))
    counted = session.send(
        session.build_session_ack(
            AckSequenceNumber=0 if initiator == "peer" else 1, UserMsgSequenceNumber=5, RecoverableMsgSeqNumber=4
        )
    )
    judge(
        "MQQB-3.1.1.4-D01",
        expected=holds("the session stays open after a SessionAck that counts the message after a gap"),
        observed=session.request_acknowledgment() is not None or session.outcome(),
        evidence=[*sent, counted],
    )


def _list_acknowledged_recoverable_numbers(ack):
    """Return the numbers of the recoverable messages that a SessionAck acknowledges."""
    header = ack["SessionHeader"]
    bits = (bit for bit in range(32) if header.RecoverableMsgAckFlags >> bit & 1)
    return [header.RecoverableMsgAckSeqNumber + bit for bit in bits]


@needs("send")
@covers("MQQB-3.1.1.4-D01")
@varied("extension", "correlation", "destination", acknowledgments=("none", "of arrival"))
def test_sent_transactional_messages_count_as_recoverable(peer, sut, judge):
    """The SUT sends one express and two transactional messages: its SessionAck counts two recoverable messages."""
    outgoing = SequenceSentBySut(peer, sut, "mqc-counted")
    sent = [*outgoing.send(1, "express"), *outgoing.send(2)]
    ack = outgoing.session.require_session_ack_for_message()
    counted = ack["SessionHeader"].RecoverableMsgSeqNumber
    judge(
        "MQQB-3.1.1.4-D01",
        expected=2,
        observed=counted,
        case="number of the last recoverable message that the SessionAck acknowledges",
        evidence=[*sent, ack],
    )
    outgoing.acknowledge_all()
