"""MS-MQQB 3.1.1.5 Transactional Message Sequence: the sequence that follows when all messages of a sequence are
acknowledged.
"""

from __future__ import annotations

import pytest

from harness.expectations import facts, none
from harness.run.marks import covers, needs, varied
from suites.mqqb.steps.sequences import (
    SequenceSentBySut,
    get_transaction_header,
    list_sequence_numbers,
    read_sequence_id,
)


@needs("send")
@covers("MQQB-3.1.1.5-03", "MQQB-3.1.1.5-04", "MQQB-3.1.1.5-05", "MQQB-3.1.5.6-15")
@varied("negative journaling", "response queue")
def test_new_sequence_begins_when_all_messages_are_acknowledged(peer, sut, judge):
    """The peer acknowledges three messages by a SessionAck and an OrderAck. The SUT's next three messages form a new
    sequence, and the message after them begins a third sequence.
    """
    outgoing = SequenceSentBySut(peer, sut, "mqc-next-sequence")
    sent = outgoing.send(3)
    acks = [outgoing.send_session_ack(), outgoing.send_order_ack(3)]
    peer.settle()
    first, second, last = outgoing.send(3)
    evidence = [sent[-1], *acks, first, second, last]
    old_sequence = read_sequence_id(sent[0])
    ordinal = old_sequence[1] + 1
    begun, *continued = (
        {"Ordinal": read_sequence_id(frame)[1], "TxSequenceNumber": get_transaction_header(frame).TxSequenceNumber}
        for frame in (first, second, last)
    )
    expected = facts(Ordinal=ordinal, TxSequenceNumber=1)
    judge("MQQB-3.1.5.6-15", "MQQB-3.1.1.5-03", expected=expected, observed=begun, evidence=evidence)
    for number, place in enumerate(continued, 2):
        expected = facts(Ordinal=ordinal, TxSequenceNumber=number)
        judge("MQQB-3.1.1.5-04", expected=expected, observed=place, evidence=evidence)
    on_old_sequence = [frame.number for frame in (first, second, last) if read_sequence_id(frame) <= old_sequence]
    judge(
        "MQQB-3.1.1.5-05",
        expected=none("further message of the old sequence"),
        observed=on_old_sequence,
        evidence=evidence,
    )
    outgoing.acknowledge_all()
    [third] = outgoing.send()
    begun = {"Ordinal": read_sequence_id(third)[1], "TxSequenceNumber": get_transaction_header(third).TxSequenceNumber}
    expected = facts(Ordinal=ordinal + 1, TxSequenceNumber=1)
    judge("MQQB-3.1.5.6-15", "MQQB-3.1.1.5-03", expected=expected, observed=begun, evidence=[second, third])
    outgoing.acknowledge_all()


@needs("send")
@covers("MQQB-3.1.1.5-04")
@pytest.mark.parametrize("finished", [0, 1])
def test_sequence_continues_on_the_next_session(peer, sut, judge, finished):
    """The SUT sends the first message of its first or second sequence, and the peer closes the session. The SUT's next
    message, on another session, is the second message of the same sequence.
    """
    outgoing = SequenceSentBySut(peer, sut, "mqc-sequence-reconnect")
    for _ in range(finished):
        outgoing.send(2)
        outgoing.acknowledge_all()
    [first] = outgoing.send()
    outgoing.send_session_ack()
    outgoing.session.close()
    peer.settle()
    outgoing.await_session()
    [second] = outgoing.send()
    observed = {"Ordinal": read_sequence_id(second)[1], "numbers": list_sequence_numbers([first, second])}
    expected = facts(Ordinal=read_sequence_id(first)[1], numbers=[1, 2])
    judge("MQQB-3.1.1.5-04", expected=expected, observed=observed, evidence=[first, second])
    outgoing.acknowledge_all()


@needs("send", "restart")
@covers("MQQB-3.1.1.3.1-04", "MQQB-3.1.1.5-04", "MQQB-3.1.1.5-05")
@pytest.mark.parametrize("finished", [1, 2])
def test_new_sequence_survives_restart(peer, sut, judge, finished):
    """The SUT restarts after one or two sequences have ended: its next two messages are in a later sequence."""
    outgoing = SequenceSentBySut(peer, sut, "mqc-sequence-restart")
    for _ in range(finished):
        before = outgoing.send(2)
        outgoing.send_session_ack()
        outgoing.send_order_ack(len(outgoing.sent))
        peer.settle()
    sut.restart()
    after = outgoing.send(2)
    evidence = [*before, *after]
    observed = {
        "message_is_in_a_later_sequence_than_the_one_before": [
            read_sequence_id(frame) > read_sequence_id(before[0]) for frame in after
        ],
        "TxSequenceNumbers": list_sequence_numbers(after),
    }
    expected = facts(message_is_in_a_later_sequence_than_the_one_before=[True, True], TxSequenceNumbers=[1, 2])
    judge.all(expected=expected, observed=observed, evidence=evidence)
    outgoing.acknowledge_all()
