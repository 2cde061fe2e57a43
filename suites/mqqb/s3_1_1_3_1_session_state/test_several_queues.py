"""MS-MQQB 3.1.1.3.1 Session State: the sequences of two queues at the same time, and after a restart."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.run.marks import covers, malforms, needs
from suites.messages import Sequence
from suites.mqqb.steps.sequences import SequenceSentBySut, list_sequence_numbers

QUEUE_NAMES = ("first", "second")
MESSAGE_POSITIONS_BEFORE_RESTART = ((0, 1), (0, 3), (1, 1), (1, 3), (1, 3))
"""The messages before the restart: the index of the queue, and TxSequenceNumber."""


@needs("send", "restart")
@covers("MQQB-3.1.1.3.1-06", "MQQB-3.1.1.3.1.2-01")
def test_numbers_of_two_queues_are_independent_and_survive_restart(peer, sut, judge):
    """The SUT sends three transactional messages to each of two queues of the peer that it has not used before. Their
    numbers are 1 to 3. The peer acknowledges the first message of each queue. After a restart, the SUT sends the other
    messages again, with the same numbers.
    """
    first = SequenceSentBySut(peer, sut, f"mqc-first-{peer.next_message_id()}")
    sent = {"first": first.send(3)}
    second = first.start_second_sequence(f"mqc-second-{peer.next_message_id()}")
    sent["second"] = second.send(3)
    for name, frames in sent.items():
        judge(
            "MQQB-3.1.1.3.1-06",
            expected=[1, 2, 3],
            observed=list_sequence_numbers(frames),
            case=f"TxSequenceNumbers of the {name} queue",
            evidence=frames,
        )
    judge.conclude("MQQB-3.1.1.3.1-06")
    both = {"first": first, "second": second}
    acks = []
    for outgoing in both.values():
        outgoing.send_session_ack()
        acks.append(outgoing.send_order_ack(1))
    peer.settle()
    sut.restart()
    for name, outgoing in both.items():
        peer.environment.run_until(
            lambda outgoing=outgoing: all(len(outgoing.copies(number)) > 1 for number in (2, 3)),
            2 * sut.connect_timeout_ms,
        )
        again = [copy for number in (2, 3) for copy in outgoing.copies(number)[1:2]]
        if len(again) < 2:
            raise ConformanceFailure(f"the messages of the {name} queue did not arrive again after the restart")
        judge(
            "MQQB-3.1.1.3.1.2-01",
            expected=[2, 3],
            observed=list_sequence_numbers(again),
            case=f"TxSequenceNumbers of the {name} queue after a restart",
            evidence=[*sent[name], *acks, *again],
        )
    for outgoing in both.values():
        outgoing.acknowledge_all()


@malforms("MQMQ-2.2.20.5-16", "MQMQ-2.2.20.5-18")
@needs("restart", "management", "queue_control")
@covers("MQQB-3.1.1.3.1-05")
def test_reject_count_of_second_queue_is_kept_over_restart(peer, sut, judge):
    """The peer sends a message in order and one out of order to a queue, and then a message in order and two out of
    order to a second queue. After a restart, it sends another message out of order to the second queue: RejectCount of
    the second queue increases from 2 to 3.
    """
    queues = [sut.new_queue(name, transactional=True) for name in QUEUE_NAMES]
    sequences = [Sequence(peer, ordinal=ordinal) for ordinal in (1, 2)]
    session, sent = peer.open_raw(), []

    def send_message(place: int, number: int) -> None:
        sequences[place].number = number - 1
        packet = sequences[place].message(destination=rf"TCP:{sut.address}\{queues[place]}")
        sent.append(session.send(packet))

    def list_reject_counts() -> list[int]:
        transfers = sut.control.call("get_transfers", queue=queues[1])["transfers"]
        return [int(one["RejectCount"]) for one in transfers]

    for place, number in MESSAGE_POSITIONS_BEFORE_RESTART:
        send_message(place, number)
    for count, case in ((2, "before a restart"), (3, "after a restart")):
        if count == 3:
            sut.restart()
            session = peer.open_raw()
            send_message(1, 3)
        peer.eventually(lambda count=count: list_reject_counts() == [count])
        judge(
            "MQQB-3.1.1.3.1-05",
            expected=[count],
            observed=list_reject_counts(),
            case=f"RejectCount of the second queue {case}",
            evidence=sent,
        )
