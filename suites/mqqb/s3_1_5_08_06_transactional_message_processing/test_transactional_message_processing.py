"""MS-MQQB 3.1.5.8.6 Transactional Message Processing, with 3.1.1.6.2, 3.1.2.7 and 3.1.6.9, which repeat its demands."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.expectations import fields, holds
from harness.peer.party import NO_CHANGED_FIELDS
from harness.run.marks import covers, malforms, needs, varied
from harness.wire import TxSequenceID
from suites.applications import list_computer_names
from suites.messages import Sequence
from suites.mqqb.steps.disposition import AckClass, AcknowledgingReceiver, get_correlation_id, identifier
from suites.mqqb.steps.ordering import ORDER_ACK_TIMEOUT_MS, Receiver, read_acknowledged_sequence_position

LONGEST_ORDER_ACK_DELAY_MS = 10_000
"""The value of MaximumOrderAckDelay (3.1.3.2), in ms."""
DELAY_JUDGED_AS_UNLIMITED_MS = 9 * LONGEST_ORDER_ACK_DELAY_MS
"""The time in ms after which the check no longer waits for an OrderAck, and judges that its delay has no limit."""
MESSAGE_INTERVAL_IN_TIMEOUTS = 0.6
"""The time between two messages, as a fraction of OrderAckTimeout."""
GREATEST_TIMER_SPEED_UP = 4
"""The highest factor by which the timers may be accelerated, so that the check can act while a timer runs."""
ORDER_ACK_IN_TIME_OUTCOME = "after OrderAckTimeout"
ORDINAL_ABOVE_31_BITS = 0x8000_0001
NUMBERS_AND_ACCEPTANCE_IN_ONE_SEQUENCE = (
    (5, 4, False, "number 5 after 4 as the first message"),
    (2, 0, True, "number 2 without a predecessor as the first message"),
    (2, 0, False, "number 2 without a predecessor again"),
    (2, 1, False, "number 2 after 1 again"),
    (1, 0, False, "number 1 without a predecessor, below the last"),
    (4, 3, False, "number 4 after the missing 3"),
    (3, 2, True, "number 3 after 2"),
    (9, 3, True, "number 9 after 3"),
    (10, 3, True, "number 10 after the earlier 3"),
    (12, 0, True, "number 12 without a predecessor"),
    (12, 11, False, "number 12 again, after the missing 11"),
    (14, 13, False, "number 14 after the missing 13"),
    (256, 12, True, "number 256 after 12"),
    (65_536, 256, True, "number 65536 after 256"),
    (65_537, 65_536, True, "number 65537 after 65536"),
    (257, 256, False, "number 257 after 256, below the last"),
    (0x8000_0000, 65_537, True, "number 0x80000000 after 65537"),
    (0xFFFF_FFFF, 0x8000_0000, True, "number 0xFFFFFFFF after 0x80000000"),
    (1, 0xFFFF_FFFF, False, "number 1 after 0xFFFFFFFF"),
)
"""For each message: TxSequenceNumber, PreviousTxSequenceNumber, whether the message is accepted, and its label."""
NUMBERS_AND_ACCEPTANCE_IN_SEVERAL_SEQUENCES = (
    (0, 2, 1, 0, True, "number 1 of Ordinal 2"),
    (0, 1, 2, 1, False, "number 2 of the earlier Ordinal 1"),
    (0, 3, 2, 1, False, "number 2 of Ordinal 3 without 1"),
    (0, 3, 7, 0, True, "number 7 without a predecessor of Ordinal 3"),
    (0, 3, 7, 0, False, "number 7 without a predecessor of Ordinal 3 again"),
    (0, 2, 8, 0, False, "number 8 without a predecessor of the earlier Ordinal 2"),
    (0, 1, 1, 0, False, "number 1 of the earlier Ordinal 1 again"),
    (1, None, 1, 0, True, "number 1 of a later TimeStamp with Ordinal 1"),
    (0, 15, 1, 0, False, "number 1 of the earlier TimeStamp with Ordinal 15"),
    (1, None, 2, 1, True, "number 2 of the later TimeStamp with Ordinal 1"),
    (1, ORDINAL_ABOVE_31_BITS, 1, 0, True, "number 1 of the later TimeStamp with Ordinal 0x80000001"),
    (1, None, 3, 2, False, "number 3 of the earlier sequence with Ordinal 1"),
)
"""For each message: the seconds that are added to TimeStamp, the Ordinal (None: 1), TxSequenceNumber,
PreviousTxSequenceNumber, whether the message is accepted, and its label.
"""
WAIT_UNTIL_CLOCK_SHOWS_NEW_SECOND_MS = 2_500
"""The time in ms after which a new sequence has a later TimeStamp than all sequences of this check."""
QUEUE_NAME_KINDS = ("direct", pytest.param("private", marks=needs("queue_control")))
PARAMETRIZE_BY_QUEUE_NAME_KIND = pytest.mark.parametrize("name", QUEUE_NAME_KINDS)
MAX_ATTEMPTS = 3
MAX_ATTEMPTS_WITH_SLOW_SUT = 6
"""The number of attempts. The check needs several attempts, because a slow system may process a message and a timer
together.
"""


def _describe_order_ack_time(peer, frame: Frame | None, since: Frame) -> str:
    """Return a description of how long after a message its OrderAck arrived."""
    return (
        "not sent"
        if frame is None
        else peer.measure_duration(since, frame).describe_expiry(ORDER_ACK_TIMEOUT_MS, ORDER_ACK_IN_TIME_OUTCOME)
    )


@malforms("MQMQ-2.2.20.5-16", "MQMQ-2.2.20.5-18")
@covers(
    "MQQB-3.1.5.8.6-01",
    "MQQB-3.1.5.8.6-03",
    "MQQB-3.1.5.8.6-04",
    "MQQB-3.1.1.6.2-06",
    "MQQB-3.1.1.6.2-07",
    "MQQB-3.1.2.7-01",
    "MQQB-3.1.3.2-28",
    "MQQB-3.1.6.9-01",
)
@varied("positive journaling", "negative journaling", "destination", acknowledgments=("none", "of arrival"))
def test_order_ack_is_sent_when_order_ack_send_timer_expires(peer, sut, judge):
    """The peer sends message 1, message 2, and message 2 again, closes its session, and repeats message 2 on a new
    session. Before each message, the peer waits until the Order Ack Send Timer is stopped. Each time, when
    OrderAckTimeout has passed, the SUT sends an OrderAck with the number of that message. Meanwhile, a newer session is
    open.
    """
    receiver = Receiver(peer, sut)
    peer.open_raw()
    for number, on_new_session in ((1, False), (2, False), (2, False), (2, True)):
        if on_new_session:
            receiver.session.close()
            receiver.session = peer.open_raw()
        receiver.sequence.number = number - 1
        # a message without a predecessor is also accepted by a SUT whose new session knows no sequence
        sent = receiver.send(transaction={"PreviousTxSequenceNumber": 0} if on_new_session else NO_CHANGED_FIELDS)
        frame = receiver.poll_acknowledgment()
        when, evidence = _describe_order_ack_time(peer, frame, sent), [sent, frame]
        judge(
            "MQQB-3.1.5.8.6-01",
            "MQQB-3.1.5.8.6-03",
            "MQQB-3.1.1.6.2-06",
            "MQQB-3.1.2.7-01",
            "MQQB-3.1.3.2-28",
            expected=ORDER_ACK_IN_TIME_OUTCOME,
            observed=when,
            case="time of the OrderAck",
            evidence=evidence,
        )
        what = "nothing" if frame is None else read_acknowledged_sequence_position(frame).TxSequenceNumber
        judge(
            "MQQB-3.1.5.8.6-04",
            "MQQB-3.1.1.6.2-07",
            "MQQB-3.1.6.9-01",
            expected=number,
            observed=what,
            case="TxSequenceNumber of the OrderAck",
            evidence=evidence,
        )


@covers(
    "MQQB-3.1.5.8.6-01",
    "MQQB-3.1.5.8.6-02",
    "MQQB-3.1.1.6.2-04",
    "MQQB-3.1.1.6.2-05",
    "MQQB-3.1.3.2-30",
    "MQQB-3.1.3.2-31",
)
def test_further_messages_delay_order_ack_until_maximum_delay(peer, sut, judge):
    """The peer sends two messages within OrderAckTimeout. The SUT sends one OrderAck when OrderAckTimeout has passed
    since the second message. While messages keep arriving, the SUT still sends an OrderAck within MaximumOrderAckDelay.
    Afterwards, two messages again cause one OrderAck. An older session is open.
    """
    sut.limit_time_scale(GREATEST_TIMER_SPEED_UP)
    peer.open_raw()
    receiver = Receiver(peer, sut)
    gap_ms = int(sut.duration_ms(ORDER_ACK_TIMEOUT_MS) * MESSAGE_INTERVAL_IN_TIMEOUTS)
    _judge_order_ack_of_two_messages_within_timeout(
        receiver, judge, gap_ms, ("MQQB-3.1.5.8.6-02", "MQQB-3.1.1.6.2-05", "MQQB-3.1.3.2-31")
    )

    known, begun_ms = len(receiver.list_acknowledgments()), peer.recorder.elapsed_ms()
    expected = holds("an OrderAck arrived while messages were being sent")
    for rules, longest_ms in (
        (["MQQB-3.1.3.2-30"], LONGEST_ORDER_ACK_DELAY_MS),
        (["MQQB-3.1.5.8.6-01", "MQQB-3.1.1.6.2-04"], DELAY_JUDGED_AS_UNLIMITED_MS),
    ):
        latest_ms = sut.duration_ms(longest_ms + ORDER_ACK_TIMEOUT_MS) + sut.slack_ms(longest_ms) + 1_000
        while len(receiver.list_acknowledgments()) == known and peer.measure_duration(begun_ms).ms < latest_ms:
            sent = [receiver.send()]
            peer.pass_time(gap_ms)
        acks = receiver.list_acknowledgments()[known:]
        came = bool(acks) or f"not acknowledged in {peer.measure_duration(begun_ms).ms} ms"
        judge(*rules, expected=expected, observed=came, evidence=[*sent, *acks])
    receiver.await_last_acknowledgment(sent[-1]["TransactionHeader"].TxSequenceNumber)
    _judge_order_ack_of_two_messages_within_timeout(receiver, judge, gap_ms, ("MQQB-3.1.1.6.2-04", "MQQB-3.1.1.6.2-05"))


def _judge_order_ack_of_two_messages_within_timeout(
    receiver: Receiver, judge, gap_ms: int, rules: tuple[str, ...]
) -> None:
    """Send two messages within OrderAckTimeout; judge that one OrderAck follows when OrderAckTimeout has passed since
    the second message.
    """
    for _ in range(MAX_ATTEMPTS_WITH_SLOW_SUT):
        sent = _send_two_messages_within_order_ack_timeout(receiver, gap_ms)
        last = sent[-1]["TransactionHeader"].TxSequenceNumber
        frame = receiver.await_acknowledgment()
        number = read_acknowledged_sequence_position(frame).TxSequenceNumber
        if number == last:
            break
        receiver.await_last_acknowledgment(last)  # a stalled system handles timer and message together
    observed = {
        "TxSequenceNumber of the OrderAck": number,
        "time of the OrderAck since the second message": _describe_order_ack_time(receiver.peer, frame, sent[-1]),
    }
    judge(
        *rules,
        expected=fields(
            {
                "TxSequenceNumber of the OrderAck": last,
                "time of the OrderAck since the second message": ORDER_ACK_IN_TIME_OUTCOME,
            }
        ),
        observed=observed,
        evidence=[*sent, frame],
    )


def _send_two_messages_within_order_ack_timeout(receiver: Receiver, gap_ms: int) -> list[Frame]:
    """Send a second message while the timer of the first message runs; raise ConformanceFailure if the second message
    is sent too late.
    """
    due_ms = receiver.sut.duration_ms(ORDER_ACK_TIMEOUT_MS)
    for _ in range(MAX_ATTEMPTS):
        sent = [receiver.send()]
        receiver.peer.pass_time(gap_ms)
        sent.append(receiver.send())
        if receiver.peer.measure_duration(*sent).ms <= due_ms * 4 // 5:
            return sent
        receiver.await_last_acknowledgment(sent[-1]["TransactionHeader"].TxSequenceNumber)
    raise ConformanceFailure(
        "the tester always sent the second message too late: the timer of the first message had expired"
    )


@malforms("MQMQ-2.2.20.5-16", "MQMQ-2.2.20.5-18")
@covers("MQQB-3.1.5.8.6-09", "MQQB-3.1.1.6.2-03")
def test_order_ack_names_last_message_accepted_in_order(peer, sut, judge):
    """The peer sends six groups of messages: 1, 2 and 4; then 3; then 4; then 2 and 3; then 6; and finally 5, 7 and 6.
    The OrderAck after each group contains the number of the last message in order: 2, 3, 4, 4, 4 and 6.
    """
    receiver = Receiver(peer, sut)
    for given, expected in (((1, 2, 4), 2), ((3,), 3), ((4,), 4), ((2, 3), 4), ((6,), 4), ((5, 7, 6), 6)):
        sent = []
        for number in given:
            receiver.sequence.number = number - 1
            sent.append(receiver.send())
        frame = receiver.await_last_acknowledgment(expected)
        observed = "nothing" if frame is None else read_acknowledged_sequence_position(frame).TxSequenceNumber
        judge.all(
            expected=expected, observed=observed, case="TxSequenceNumber of the OrderAck", evidence=[*sent, frame]
        )


@malforms("MQMQ-2.2.20.5-16", "MQMQ-2.2.20.5-18", "MQMQ-2.2.20.5-19", "MQMQ-2.2.20.5-D03")
@covers("MQQB-3.1.5.8.6-D02", "MQQB-3.1.5.8.6-D03", "MQQB-3.1.5.8.6-09", "MQQB-3.1.5.8-08")
@PARAMETRIZE_BY_QUEUE_NAME_KIND
def test_messages_of_one_sequence_are_accepted_in_order_and_once(peer, second_host, sut, judge, name):
    """After the first message of a sequence to another queue, the peer sends messages of one sequence in order and out
    of order, while a second host has a session. The SUT acknowledges and stores only the messages that are in order,
    each of them once.
    """
    messages = [
        (PositionInSequence(0, 1, number, previous_sequence_number), accepted, what)
        for number, previous_sequence_number, accepted, what in NUMBERS_AND_ACCEPTANCE_IN_ONE_SEQUENCE
    ]
    rules = ("MQQB-3.1.5.8.6-D02", "MQQB-3.1.5.8.6-D03", "MQQB-3.1.5.8.6-09", "MQQB-3.1.5.8-08")
    second_host.open_raw()
    earlier = Sequence(peer)  # its TxSequenceID is lower, as E41.2 demands
    receiver = AcknowledgingReceiver(peer, sut)
    if sut.has("queue_control"):
        other = sut.new_queue("other", transactional=True)
        receiver.send_packet(earlier.message(destination=rf"TCP:{sut.address}\{other}"))
    _judge_accepted_messages(receiver, judge, rules, name, messages)


@malforms("MQMQ-2.2.20.5-16", "MQMQ-2.2.20.5-18")
@covers("MQQB-3.1.5.8.6-D01", "MQQB-3.1.5.8.6-D02", "MQQB-3.1.5.8.6-D04")
@pytest.mark.parametrize("name", [*QUEUE_NAME_KINDS, pytest.param("computer name", marks=needs("receive"))])
def test_message_of_later_sequence_is_accepted_only_from_its_beginning(peer, sut, judge, name):
    """After one message, the peer sends messages of earlier and later sequences. The SUT accepts only the first message
    of a later sequence and the messages that follow it.
    """
    messages = [(PositionInSequence(0, 1, 1, 0), True, "number 1 of Ordinal 1")] + [
        (PositionInSequence(time_increase_s, ordinal, number, previous), accepted, what)
        for time_increase_s, ordinal, number, previous, accepted, what in NUMBERS_AND_ACCEPTANCE_IN_SEVERAL_SEQUENCES
    ]
    rules = ("MQQB-3.1.5.8.6-D01", "MQQB-3.1.5.8.6-D02", "MQQB-3.1.5.8.6-D04")
    _judge_accepted_messages(AcknowledgingReceiver(peer, sut), judge, rules, name, messages)
    peer.pass_time(WAIT_UNTIL_CLOCK_SHOWS_NEW_SECOND_MS)


class PositionInSequence(NamedTuple):
    """The position of a message in a sequence that the peer sends."""

    time_stamp_increase_s: int
    ordinal: int | None
    number: int
    previous_sequence_number: int

    def fields(self, sequence: Sequence) -> dict[str, Any]:
        """Return the fields of TransactionHeader for this position."""
        base = sequence.identifier
        of_base = base.Ordinal - 1 + (self.ordinal or 0)
        ordinal = (
            1 if self.ordinal is None else ORDINAL_ABOVE_31_BITS if self.ordinal == ORDINAL_ABOVE_31_BITS else of_base
        )
        identifier = TxSequenceID(Ordinal=ordinal, TimeStamp=base.TimeStamp + self.time_stamp_increase_s)
        return {
            "TxSequenceID": identifier,
            "TxSequenceNumber": self.number,
            "PreviousTxSequenceNumber": self.previous_sequence_number,
        }


def _judge_accepted_messages(
    receiver: AcknowledgingReceiver,
    judge,
    rules: tuple[str, ...],
    name: str,
    messages: list[tuple[PositionInSequence, bool, str]],
) -> None:
    """Send messages that request acknowledgments of arrival; judge which messages the SUT acknowledges and which are in
    the queue.
    """
    sut = receiver.sut
    user: dict[str, Any] = {}
    if name == "private":
        user = receiver.peer.build_fields_for_private_name_of_sut_queue(sut.queue("transactional"))
    rest: dict[str, Any] = {} if name == "direct" else {"destination": None}
    if name == "computer name":
        computer = next(iter(list_computer_names(sut)), sut.address)
        rest = {"destination": rf"OS:{computer}\{sut.queue('transactional')}"}
    user = receiver.add_admin_queue_fields(user)
    sent = [
        receiver.send(
            user | {"JN": int(not accepted)},
            transaction=position.fields(receiver.sequence),
            label=what,
            properties={"PA": 1},
            **rest,
        )
        for position, accepted, what in messages
    ]
    wanted = [what for _, accepted, what in messages if accepted]
    acks = receiver.await_messages_of_sut(lambda: receiver.list_acks_of_class(AckClass.REACH_QUEUE, *sent), len(wanted))
    label = {identifier(frame): what for frame, (_, _, what) in zip(sent, messages, strict=True)}
    arrived = [label[get_correlation_id(ack)] for ack in acks]
    evidence = [*sent, *acks]
    judge(
        *rules,
        expected=sorted(wanted),
        observed=sorted(arrived),
        case="positions of the acknowledged messages",
        evidence=evidence,
    )
    if sut.has("receive"):
        there = [what for what in sut.labels(sut.queue("transactional")) if what in label.values()]
        judge(*rules, expected=wanted, observed=there, case="positions of the messages in the queue", evidence=evidence)
    receiver.acknowledge_all()
