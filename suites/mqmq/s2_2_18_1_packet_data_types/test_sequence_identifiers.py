"""MS-MQMQ 2.2.18.1.2 TxSequenceID: which of two sequences is later."""

from __future__ import annotations

import pytest

from harness.expectations import one_of
from harness.run.marks import covers, needs
from harness.wire import TxSequenceID
from suites.messages import Sequence
from suites.mqqb.steps.ordering import Receiver, read_acknowledged_sequence_position

SEQUENCE_IDENTIFIER_COMPARISON_CASES = (
    ("a later TimeStamp, a lower Ordinal", 1, -5, True),
    ("a later TimeStamp, the highest Ordinal", 1, None, True),
    ("a TimeStamp later by 2 to the power of 30", 0x4000_0000, -5, True),
    ("an equal TimeStamp, a higher Ordinal", 0, 5, True),
    ("an equal TimeStamp, an Ordinal higher in its upper half", 0, 0x1_0000 - 5, True),
    ("an equal TimeStamp, a lower Ordinal", 0, -5, False),
    ("an earlier TimeStamp, a higher Ordinal", -1, 5, False),
    ("an earlier TimeStamp, the highest Ordinal", -1, None, False),
)
"""For each case, its name; the seconds and the Ordinal of the second TxSequenceID relative to the first TxSequenceID;
and whether the second sequence is later.
"""
HIGHEST_U32 = 0xFFFF_FFFF


@covers("MQMQ-2.2.18.1.2-D01", "MQMQ-2.2.18.1.2-D02")
@pytest.mark.parametrize(
    ("seconds", "ordinals", "later"),
    [case[1:] for case in SEQUENCE_IDENTIFIER_COMPARISON_CASES],
    ids=[case[0] for case in SEQUENCE_IDENTIFIER_COMPARISON_CASES],
)
def test_sequences_are_compared_by_time_stamp_then_ordinal(peer, sut, judge, seconds, ordinals, later):
    """The peer sends the first message of one sequence, and then the first message of a second sequence. The OrderAck
    names the second sequence if the second TxSequenceID is later than the first, and the first sequence otherwise.
    """
    receiver = Receiver(peer, sut, ordinal=8)
    own = receiver.sequence.identifier
    first = receiver.send(label="first")
    known = receiver.await_acknowledgment()
    ordinal = HIGHEST_U32 if ordinals is None else own.Ordinal + ordinals
    other = TxSequenceID(Ordinal=ordinal, TimeStamp=own.TimeStamp + seconds)
    receiver.sequence.number = 0
    second = receiver.send(label="second", transaction={"TxSequenceID": other})
    frame = receiver.poll_acknowledgment()
    names = {(own.Ordinal, own.TimeStamp): "first sequence", (ordinal, other.TimeStamp): "second sequence"}
    identified = (
        "no OrderAck"
        if frame is None
        else names.get(
            read_acknowledged_sequence_position(frame)[:2], f"sequence {read_acknowledged_sequence_position(frame)[:2]}"
        )
    )
    expected, evidence = "second sequence" if later else "first sequence", [first, known, second, frame]
    judge.all(expected=expected, observed=identified, case="sequence that the OrderAck names", evidence=evidence)


@needs("queues")
@covers("MQMQ-2.2.18.1.6-01", "MQMQ-2.2.18.1.2-D01")
def test_each_sequence_of_a_session_gets_order_ack(peer, sut, judge):
    """On one session, the peer sends two messages of a sequence to one queue, and two messages of another sequence to a
    second queue. The SUT sends OrderAcks for the last message of both sequences. A SUT that keeps one sequence for all
    of its queues acknowledges only the second sequence, which is the later one (E41).
    """
    receiver = Receiver(peer, sut, ordinal=5)
    second = Sequence(peer, 6)
    destination = rf"TCP:{sut.address}\{sut.new_queue('second', transactional=True)}"
    sent = []
    for _ in range(2):
        sent.append(receiver.send())
        sent.append(receiver.session.send(second.message(destination=destination)))
    wanted = {
        (one.identifier.Ordinal, one.identifier.TimeStamp, 2): name
        for name, one in (("first sequence", receiver.sequence), ("second sequence", second))
    }

    def list_acknowledged_messages():
        places = {read_acknowledged_sequence_position(one)[:3] for one in receiver.list_acknowledgments()}
        return sorted(wanted[place] for place in places & wanted.keys())

    while len(list_acknowledged_messages()) < len(wanted) and receiver.poll_acknowledgment() is not None:
        pass
    judge.all(
        expected=one_of(["first sequence", "second sequence"], ["second sequence"]),
        observed=list_acknowledged_messages(),
        case="sequences whose last message is acknowledged",
        evidence=[*sent, *receiver.list_acknowledgments()],
    )
