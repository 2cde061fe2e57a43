"""MS-MQQB 3.1.1.4 Session Message Sequence."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.peer.timeouts import ACK_MS
from harness.run.marks import covers, needs
from harness.wire import session_ack
from suites.messages import Sequence
from suites.mqqb.steps.sender import Sender, tags
from suites.mqqb.steps.sequences import Outgoing


@covers("MQQB-3.1.1.4-01", "MQQB-3.1.7.1.3-12")
@pytest.mark.parametrize("acknowledged", [1, 2])
def test_the_messages_of_a_session_are_numbered_from_one(peer, sut, judge, acknowledged):
    """Three express messages; what is acknowledged as first, or as first and second, does not come again."""
    sender = Sender(peer, sut, peer.direct_name(f"mqc-numbered-{acknowledged}"))
    sender.send(1, 2, 3)
    session, came = sender.first(3)
    ack = session.send(session_ack(AckSequenceNumber=acknowledged))
    peer.settle()
    session.close()
    left = [tag for tag in (1, 2, 3) if tag > acknowledged]
    again = sender.next_session()
    later = [] if again is None else sender.collect_all(again, len(left))
    if again is not None:
        sender.acknowledge_all(again)
    judge.all(expected=left, observed=sorted(set(tags(later))), case="come again", evidence=[*came, ack, *later])


@covers("MQQB-3.1.1.4-D01")
def test_transactional_messages_that_came_are_among_the_recoverable_ones(peer, sut, judge):
    """An express message, a transactional, a recoverable, a transactional one: three recoverable are acknowledged."""
    session, sequence = peer.open_raw(), Sequence(peer)
    sent = [
        session.send(message)
        for message in (peer.message(), sequence.message(), peer.recoverable_message(), sequence.message())
    ]
    last = session.poll(
        "SessionAck",
        lambda one: one["SessionHeader"].AckSequenceNumber >= len(sent),
        within_ms=sut.duration_ms(ACK_MS) + sut.slack_ms(ACK_MS),
    )
    if last is None:
        raise ConformanceFailure("the SUT did not acknowledge all messages on the session")
    acks = [frame for frame in session.received if frame.kind == "SessionAck"]
    numbers = sorted({number for ack in acks for number in _recoverable(ack)})
    judge("MQQB-3.1.1.4-D01", expected=[1, 2, 3], observed=numbers, case="received", evidence=[*sent, *acks])


def _recoverable(ack):
    """Return the numbers of the recoverable messages that a SessionAck acknowledges."""
    header = ack["SessionHeader"]
    bits = (bit for bit in range(32) if header.RecoverableMsgAckFlags >> bit & 1)
    return [header.RecoverableMsgAckSeqNumber + bit for bit in bits]


@needs("send")
@covers("MQQB-3.1.1.4-D01")
def test_transactional_messages_that_were_sent_are_among_the_recoverable_ones(peer, sut, judge):
    """The SUT sends an express message and two transactional ones: its SessionAck counts two recoverable ones."""
    outgoing = Outgoing(peer, sut, "mqc-counted")
    sent = [*outgoing.send(1, "express"), *outgoing.send(2)]
    ack = outgoing.session.check_alive()
    counted = ack["SessionHeader"].RecoverableMsgSeqNumber
    judge("MQQB-3.1.1.4-D01", expected=2, observed=counted, case="sent", evidence=[*sent, ack])
    outgoing.settle()
