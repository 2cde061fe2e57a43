"""MS-MQMQ 2.2.19.1 BaseHeader: the layout of the header in each kind of packet, and the limits of the values in it."""

from __future__ import annotations

from itertools import product

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import fields, holds
from harness.peer.timeouts import ACK_TIMEOUT_MS
from harness.run.marks import covers, needs, varied
from harness.sut.control import ControlRefused
from suites.messages import Sequence
from suites.mqmq.steps.layout import Layout
from suites.mqmq.steps.outgoing import MessagesSentBySut
from suites.mqqb.steps.exchanges import deliver_message, exchange_message
from suites.whole_messages import UNCHANGED_PROPERTIES_OUTCOME, describe_differences

INFINITE_LIFETIME_S = 0xFFFF_FFFF
LARGEST_PACKET_BYTES = 0x0040_0000
MESSAGE_PRIORITIES = range(8)
DEFAULT_PRIORITY = 3
MESSAGE_LIFETIME_S = 0x0102_0304
OLD_MESSAGE_AGE_S = 3_600
TEN_YEARS_S = 10 * 365 * 86_400


@covers("MQMQ-2.2.19.1-D01")
def test_internal_packets_have_fields_of_base_header_in_place(peer, judge):
    """The SUT answers the setup of a session and acknowledges a message. In each of its three packets, every field of
    the BaseHeader is at the specified offset.
    """
    done = exchange_message(peer)
    for number, (size, has_session_header) in enumerate(((572, 0), (32, 0), (None, 1))):
        frame = done.answers[number] if number < len(done.answers) else None
        if frame is None:
            raise ConformanceFailure(f"the SUT does not send all three packets: {done.outcome}")
        wanted = {
            "BaseHeader.VersionNumber": 0x10,
            "BaseHeader.Flags.IN": 1,
            "BaseHeader.Flags.SH": has_session_header,
            "BaseHeader.Flags.DH": 0,
            "BaseHeader.Flags.TR": 0,
            "BaseHeader.Signature": 0x524F_494C,
            "BaseHeader.TimeToReachQueue": INFINITE_LIFETIME_S,
        }
        if size is not None:  # PacketSize of a SessionAck: E01
            wanted["BaseHeader.PacketSize"] = size
        judge("MQMQ-2.2.19.1-D01", expected=fields(wanted), observed=Layout(frame), evidence=frame)


@needs("send")
@covers("MQMQ-2.2.19.1-D01", "MQMQ-2.2.19.1-D02", "MQDMPR-3.1.1.12-D48")
def test_sent_message_has_priority_of_application_or_3(peer, sut, judge):
    """The SUT sends messages of each priority and a message without a priority. Flags.PR is the requested priority, or
    3 if no priority was requested.
    """
    outgoing = MessagesSentBySut(peer, sut)
    for delivery, priority in product(("express", "recoverable"), (*MESSAGE_PRIORITIES, None)):
        given = {} if priority is None else {"priority": priority}
        try:
            frame = outgoing.send(body="b", delivery=delivery, **given)
        except ControlRefused as refused:
            judge(
                "MQMQ-2.2.19.1-D02",
                "MQDMPR-3.1.1.12-D48",
                expected=holds(f"priority {priority} is sent"),
                observed=f"refused: {refused}",
            )
            continue
        wanted = {
            "BaseHeader.VersionNumber": 0x10,
            "BaseHeader.Flags.PR": DEFAULT_PRIORITY if priority is None else priority,
            "BaseHeader.Flags.IN": 0,
            "BaseHeader.Flags.DH": 0,
            "BaseHeader.Flags.TR": 0,
            "BaseHeader.Signature": 0x524F_494C,
        }
        observed = Layout(frame)
        judge("MQMQ-2.2.19.1-D01", expected=fields(wanted), observed=observed, evidence=frame)
        name = "BaseHeader.Flags.PR"
        judge(
            "MQMQ-2.2.19.1-D02",
            "MQDMPR-3.1.1.12-D48",
            expected=fields({name: wanted[name]}),
            observed=observed,
            evidence=frame,
        )
    outgoing.end()


