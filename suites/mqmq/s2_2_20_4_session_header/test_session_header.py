"""MS-MQMQ 2.2.20.4 SessionHeader."""

from __future__ import annotations

import struct
from itertools import pairwise

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import between, facts, fields
from harness.peer.timeouts import ACK_TIMEOUT_MS, RECOVERABLE_ACK_MS
from harness.run.marks import covers, malforms, needs, sut_survives, varied
from harness.wire import session_ack
from suites.mqqb.steps.disposition import AcknowledgingReceiver, get_correlation_id, identifier
from suites.mqqb.steps.exchanges import exchange_message
from suites.mqqb.steps.opening import (
    accept_establish_request,
    listen_for_connection,
    respond_to_parameters,
    respond_to_request,
)
from suites.mqqb.steps.sender import Sender

WINDOW_SIZE = 0x40
BYTES_BEFORE_SESSION_HEADER = 20
"""The size in bytes of a SessionAck before its SessionHeader."""
COMPARED_SESSION_HEADER_BYTES = 12
"""The size in bytes of the SessionHeader before WindowSize; the SUT chooses the value of WindowSize."""
SAME_TIME_TOLERANCE_MS = 8_000
"""The RecoverableAckTimeout of the checks: long enough for one SessionAck to acknowledge several messages."""
MAX_ATTEMPTS = 3
MESSAGES_BEFORE_AWAITED_SESSION_ACK = 30
"""The number of messages that the check sends before it waits for one SessionAck; it is below every window size."""
ACKNOWLEDGED_FLAG_COUNT = 20
HIGHEST_TIMER_ACCELERATION = 20
"""The highest time scale of timers for checks that act while a timer runs."""


def send_and_await_ack(connection, packets, specified_ms):
    """Send messages and wait for the next SessionAck; return the frames of the messages and of the SessionAck, and the
    SessionHeader.
    """
    sut = connection.peer.sut
    sent = [connection.send(packet) for packet in packets]
    within_ms = sut.duration_ms(specified_ms) + sut.slack_ms(specified_ms) + sut.response_timeout_ms
    answer = connection.poll("SessionAck", within_ms=within_ms)
    if answer is None:
        raise ConformanceFailure(f"the SUT acknowledged none of {len(sent)} messages: {connection.outcome()}")
    return [*sent, answer], answer["SessionHeader"]


