"""MS-MQQB 3.1.5.8.6 Transactional Message Processing: the Order Ack Send Timer long after the last OrderAck, and
LastAccessTime beside the OrderAcks.
"""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.judging.verdicts import Verdict
from harness.run.marks import covers, needs
from suites.mqqb.s3_1_5_08_06_transactional_message_processing.listed_transfers import get_incoming_transfer_of_sequence
from suites.mqqb.steps.ordering import ORDER_ACK_TIMEOUT_MS, Receiver
from suites.mqqb.steps.pinging import STALLED_SUT_REASON, read_data_model_element

MESSAGE_INTERVAL_IN_TIMEOUTS = 0.6
"""The time between two messages, as a fraction of OrderAckTimeout."""
GREATEST_TIMER_SPEED_UP = 4
"""The highest factor by which the timers may be accelerated, so that the check can act while a timer runs."""
SILENCE_BEFORE_MESSAGES_MS = 60_000
"""A time in ms that is much longer than MaximumOrderAckDelay, which is 10 s by default (note <52>)."""
ORDER_ACK_IN_TIME_OUTCOME = "after OrderAckTimeout"
MESSAGE_COUNT, SUBSECOND_SEND_TIME_INCREASE_MS = 8, 170
"""The number of messages, and the time in ms by which each message is sent later in a second than its predecessor."""


@covers("MQQB-3.1.5.8.6-02")
def test_second_message_long_after_last_order_ack_does_not_delay_next_order_ack(peer, sut, judge):
    """After an OrderAck, the peer sends no transactional message for much longer than MaximumOrderAckDelay. Then it
    sends two messages within OrderAckTimeout. The SUT sends an OrderAck when OrderAckTimeout has passed since the first
    of them.
    """
    sut.limit_time_scale(GREATEST_TIMER_SPEED_UP)
    receiver = Receiver(peer, sut)
    receiver.send()
    receiver.await_acknowledgment()
    peer.inbox.acknowledge()  # otherwise the Session Ack Wait Timer may close the session
    peer.pass_time(sut.duration_ms(SILENCE_BEFORE_MESSAGES_MS))
    due_ms = sut.duration_ms(ORDER_ACK_TIMEOUT_MS)
    known = len(receiver.list_acknowledgments())
    first = receiver.send()
    peer.pass_time(int(due_ms * MESSAGE_INTERVAL_IN_TIMEOUTS))
    second = receiver.send()
    receiver.await_acknowledgment()
    frame = receiver.list_acknowledgments()[known]
    peer.inbox.acknowledge()
    late = peer.measure_duration(first, second).ms > due_ms * 4 // 5
    if late or peer.has_stalled(first.time_ms, peer.recorder.elapsed_ms()):
        judge.give_up(Verdict.NOT_EXERCISED, STALLED_SUT_REASON)
        return
    judge(
        "MQQB-3.1.5.8.6-02",
        expected=ORDER_ACK_IN_TIME_OUTCOME,
        observed=peer.measure_duration(first, frame).describe_expiry(ORDER_ACK_TIMEOUT_MS, ORDER_ACK_IN_TIME_OUTCOME),
        case="time of the OrderAck since the first message after the silence",
        evidence=[first, second, frame],
    )


@needs("management", "queues")
@covers("MQQB-3.1.5.8.6-08")
def test_order_ack_does_not_change_last_access_time(peer, sut, judge):
    """After the first message of a sequence, the peer sends eight messages at different times in a second.
    LastAccessTime of the sequence is the same before and after the OrderAck of each of them.
    """
    sut.limit_time_scale(1)
    receiver = Receiver(peer, sut)
    sent = [receiver.send()]
    receiver.await_last_acknowledgment(1)
    times = []
    for number in range(2, MESSAGE_COUNT + 2):
        known = len(receiver.list_acknowledgments())
        sent.append(receiver.send())
        peer.eventually(
            lambda number=number: (
                read_data_model_element(get_incoming_transfer_of_sequence(receiver), "SequenceNumber") == number
            )
        )
        before = get_incoming_transfer_of_sequence(receiver)
        is_early = before["SequenceNumber"] == number and len(receiver.list_acknowledgments()) == known
        receiver.await_last_acknowledgment(number)
        if is_early:
            times.append(
                [
                    read_data_model_element(one, "LastAccessTime")
                    for one in (before, get_incoming_transfer_of_sequence(receiver))
                ]
            )
        peer.pass_time(SUBSECOND_SEND_TIME_INCREASE_MS)
    peer.inbox.acknowledge()
    if not times:
        raise ConformanceFailure("each OrderAck arrived before LastAccessTime was read")
    judge(
        "MQQB-3.1.5.8.6-08",
        expected=[before for before, _ in times],
        observed=[after for _, after in times],
        case="LastAccessTime after the OrderAcks",
        evidence=[*sent, *receiver.list_acknowledgments()],
    )