@needs("receive")
@covers("MQMQ-2.2.19.1-D02", "MQDMPR-3.1.1.12-D48", "MQMQ-2.2.19.1-03")
@varied("application tag", "extension", "correlation", acknowledgments=("none", "of arrival"))
def test_two_messages_of_each_priority_are_in_queue_by_priority(peer, sut, judge):
    """Two messages of each priority arrive. The queue orders them from priority 7 to 0, and messages of the same
    priority by arrival. After a restart, they are received in this order.
    """
    connection = peer.open_raw()
    order = (3, 0, 7, 5, 1, 6, 2, 4)
    packets = [
        peer.recoverable_message(base={"PR": priority}, label=f"{turn} with priority {priority}")
        for turn in "ab"
        for priority in order
    ]
    sent = [connection.send(packet) for packet in packets]
    connection.require_session_ack_for_message()
    wanted = [f"{turn} with priority {priority}" for priority in reversed(MESSAGE_PRIORITIES) for turn in "ab"]
    labels = [message["label"] for message in sut.messages() if message["label"] in wanted]
    judge.all(expected=wanted, case="labels in the queue", observed=labels, evidence=sent)
    if sut.has("restart"):
        sut.restart()
    received = [sut.read_label("receive", queue=sut.queue()) for _ in sut.messages()]
    judge.all(
        expected=wanted,
        case="labels of the received messages",
        observed=[label for label in received if label in wanted],
        evidence=sent,
    )


