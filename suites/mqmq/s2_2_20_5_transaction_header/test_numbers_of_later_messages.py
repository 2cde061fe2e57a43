"""MS-MQMQ 2.2.20.5 TransactionHeader: TxSequenceNumber of messages after a restart, and while another queue waits."""

from __future__ import annotations

from harness.run.marks import covers, needs
from suites.mqqb.steps.sequences import Outgoing, list_sequence_numbers, read_sequence_id

MESSAGE_COUNT = 3


@needs("send")
@covers("MQMQ-2.2.20.5-16")
def test_numbers_of_second_queue_are_consecutive(peer, sut, judge):
    """While unacknowledged transactional messages for a queue wait, the SUT sends three messages to a second queue.
    Their TxSequenceNumbers are 1, 2 and 3.
    """
    beside = Outgoing(peer, sut, "mqc-numbers-first")
    beside.send(2)
    outgoing = beside.start_second_sequence("mqc-numbers-second")
    sent = [frame for _ in range(MESSAGE_COUNT) for frame in outgoing.send()]
    judge(
        "MQMQ-2.2.20.5-16",
        expected=list(range(1, MESSAGE_COUNT + 1)),
        observed=list_sequence_numbers(sent),
        case="TxSequenceNumbers of the messages to the second queue",
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
    outgoing = Outgoing(peer, sut, "mqc-numbers-restart")
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
            expected=[1, 2, 3],
            observed=list_sequence_numbers(evidence),
            case="TxSequenceNumbers before and after the restart",
            evidence=evidence,
        )
    outgoing.acknowledge_all()