@covers(
    "MQMQ-2.2.20.4-01",
    "MQMQ-2.2.20.4-02",
    "MQMQ-2.2.20.4-03",
    "MQMQ-2.2.20.4-05",
    "MQMQ-2.2.20.4-07",
    "MQMQ-2.2.20.4-09",
    "MQMQ-2.2.20.4-11",
    "MQMQ-2.2.20.4-12",
)
@varied("destination", priority=("3", "7"), body=("short", "5,000 bytes"))
def test_session_ack_counts_express_messages(peer, sut, judge):
    """Express messages arrive in groups of 1, 1 and 3. AckSequenceNumber is 1, then 2, then 5, and the fields for
    recoverable messages are 0. On a second session, AckSequenceNumber is 1 after one message.
    """
    sut.limit_time_scale(HIGHEST_TIMER_ACCELERATION)
    connection = peer.open_raw()
    counts, evidence = [], []
    for group in (1, 1, 3):
        frames, header = send_and_await_ack(connection, [peer.message() for _ in range(group)], ACK_TIMEOUT_MS // 2)
        counts.append(header.AckSequenceNumber)
        evidence = frames
        judge(
            "MQMQ-2.2.20.4-07",
            expected=0,
            case="RecoverableMsgAckSeqNumber",
            observed=header.RecoverableMsgAckSeqNumber,
            evidence=frames,
        )
        judge(
            "MQMQ-2.2.20.4-09",
            expected=0,
            case="UserMsgSequenceNumber",
            observed=header.UserMsgSequenceNumber,
            evidence=frames,
        )
        judge(
            "MQMQ-2.2.20.4-11",
            expected=0,
            case="RecoverableMsgSeqNumber",
            observed=header.RecoverableMsgSeqNumber,
            evidence=frames,
        )
        judge("MQMQ-2.2.20.4-12", expected=WINDOW_SIZE, case="WindowSize", observed=header.WindowSize, evidence=frames)
        judge(
            "MQMQ-2.2.20.4-05",
            expected=sum((1, 1, 3)[: len(counts)]),
            case="AckSequenceNumber",
            observed=counts[-1],
            evidence=frames,
        )
    judge("MQMQ-2.2.20.4-01", expected=5, case="AckSequenceNumber", observed=counts[-1], evidence=evidence)
    judge(
        "MQMQ-2.2.20.4-02",
        expected=[1, 2, 5],
        case="AckSequenceNumber after each group of messages",
        observed=counts,
        evidence=evidence,
    )
    judge(
        "MQMQ-2.2.20.4-03",
        expected=[1, 1, 3],
        case="increases of AckSequenceNumber",
        observed=_list_increases_of_user_msg_counts(counts),
        evidence=evidence,
    )
    connection.close()
    frames, header = send_and_await_ack(peer.open_raw(), [peer.message()], ACK_TIMEOUT_MS // 2)
    judge(
        "MQMQ-2.2.20.4-01",
        "MQMQ-2.2.20.4-03",
        expected=1,
        case="AckSequenceNumber on the second session",
        observed=header.AckSequenceNumber,
        evidence=frames,
    )


def make_ack_sequence_number_condition(count):
    """Return a condition that is true for a SessionAck with the given AckSequenceNumber."""
    return lambda frame: frame["SessionHeader"].AckSequenceNumber == count


@covers("MQMQ-2.2.20.4-05")
def test_session_ack_counts_more_than_256_messages(peer, sut, judge):
    """Groups of 30 messages arrive until more than 256 have arrived: the AckSequenceNumber after each group is the
    total number of messages.
    """
    connection = peer.open_raw()
    within_ms = sut.duration_ms(RECOVERABLE_ACK_MS) + sut.slack_ms(RECOVERABLE_ACK_MS) + sut.response_timeout_ms
    for count in range(
        MESSAGES_BEFORE_AWAITED_SESSION_ACK,
        256 + 2 * MESSAGES_BEFORE_AWAITED_SESSION_ACK,
        MESSAGES_BEFORE_AWAITED_SESSION_ACK,
    ):
        packets = [peer.message() for _ in range(MESSAGES_BEFORE_AWAITED_SESSION_ACK - 1)] + [
            peer.recoverable_message()
        ]
        sent = [connection.send(packet) for packet in packets]
        connection.poll("SessionAck", make_ack_sequence_number_condition(count), within_ms=within_ms)
        last = next((one for one in reversed(connection.received) if one.kind == "SessionAck"), None)
        if last is None:
            raise ConformanceFailure(f"the SUT acknowledged none of {count} messages: {connection.outcome()}")
        counted = last["SessionHeader"].AckSequenceNumber
        judge("MQMQ-2.2.20.4-05", expected=count, case="AckSequenceNumber", observed=counted, evidence=[sent[-1], last])


@covers("MQMQ-2.2.20.4-04", "MQMQ-2.2.20.4-06", "MQMQ-2.2.20.4-08")
@varied("priority", "extension", "correlation", "label", "body", "destination")
def test_session_ack_counts_recoverable_messages_separately(peer, sut, judge):
    """Express and recoverable messages arrive. RecoverableMsgAckSeqNumber is the number of the first unacknowledged
    recoverable message. RecoverableMsgAckFlags has one bit for each recoverable message, beginning with the message of
    that number.
    """
    sut.limit_time_scale(HIGHEST_TIMER_ACCELERATION)
    connection = peer.open_raw(RecoverableAckTimeout=SAME_TIME_TOLERANCE_MS)
    first, header = send_and_await_ack(
        connection, [peer.message(), *(peer.recoverable_message() for _ in range(3))], SAME_TIME_TOLERANCE_MS
    )
    judge(
        "MQMQ-2.2.20.4-06",
        expected=1,
        case="RecoverableMsgAckSeqNumber",
        observed=header.RecoverableMsgAckSeqNumber,
        evidence=first,
    )
    judge("MQMQ-2.2.20.4-08", expected=fields(RecoverableMsgAckFlags=0b111), observed=header, evidence=first)
    second, header = send_and_await_ack(
        connection, [peer.recoverable_message() for _ in range(2)], SAME_TIME_TOLERANCE_MS
    )
    judge(
        "MQMQ-2.2.20.4-06",
        expected=4,
        case="RecoverableMsgAckSeqNumber",
        observed=header.RecoverableMsgAckSeqNumber,
        evidence=second,
    )
    judge("MQMQ-2.2.20.4-08", expected=fields(RecoverableMsgAckFlags=0b11), observed=header, evidence=second)
    expected = fields(RecoverableMsgAckSeqNumber=4, AckSequenceNumber=6)
    judge("MQMQ-2.2.20.4-04", expected=expected, observed=header, evidence=[*first, *second])


@needs("send")
@covers("MQMQ-2.2.20.4-01", "MQMQ-2.2.20.4-04", "MQMQ-2.2.20.4-09", "MQMQ-2.2.20.4-10")
@varied("priority", "application tag", "extension", "correlation", "trace", "destination")
def test_session_ack_counts_messages_sent(peer, sut, judge):
    """The SUT sends three messages, one of them recoverable, and acknowledges a message of the peer:
    UserMsgSequenceNumber is 3, and RecoverableMsgSeqNumber is 1.
    """
    listener = listen_for_connection(peer, sut)
    connection, asked = accept_establish_request(listener)
    respond_to_parameters(connection, respond_to_request(connection, asked))
    sut.send(peer.direct_name(), body="second", delivery="recoverable")
    sut.send(peer.direct_name(), body="third", delivery="express")
    for _ in range(2):
        connection.expect("UserMessage")
    frames, header = send_and_await_ack(connection, [peer.recoverable_message()], ACK_TIMEOUT_MS // 2)
    judge(
        "MQMQ-2.2.20.4-01",
        expected=3,
        case="UserMsgSequenceNumber",
        observed=header.UserMsgSequenceNumber,
        evidence=frames,
    )
    judge(
        "MQMQ-2.2.20.4-09",
        expected=3,
        case="UserMsgSequenceNumber",
        observed=header.UserMsgSequenceNumber,
        evidence=frames,
    )
    judge(
        "MQMQ-2.2.20.4-04",
        expected=1,
        case="RecoverableMsgSeqNumber",
        observed=header.RecoverableMsgSeqNumber,
        evidence=frames,
    )
    judge(
        "MQMQ-2.2.20.4-10",
        expected=1,
        case="RecoverableMsgSeqNumber",
        observed=header.RecoverableMsgSeqNumber,
        evidence=frames,
    )
    connection.send(
        session_ack(
            AckSequenceNumber=3,
            RecoverableMsgAckSeqNumber=1,
            RecoverableMsgAckFlags=1,
            UserMsgSequenceNumber=1,
            RecoverableMsgSeqNumber=1,
        )
    )


@covers("MQMQ-2.2.20.4-08", "MQMQ-2.2.20.4-D01", "MQMQ-2.2.20.4-D02")
@pytest.mark.parametrize(("express", "recoverable"), [(2, 3), (0, 1), (1, 32)])
@varied("time to reach queue", "destination", priority=("3", "0"))
def test_session_ack_has_fields_in_place(peer, sut, judge, express, recoverable):
    """Express and recoverable messages arrive. The bytes of the SessionHeader are those of a header with the expected
    counts and flags.
    """
    sut.limit_time_scale(HIGHEST_TIMER_ACCELERATION)
    count, bits = express + recoverable, (1 << recoverable) - 1
    for _ in range(MAX_ATTEMPTS):
        connection = peer.open_raw(RecoverableAckTimeout=SAME_TIME_TOLERANCE_MS)
        packets = [peer.message() for _ in range(express)] + [peer.recoverable_message() for _ in range(recoverable)]
        frames, header = send_and_await_ack(connection, packets, SAME_TIME_TOLERANCE_MS)
        if header.AckSequenceNumber >= count:
            break
        connection.close()  # a slow SUT acknowledged some of them before the others arrived
    else:
        raise ConformanceFailure(
            f"the first SessionAck acknowledges only {header.AckSequenceNumber} of {count} messages"
        )
    counts = struct.pack("<HHIHH", count, 1, bits, 0, 0).hex(" ")
    where = (
        frames[-1]
        .data[BYTES_BEFORE_SESSION_HEADER : BYTES_BEFORE_SESSION_HEADER + COMPARED_SESSION_HEADER_BYTES]
        .hex(" ")
    )
    judge(
        "MQMQ-2.2.20.4-D01",
        expected=counts,
        case="bytes of the SessionHeader before WindowSize",
        observed=where,
        evidence=frames,
    )
    rest = frames[-1].data[BYTES_BEFORE_SESSION_HEADER + COMPARED_SESSION_HEADER_BYTES :]
    judge(
        "MQMQ-2.2.20.4-D01",
        expected=facts(bytes_after_RecoverableMsgSeqNumber=4, WindowSize=between(1, 0xFFFF)),
        case="end of the SessionHeader",
        observed={
            "bytes_after_RecoverableMsgSeqNumber": len(rest),
            "WindowSize": int.from_bytes(rest[:2], "little"),
        },
        evidence=frames,
    )
    flags = fields(RecoverableMsgAckSeqNumber=1, RecoverableMsgAckFlags=bits)
    judge("MQMQ-2.2.20.4-08", "MQMQ-2.2.20.4-D02", expected=flags, observed=header, evidence=frames)


@covers("MQMQ-2.2.20.4-07")
@varied("priority", "extension", "correlation", "body", "destination", "queue quota")
def test_recoverable_message_is_acknowledged_once(peer, sut, judge):
    """One recoverable message is acknowledged; then two express messages and a second recoverable message arrive.
    RecoverableMsgAckSeqNumber is 0 in the SessionAcks of the express messages, and 2 in the SessionAck of the second
    recoverable message.
    """
    sut.limit_time_scale(HIGHEST_TIMER_ACCELERATION)
    connection = peer.open_raw()
    evidence, _ = send_and_await_ack(connection, [peer.recoverable_message()], ACK_TIMEOUT_MS // 2)
    for _ in range(2):
        frames, header = send_and_await_ack(connection, [peer.message()], ACK_TIMEOUT_MS // 2)
        evidence = [*evidence, *frames]
        judge(
            "MQMQ-2.2.20.4-07",
            expected=0,
            case="RecoverableMsgAckSeqNumber",
            observed=header.RecoverableMsgAckSeqNumber,
            evidence=evidence,
        )
    frames, header = send_and_await_ack(connection, [peer.recoverable_message()], ACK_TIMEOUT_MS // 2)
    judge(
        "MQMQ-2.2.20.4-07",
        expected=2,
        case="RecoverableMsgAckSeqNumber",
        observed=header.RecoverableMsgAckSeqNumber,
        evidence=[*evidence, *frames],
    )


@covers("MQMQ-2.2.20.4-D03")
@pytest.mark.parametrize("error", [1, 0x7FFF, -1, 0x8000, 0xFFFD])
@varied("negative journaling", "destination", priority=("3", "0"))
def test_wrong_user_msg_sequence_number_closes_session(peer, sut, judge, error):
    """Two messages with a SessionHeader arrive, and UserMsgSequenceNumber in the second is wrong. The SUT acknowledges
    the arrival of both messages, and closes the session.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    session = receiver.session
    sent = [receiver.send_packet(receiver.build_message(properties={"PA": 1}, session={"UserMsgSequenceNumber": 1}))]
    receiver.await_acks(1)
    if session.closed_by_sut:
        raise ConformanceFailure("the SUT closed the session after a correct UserMsgSequenceNumber")
    wrong = {"UserMsgSequenceNumber": 2 + error}
    sent.append(receiver.send_packet(receiver.build_message(properties={"PA": 1}, session=wrong)))
    closed = session.wait_closed()
    came = receiver.await_acks(2)
    answered = {get_correlation_id(frame) for frame in came}
    right_count, wrong_count = (identifier(frame) in answered for frame in sent)
    observed = {
        "message_with_the_right_count_is_acknowledged": right_count,
        "message_with_the_wrong_count_is_acknowledged": wrong_count,
        "session_is_closed": closed,
    }
    expected = facts(
        message_with_the_right_count_is_acknowledged=True,
        message_with_the_wrong_count_is_acknowledged=True,
        session_is_closed=True,
    )
    judge.all(expected=expected, observed=observed, evidence=[*sent, *came])


@needs("send", "queue_control")
@covers("MQMQ-2.2.20.4-D02")
def test_high_flags_acknowledge_messages_of_sut(peer, sut, judge):
    """The SUT sends 20 recoverable messages, and the peer acknowledges them with 20 flags. Afterwards, the outgoing
    queue contains no message.
    """
    sender = Sender(peer, sut, peer.direct_name("mqc-flags"))
    sender.send(*range(1, ACKNOWLEDGED_FLAG_COUNT + 1), delivery="recoverable")
    session, frames = sender.await_first_messages(ACKNOWLEDGED_FLAG_COUNT)
    flags = (1 << ACKNOWLEDGED_FLAG_COUNT) - 1
    ack = session.send(
        session_ack(
            AckSequenceNumber=ACKNOWLEDGED_FLAG_COUNT, RecoverableMsgAckSeqNumber=1, RecoverableMsgAckFlags=flags
        )
    )
    peer.eventually(lambda: not sut.outgoing_queue(sender.to)["count"])
    judge.all(
        expected=0,
        case="messages in the outgoing queue",
        observed=sut.outgoing_queue(sender.to)["count"],
        evidence=[*frames, ack],
    )


@sut_survives()
@covers("MQMQ-2.2.20.4-13")
def test_any_reserved_of_session_header_is_accepted(peer, judge):
    """The peer sends a SessionAck with a nonzero SessionHeader.Reserved. The SUT sends the same answer as to a
    SessionAck with Reserved 0.
    """
    done = exchange_message(peer, session={"Reserved": 0xBEEF})
    judge("MQMQ-2.2.20.4-13", expected=done.ALL_ANSWERED_EXPECTATION, observed=done.outcome, evidence=done.evidence)


@malforms("MQQB-3.1.6.4-06")
@covers("MQMQ-2.2.20.4-13")
@pytest.mark.parametrize("reserved", [0x0001, 0x8000, 0xFFFF])
@pytest.mark.parametrize("kind", ["SessionAck", "UserMessage"])
def test_session_header_is_processed_with_any_reserved(peer, judge, kind, reserved):
    """A SessionHeader with a nonzero Reserved and a correct count arrives, and then a SessionHeader with a wrong count;
    both are in SessionAcks or both in UserMessages. The SUT closes the session only after the second SessionHeader.
    """
    session, sent, outcomes = peer.open_raw(), [], []
    for number, error in ((1, 0), (2, 1)):
        header = {"Reserved": reserved, "UserMsgSequenceNumber": number + error}
        if kind == "UserMessage":
            packets = [peer.message(session=header)]
        else:
            packets = [peer.message(), session.build_session_ack(**header)]
        sent += [session.send(packet) for packet in packets]
        if not error:
            session.await_session_ack(number)
        outcomes.append(session.wait_closed() if error else session.closed_by_sut)
    judge.all(
        expected=facts(correct_count_closes_the_session=False, wrong_count_closes_the_session=True),
        observed={"correct_count_closes_the_session": outcomes[0], "wrong_count_closes_the_session": outcomes[1]},
        evidence=sent,
    )


def _list_increases_of_user_msg_counts(counts):
    """Return by how much each count exceeds the previous count; the first count is compared with 0."""
    return [after - before for before, after in pairwise([0, *counts])]
