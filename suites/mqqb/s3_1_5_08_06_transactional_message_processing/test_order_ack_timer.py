"""MS-MQQB 3.1.5.8.6 Transactional Message Processing: the Order Ack Send Timer on the sessions of either side."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.expectations import fields
from harness.judging.verdicts import Verdict
from harness.run.marks import covers, malforms
from suites.mqqb.steps.ordering import ORDER_ACK_TIMEOUT_MS, Receiver, read_acknowledged_sequence_position
from suites.mqqb.steps.pinging import STALLED_SUT_REASON
from suites.mqqb.steps.provoking import make_sut_send_message

MESSAGE_INTERVAL_IN_TIMEOUTS = 0.6
"""The time between two messages, as a fraction of OrderAckTimeout."""
GREATEST_TIMER_SPEED_UP = 4
"""The highest factor by which the timers may be accelerated, so that the check can act while a timer runs."""
ORDER_ACK_IN_TIME_OUTCOME = "after OrderAckTimeout"


@malforms("MQMQ-2.2.20.5-16", "MQMQ-2.2.20.5-18")
@covers("MQQB-3.1.5.8.6-02")
def test_message_out_of_sequence_restarts_order_ack_timer(peer, sut, judge):
    """The peer sends message 1 of a sequence and, within OrderAckTimeout, message 5, whose predecessor 4 is missing.
    The SUT sends the OrderAck of message 1 when OrderAckTimeout has passed since message 5.
    """
    sut.limit_time_scale(GREATEST_TIMER_SPEED_UP)
    receiver = Receiver(peer, sut)
    due_ms = sut.duration_ms(ORDER_ACK_TIMEOUT_MS)
    first = receiver.send()
    peer.pass_time(int(due_ms * MESSAGE_INTERVAL_IN_TIMEOUTS))
    second = receiver.send(transaction={"TxSequenceNumber": 5, "PreviousTxSequenceNumber": 4})
    frame = receiver.await_acknowledgment()
    late = peer.measure_duration(first, second).ms > due_ms * 4 // 5
    if late or peer.has_stalled(first.time_ms, peer.recorder.elapsed_ms()):
        judge.give_up(Verdict.NOT_EXERCISED, STALLED_SUT_REASON)
        return
    observed = {
        "TxSequenceNumber of the OrderAck": read_acknowledged_sequence_position(frame).TxSequenceNumber,
        "time of the OrderAck since message 5": peer.measure_duration(second, frame).describe_expiry(
            ORDER_ACK_TIMEOUT_MS, ORDER_ACK_IN_TIME_OUTCOME
        ),
    }
    judge(
        "MQQB-3.1.5.8.6-02",
        expected=fields(
            {
                "TxSequenceNumber of the OrderAck": 1,
                "time of the OrderAck since message 5": ORDER_ACK_IN_TIME_OUTCOME,
            }
        ),
        observed=observed,
        evidence=[first, second, frame],
    )


@covers("MQQB-3.1.5.8.6-03", "MQQB-3.1.5.8.6-04")
def test_order_ack_follows_messages_on_session_of_sut(peer, sut, judge):
    """The SUT opens a session for a message. On this session, the peer sends message 1 and, later, message 2 of a
    sequence. Each time, when OrderAckTimeout has passed, the SUT sends an OrderAck with the number of the message.
    """
    receiver = Receiver(peer, sut)
    receiver.session.close()
    peer.settle()
    known = len(peer.inbox.messages)
    make_sut_send_message(peer, sut, peer.direct_name())
    peer.inbox.wait(lambda frame: frame.connection is not None, known + 1)
    came = peer.inbox.messages[known:]
    if not came or came[0].connection is None or came[0].connection.sut_role != "initiator":
        raise ConformanceFailure("the SUT opened no session for its message")
    receiver.session = peer.inbox.conversation(came[0])
    receiver.session.acknowledge_all()
    for number in (1, 2):
        sent = receiver.send()
        frame = receiver.poll_acknowledgment()
        evidence = [sent, frame]
        acknowledged = "nothing" if frame is None else read_acknowledged_sequence_position(frame).TxSequenceNumber
        judge(
            "MQQB-3.1.5.8.6-04",
            expected=number,
            observed=acknowledged,
            case="TxSequenceNumber of the OrderAck",
            evidence=evidence,
        )
        if frame is None:
            raise ConformanceFailure("no OrderAck arrived for the transactional message")
        judge(
            "MQQB-3.1.5.8.6-03",
            expected=ORDER_ACK_IN_TIME_OUTCOME,
            observed=peer.measure_duration(sent, frame).describe_expiry(
                ORDER_ACK_TIMEOUT_MS, ORDER_ACK_IN_TIME_OUTCOME
            ),
            case="time of the OrderAck",
            evidence=evidence,
        )
    peer.inbox.acknowledge()
