"""MS-MQQB 3.1.5.8.6 Transactional Message Processing, with 3.1.1.6.2: OrderAcks for two sequences of one session."""

from __future__ import annotations

from harness.judging.verdicts import Verdict
from harness.run.marks import covers, needs
from suites.messages import Sequence
from suites.mqqb.steps.ordering import ORDER_ACK_TIMEOUT_MS, Receiver, read_acknowledged_sequence_position
from suites.mqqb.steps.pinging import STALLED_SUT_REASON

MESSAGE_INTERVAL_IN_TIMEOUTS = 0.6
"""The time between two messages, as a fraction of OrderAckTimeout."""
GREATEST_TIMER_SPEED_UP = 4
"""The highest factor by which the timers may be accelerated, so that the check can act while a timer runs."""


@needs("queue_control")
@covers("MQQB-3.1.5.8.6-02", "MQQB-3.1.1.6.2-05", "MQQB-3.1.1.6.2-07")
def test_message_of_second_sequence_delays_order_acks_of_both(peer, sut, judge):
    """On one session, the peer sends a message of one sequence and, within OrderAckTimeout, a message of a second
    sequence to another queue. The SUT sends an OrderAck for each sequence. It sends the first OrderAck only when
    OrderAckTimeout has passed since the second message.
    """
    sut.limit_time_scale(GREATEST_TIMER_SPEED_UP)
    receiver = Receiver(peer, sut)
    beside, other = Sequence(peer, ordinal=2), sut.new_queue("beside", transactional=True)
    due_ms = sut.duration_ms(ORDER_ACK_TIMEOUT_MS)
    first = receiver.send()
    peer.pass_time(int(due_ms * MESSAGE_INTERVAL_IN_TIMEOUTS))
    second = receiver.session.send(beside.message(destination=rf"TCP:{sut.address}\{other}"))
    wanted = {(one.identifier.Ordinal, one.identifier.TimeStamp) for one in (receiver.sequence, beside)}
    acks = receiver.list_acknowledgments

    def list_acknowledged_ordinals():
        return {read_acknowledged_sequence_position(frame)[:2] for frame in acks()} & wanted

    peer.environment.run_until(lambda: list_acknowledged_ordinals() == wanted, due_ms + 2 * sut.response_timeout_ms)
    evidence = [first, second, *acks()]
    judge(
        "MQQB-3.1.1.6.2-07",
        expected=len(wanted),
        observed=len(list_acknowledged_ordinals()),
        case="number of sequences with an OrderAck",
        evidence=evidence,
    )
    judge.conclude("MQQB-3.1.1.6.2-07")
    late = peer.measure_duration(first, second).ms > due_ms * 4 // 5
    if late or not acks() or peer.has_stalled(first.time_ms, peer.recorder.elapsed_ms()):
        judge.give_up(Verdict.NOT_EXERCISED, STALLED_SUT_REASON)
        return
    took = peer.measure_duration(second, acks()[0])
    judge(
        "MQQB-3.1.5.8.6-02",
        "MQQB-3.1.1.6.2-05",
        expected="after OrderAckTimeout",
        observed=took.describe_expiry(ORDER_ACK_TIMEOUT_MS, "after OrderAckTimeout"),
        case="time of the first OrderAck since the second message",
        evidence=evidence,
    )
