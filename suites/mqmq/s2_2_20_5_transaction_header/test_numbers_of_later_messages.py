"""MS-MQMQ 2.2.20.5 TransactionHeader: TxSequenceNumber of messages to a second queue, and after a restart."""

from __future__ import annotations

from itertools import pairwise

from harness.run.marks import covers, needs
from suites.mqqb.steps.sequences import SequenceSentBySut, list_sequence_numbers, read_sequence_id

MESSAGE_COUNT = 3


@needs("send")
@covers("MQMQ-2.2.20.5-16")
def test_numbers_of_second_queue_are_consecutive(peer, sut, judge):
    """While two transactional messages for a queue are unacknowledged, the SUT sends three messages to a second queue.
    TxSequenceNumber increases by 1 from each of these messages to the next.
    """
    beside = SequenceSentBySut(peer, sut, "mqc-numbers-first")
    beside.send(2)
    outgoing = beside.start_second_sequence("mqc-numbers-second")
    sent = [frame for _ in range(MESSAGE_COUNT) for frame in outgoing.send()]
    judge(
        "MQMQ-2.2.20.5-16",
        expected=[1] * (MESSAGE_COUNT - 1),
        observed=_list_sequence_number_increases(sent),
        case="increases of TxSequenceNumber of the messages to the second queue",
        evidence=sent,
    )
    outgoing.acknowledge_all()
    beside.acknowledge_all()


@needs("send", "restart")
@covers("MQMQ-2.2.20.5-16")
def test_number_after_restart_is_next_number(peer, sut, judge):
    """The SUT has two transactional messages without an OrderAck, and restarts. The next message of the sequence has
    the next TxSequenceNumber.
    """
    outgoing = SequenceSentBySut(peer, sut, "mqc-numbers-restart")
    sent = outgoing.send(2)
    sut.restart()
    outgoing.await_session()
    [later] = outgoing.send()
    evidence = [*sent, later]
    if read_sequence_id(later) != read_sequence_id(sent[0]):
        judge.mark_not_exercised("MQMQ-2.2.20.5-16", reason="the SUT began another sequence", evidence=evidence)
    else:
        judge(
            "MQMQ-2.2.20.5-16",
            expected=[1, 1],
            observed=_list_sequence_number_increases(evidence),
            case="increases of TxSequenceNumber before and after the restart",
            evidence=evidence,
        )
    outgoing.acknowledge_all()


def _list_sequence_number_increases(frames):
    """Return the increase of TxSequenceNumber from each packet to the next."""
    return [after - before for before, after in pairwise(list_sequence_numbers(frames))]