@covers("MQMQ-2.2.19.1-D03", "MQMQ-2.2.20-D01")
def test_message_of_maximum_packet_size_is_accepted(peer, sut, judge):
    """A message that arrives in four pieces of the byte stream is acknowledged. A message with PacketSize 0x00400000 is
    in its queue as it was sent.
    """
    connection = peer.open_raw()
    data = bytes(peer.recoverable_message(label="in pieces"))
    pieces = [connection.send(piece) for piece in (data[:5], data[5:18], data[18:60], data[60:])]
    answer = connection.poll("SessionAck", within_ms=sut.duration_ms(ACK_TIMEOUT_MS) + sut.slack_ms(ACK_TIMEOUT_MS))
    observed = connection.outcome() if answer is None else answer.kind
    judge(
        "MQMQ-2.2.20-D01",
        expected="SessionAck",
        case="answer of the SUT",
        observed=observed,
        evidence=[*pieces, answer],
    )
    empty = len(bytes(peer.recoverable_message(label="largest", body=b"")))
    body = bytes(range(256)) * (LARGEST_PACKET_BYTES // 256)
    packet = peer.recoverable_message(label="largest", body=body[: LARGEST_PACKET_BYTES - empty])
    _check_largest_packet_size(packet)
    done = deliver_message(peer, packet, "largest")
    judge(
        "MQMQ-2.2.19.1-D03", expected=done.accepted_outcome, observed=done.outcome, evidence=done.frames, case="message"
    )
    expected, observed = done.accepted_outcome, done.outcome
    if sut.has("receive"):
        found = next((one for one in sut.messages() if one["label"] == "largest"), None)
        expected, observed = UNCHANGED_PROPERTIES_OUTCOME, describe_differences(done.frames[0], found, sut.guid)
    judge("MQMQ-2.2.20-D01", expected=expected, observed=observed, evidence=done.frames)


def _check_largest_packet_size(packet):
    if len(bytes(packet)) != LARGEST_PACKET_BYTES:
        raise ConformanceFailure(
            f"the message of the tester has {len(bytes(packet))} bytes instead of {LARGEST_PACKET_BYTES}"
        )


@covers("MQMQ-2.2.19.1-D03")
def test_transactional_message_of_maximum_packet_size_is_accepted(peer, judge):
    """A transactional message with PacketSize 0x00400000 arrives. The SUT acknowledges the message and puts it into its
    queue.
    """
    empty = len(bytes(Sequence(peer, 2).message(label="largest in sequence", body=b"")))
    packet = Sequence(peer).message(label="largest in sequence", body=bytes(LARGEST_PACKET_BYTES - empty))
    _check_largest_packet_size(packet)
    done = deliver_message(peer, packet, "largest in sequence", "transactional")
    judge(
        "MQMQ-2.2.19.1-D03", expected=done.accepted_outcome, observed=done.outcome, evidence=done.frames, case="message"
    )


@needs("receive")
@covers("MQMQ-2.2.19.1-D03")
def test_message_of_maximum_packet_size_with_session_header_is_accepted(peer, sut, judge):
    """A small message and a message with PacketSize 0x00400000 arrive on two sessions. Both contain a SessionHeader,
    which PacketSize does not count. Both messages are in the queue.
    """
    header = {"UserMsgSequenceNumber": 1}
    empty = len(bytes(peer.message(label="largest with header", body=b"")))
    packet = peer.message(label="largest with header", body=bytes(LARGEST_PACKET_BYTES - empty), session=header)
    sent = []
    for one in (peer.message(label="small with header", session=header), packet):
        connection = peer.open_raw()
        sent.append(connection.send(one))
        connection.request_acknowledgment()
    labels = [one["label"] for one in sut.messages() if one["label"].endswith("with header")]
    if "small with header" not in labels:
        raise ConformanceFailure("the SUT did not accept a small message with a SessionHeader")
    judge(
        "MQMQ-2.2.19.1-D03",
        expected=["small with header", "largest with header"],
        case="labels in the queue",
        observed=labels,
        evidence=sent,
    )


@needs("send")
@covers("MQMQ-2.2.19.1-D04", "MQMQ-2.2.18-D01")
@varied("priority", "positive journaling", "application tag", "trace", "label")
def test_sent_message_has_time_to_reach_queue_in_seconds(peer, sut, judge):
    """The SUT sends express and transactional messages with several time limits. TimeToReachQueue of each packet is its
    limit in seconds.
    """
    outgoing = MessagesSentBySut(peer, sut)
    for limit_s, delivery in ((MESSAGE_LIFETIME_S, "express"), (86_400, "express"), (7_200, "transactional")):
        frame = outgoing.send(body="in time", time_to_reach_queue_s=limit_s, delivery=delivery)
        judge.all(expected=fields({"BaseHeader.TimeToReachQueue": limit_s}), observed=Layout(frame), evidence=frame)
    outgoing.end()


@needs("receive")
@covers("MQMQ-2.2.19.1-D04", "MQMQ-2.2.19.1-23", "MQMQ-2.2.19.1-24", "MQDMPR-3.1.1.12-D52")
@pytest.mark.parametrize("delivery", ["express", "recoverable", "transactional"])
@varied("extension", "correlation", acknowledgments=("none", "of receipt"))
def test_time_to_reach_queue_counts_seconds_from_sent_time(peer, sut, judge, delivery):
    """Messages with a past SentTime arrive. Messages with time left or an infinite TimeToReachQueue are in the queue,
    and expired messages are not. In virtual time, in which no time passes during the transfer, a message whose age
    equals its TimeToReachQueue is in the queue, and a message that is one second older is not.
    """
    now = peer.environment.now().utc_s
    cases = {
        "message with half of its time left": (OLD_MESSAGE_AGE_S, 2 * OLD_MESSAGE_AGE_S, True),
        "message that expired": (OLD_MESSAGE_AGE_S, OLD_MESSAGE_AGE_S // 2, False),
        "message with TimeToReachQueue 0": (OLD_MESSAGE_AGE_S, 0, False),
        "message with the longest finite time": (OLD_MESSAGE_AGE_S, INFINITE_LIFETIME_S - 1, True),
        "message with infinite time": (TEN_YEARS_S, INFINITE_LIFETIME_S, True),
        "message with a time of 36 hours, whose low 16 bits are 1": (OLD_MESSAGE_AGE_S, 0x2_0001, True),
    }
    if peer.environment.is_time_virtual:
        cases |= {
            "message that expires now": (OLD_MESSAGE_AGE_S, OLD_MESSAGE_AGE_S, True),
            "message that expired a second ago": (OLD_MESSAGE_AGE_S, OLD_MESSAGE_AGE_S - 1, False),
        }
    connection = peer.open_raw()
    queue = "transactional" if delivery == "transactional" else "plain"

    def build_message(label, ago_s, limit_s):
        user = {"SentTime": now - ago_s, "DM": int(delivery != "express")}
        make = Sequence(peer).message if delivery == "transactional" else peer.message
        return make(user, base={"TimeToReachQueue": limit_s}, label=label)

    sent = [connection.send(build_message(label, ago_s, limit_s)) for label, (ago_s, limit_s, _) in cases.items()]
    connection.require_session_ack_for_message()
    labels = sorted(message["label"] for message in sut.messages(queue) if message["label"] in cases)
    expected = sorted(label for label, (_, _, arrives) in cases.items() if arrives)
    judge.all(expected=expected, case="messages in the queue", observed=labels, evidence=sent)
