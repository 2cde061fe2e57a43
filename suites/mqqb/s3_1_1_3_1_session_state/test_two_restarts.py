"""MS-MQQB 3.1.1.3.1 Session State: messages that await their FinalAcks over two restarts."""

from __future__ import annotations

from harness.run.marks import covers, needs
from suites.mqqb.steps.ordering import ACK_RECEIVE
from suites.mqqb.steps.sequences import (
    DEAD_LETTERS,
    SYSTEM_JOURNAL,
    SequenceSentBySut,
    find_positions_of_messages_in_queue,
)

JOURNAL_CASE, DEAD_LETTER_CASE = "numbers of the messages in the journal", "numbers in the dead-letter queue"


@needs("send", "restart")
@covers("MQQB-3.1.1.3.1-13")
def test_messages_await_their_final_acks_over_two_restarts(peer, sut, judge):
    """The SUT has sent messages with JP and JN to two queues, and the peer has sent their OrderAcks. The SUT restarts
    twice, and sends a further message to each queue after each restart. The peer then sends the FinalAcks of the first
    messages. The SUT puts the received messages into the journal, and the refused messages into the dead-letter queue.
    """
    beside = SequenceSentBySut(peer, sut, "mqc-two-restarts-beside")
    beside.send()
    beside.acknowledge_all()
    queues = [beside.start_second_sequence(f"mqc-two-restarts-{number}") for number in (1, 2)]
    for outgoing in queues:
        outgoing.send(1, journal=["positive"])
        outgoing.send(1, journal=["negative"])
        outgoing.send_session_ack()
        outgoing.send_order_ack(2)
        peer.settle()
    sent = [frame for outgoing in queues for frame in outgoing.sent]
    for _ in range(2):
        sut.restart()
        for outgoing in queues:
            outgoing.send()
            outgoing.acknowledge_all()
    acks = []
    for outgoing in queues:
        acks.append(outgoing.send_final_ack(1, MessageClass=ACK_RECEIVE))
        acks.append(outgoing.send_final_ack(2))

    def find_journaled_messages():
        return {
            case: [find_positions_of_messages_in_queue(sut, kept, outgoing.identifiers[:2]) for outgoing in queues]
            for case, kept in ((JOURNAL_CASE, SYSTEM_JOURNAL), (DEAD_LETTER_CASE, DEAD_LETTERS))
        }

    expected = {JOURNAL_CASE: [[1], [1]], DEAD_LETTER_CASE: [[2], [2]]}
    peer.eventually(lambda: find_journaled_messages() == expected)
    judge(
        "MQQB-3.1.1.3.1-13",
        expected=expected,
        observed=find_journaled_messages(),
        case="messages of both queues after their FinalAcks",
        evidence=[*sent, *acks],
    )
