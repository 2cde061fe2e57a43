"""MS-MQQP 2.2.2.1 REMOTEREADDESC: ignored fields, and the fields that the server sets."""

from __future__ import annotations

from typing import Any

import pytest

from harness.expectations import any_order, between, each, facts, in_queue
from harness.peer.association import Call
from harness.peer.remote import RemoteQueue
from harness.run.marks import covers, needs, sut_survives
from harness.wire.rpc_qm2qm import INFINITE_TIMEOUT_MS, MAX_BUFFER_BYTES, Action, Method
from suites.messages import Sequence
from suites.mqqp.steps.reading import read_sizes_of_response
from suites.mqqp.steps.whole import UnchangedMessageExpectation

pytestmark = needs("qm2qm")

MS_PER_HOUR = 3_600_000
LONG_READ_TIMEOUT_MS = 600_000
SECONDS_PER_DAY = 86_400
RESERVED_FIELD_VALUES = (0, 1, 2, 0xA5A5_A5A5, 0xFFFF_FFFF)
LARGEST_PACKET_BYTES = 0x0040_0000
LARGEST_BODY_BYTES = LARGEST_PACKET_BYTES - 4_096
"""The size of a body whose packet is slightly smaller than the maximum size; the check adds bytes until the packet has
the maximum size.
"""
CLOCK_TOLERANCE_S = 120
"""The greatest accepted difference between the clocks of a real SUT and the tester, in seconds."""


@covers("MQQP-2.2.2.1-06", "MQQP-2.2.2.1-09", "MQQP-2.2.2.1-D03")
@pytest.mark.parametrize("by", [Method.START_RECEIVE, Method.START_RECEIVE2, Method.START_RECEIVE_BY_LOOKUP_ID])
@sut_survives()
def test_reads_with_any_reserved_fields_succeed(remote, judge, by):
    """Peeks and receives with any values of Reserved and eAckNack return the messages in the queue, even when a receive
    has to wait. Each response has Reserved 1. A message whose receive ends with RR_NACK stays in the queue.
    """
    peek, receive = (
        (Action.LOOKUP_PEEK_NEXT, Action.LOOKUP_RECEIVE_NEXT)
        if by == Method.START_RECEIVE_BY_LOOKUP_ID
        else (Action.PEEK_CURRENT, Action.RECEIVE)
    )
    labels = [f"message {number}" for number in range(len(RESERVED_FIELD_VALUES) + 3)]
    queue = remote.open_with_messages(*labels)
    plain = queue.read(peek, by=by)
    odd = [queue.read(peek, by=by, Reserved=value) for value in RESERVED_FIELD_VALUES]
    taken = [receive_if_queue_has_message(queue, receive, by=by, Reserved=value) for value in RESERVED_FIELD_VALUES]
    first = labels[len(RESERVED_FIELD_VALUES)]
    acknowledged = [queue.read(peek, by=by, eAckNack=value, Reserved=value) for value in (1, 2)]
    if by != Method.START_RECEIVE_BY_LOOKUP_ID:
        cursor = queue.open_cursor()
        acknowledged += [queue.read(peek, by=by, eAckNack=value, Reserved=3, hCursor=cursor) for value in (1, 2)]
    ends = [receive_if_queue_has_message(queue, receive, by=by, eAckNack=value) for value in (0, 1, 2)]
    seen = [read.label_or_outcome for read in (plain, *odd, *taken)]
    expected = [labels[0]] * (1 + len(RESERVED_FIELD_VALUES)) + labels[: len(RESERVED_FIELD_VALUES)]
    judge(
        "MQQP-2.2.2.1-06",
        expected=expected,
        observed=seen,
        evidence=[plain, *odd[:2]],
        case="labels returned by the reads",
    )
    seen = [read.label_or_outcome for read in (*acknowledged, *ends)]
    expected = [first] * len(acknowledged) + labels[len(RESERVED_FIELD_VALUES) :]
    judge(
        "MQQP-2.2.2.1-09",
        expected=expected,
        observed=seen,
        evidence=[*acknowledged, *ends[:1]],
        case="labels returned by the reads",
    )
    reads = [plain, *odd, *taken, *acknowledged, *ends]
    reserved = {read.description.Reserved for read in reads if read.description is not None}
    if by != Method.START_RECEIVE_BY_LOOKUP_ID:
        judge_reserved_fields_of_waiting_receives(remote, judge, queue, by)
    judge("MQQP-2.2.2.1-D03", expected={1}, observed=reserved, case="values of Reserved", evidence=[plain, *odd[:2]])


def judge_reserved_fields_of_waiting_receives(remote: Any, judge: Any, queue: RemoteQueue, by: str) -> None:
    """Judge receives with several values of Reserved and eAckNack that wait at the empty queue and end with RR_NACK."""
    for rule, fields in (("MQQP-2.2.2.1-06", {"Reserved": 1}), ("MQQP-2.2.2.1-09", {"eAckNack": 2})):
        waiting = queue.begin(Action.RECEIVE, by=by, ulTimeout=LONG_READ_TIMEOUT_MS, **fields)
        before = waiting.state_after_silence()
        remote.deliver(["awaited"])
        after = waiting.wait().label_or_outcome
        if waiting.outcome == "MQ_OK":
            queue.put_message_back(waiting)
        observed = {"receive_before_an_arrival": before, "receive_after_an_arrival": after, "queue": queue.labels()}
        expected = facts(
            receive_before_an_arrival=Call.WAITING, receive_after_an_arrival="awaited", queue=in_queue("awaited")
        )
        judge(rule, expected=expected, observed=observed, evidence=waiting.evidence)
        queue.purge()


def receive_if_queue_has_message(queue: RemoteQueue, action: int, **how: Any) -> Call:
    """Receive and acknowledge a message, if the queue contains a message."""
    read = queue.read(action, **how)
    if read.outcome == "MQ_OK":
        queue.acknowledge(read)
    return read


@covers("MQQP-2.2.2.1-03", "MQQP-2.2.2.1-10", "MQQP-2.2.2.1-D02", "MQQP-2.2.2.1-D04", "MQDMPR-3.1.7.1.32-04")
@pytest.mark.parametrize(
    ("by", "size"),
    [
        *((Method.START_RECEIVE, size) for size in (0, 1, 5_555)),
        *((Method.START_RECEIVE2, size) for size in (0, 1, 5_555, 0xFFFF, 0x1_0000, LARGEST_BODY_BYTES)),
        *((Method.START_RECEIVE_BY_LOOKUP_ID, size) for size in (0, 0x1_0000)),
    ],
)
def test_read_returns_packet_and_packet_size(remote, judge, by, size):
    """A peek and a receive return messages with bodies from 0 bytes to 4 MiB; then a receive returns a message with a
    body of three bytes. lpBuffer contains the packet that was sent, with its PacketSize, which dwSize repeats.
    """
    peek, receive = (
        (Action.LOOKUP_PEEK_NEXT, Action.LOOKUP_RECEIVE_NEXT)
        if by == Method.START_RECEIVE_BY_LOOKUP_ID
        else (Action.PEEK_CURRENT, Action.RECEIVE)
    )
    queue = remote.open()
    body = bytes(range(251)) * (size // 251) + bytes(size % 251)
    message = remote.peer.recoverable_message(label="first", body=body)
    if size == LARGEST_BODY_BYTES:
        room = LARGEST_PACKET_BYTES - len(bytes(remote.peer.recoverable_message(label="first")))
        message = remote.peer.recoverable_message(label="first", body=(body + bytes(4_096))[:room])
    short = remote.peer.recoverable_message(label="second", body=b"end")
    remote.send_messages_and_require_acks([message, short])
    reads = [(queue.read(peek, by=by), message), (queue.receive(receive, by=by), message)]
    reads.append((queue.receive(receive, by=by), short))
    for read, message in reads:
        dw_size, size = read.description.dwSize if read.description is not None else None, len(bytes(message))
        sent, evidence = UnchangedMessageExpectation(message), read.evidence
        sizes, packet = {"dwSize": dw_size}, {"size_of_the_packet_in_bytes": len(read.packet_bytes)}
        judge(
            "MQQP-2.2.2.1-03",
            expected=facts(dwSize=size, size_of_the_packet_in_bytes=size),
            observed=sizes | packet,
            evidence=evidence,
        )
        judge(
            "MQDMPR-3.1.7.1.32-04",
            expected=size,
            observed=read_sizes_of_response(read)[1],
            evidence=evidence,
            case="PacketSize of the packet in lpBuffer",
        )
        packet["message"] = read
        judge(
            "MQQP-2.2.2.1-10",
            expected=facts(size_of_the_packet_in_bytes=size, message=sent),
            observed=packet,
            evidence=evidence,
        )
        observed, expected = sizes | packet, facts(dwSize=size, size_of_the_packet_in_bytes=size, message=sent)
        judge("MQQP-2.2.2.1-D04", expected=expected, observed=observed, evidence=evidence)
        judge(
            "MQQP-2.2.2.1-D02",
            expected=between(1, MAX_BUFFER_BYTES),
            case="dwSize",
            observed=dw_size,
            evidence=evidence,
        )
        given = len(read.packet_bytes)
        judge(
            "MQQP-2.2.2.1-D02", expected=given, case="dwSize, and size of lpBuffer", observed=dw_size, evidence=evidence
        )


@covers("MQQP-2.2.2.1-D02")
@pytest.mark.parametrize("by", [Method.START_RECEIVE, Method.START_RECEIVE2, Method.START_RECEIVE_BY_LOOKUP_ID])
@sut_survives()
def test_dw_size_above_range_is_refused(remote, judge, by):
    """A peek with dwSize 0 returns the message. The SUT refuses a peek with dwSize 0x00420001 or 0xFFFFFFFF. The
    message stays in the queue.
    """
    peek = Action.LOOKUP_PEEK_NEXT if by == Method.START_RECEIVE_BY_LOOKUP_ID else Action.PEEK_CURRENT
    queue = remote.open_with_messages("first")
    calls = [queue.read(peek, by=by, dwSize=value) for value in (0, MAX_BUFFER_BYTES + 1, 0xFFFF_FFFF)]
    refused = ["refused" if call.thrown is not None or call.failed else call.label_or_outcome for call in calls]
    then = queue.read(peek, by=by).label_or_outcome
    observed = {
        "read_with_dwSize_0": refused[0],
        "reads_with_dwSize_above_its_range": refused[1:],
        "peek_after_the_reads": then,
    }
    judge.all(
        expected=facts(
            read_with_dwSize_0="first", reads_with_dwSize_above_its_range=each("refused"), peek_after_the_reads="first"
        ),
        observed=observed,
        evidence=calls,
    )


@covers("MQQP-2.2.2.1-07", "MQQP-2.2.2.1-08")
@pytest.mark.parametrize("by", [Method.START_RECEIVE, Method.START_RECEIVE2, Method.START_RECEIVE_BY_LOOKUP_ID])
def test_arrival_time_of_received_message_is_in_seconds(remote, judge, by):
    """Three messages arrive one after the other: a recoverable message and an express message, whose SentTime is a day
    ago, and a message in a transactional queue. dwArriveTime of each read of a message is between the time at which the
    peer sent the packet and the time of its acknowledgment. The first message is peeked, received with RR_NACK, and
    received again.
    """
    peek, receive = (
        (Action.LOOKUP_PEEK_NEXT, Action.LOOKUP_RECEIVE_NEXT)
        if by == Method.START_RECEIVE_BY_LOOKUP_ID
        else (Action.PEEK_CURRENT, Action.RECEIVE)
    )
    queue, beside = remote.open(), remote.open("transactional")
    sent = {"SentTime": remote.peer.environment.now().utc_s - SECONDS_PER_DAY}
    periods = [
        send_message_and_get_arrival_period(remote, message)
        for message in (
            remote.peer.recoverable_message(sent, label="first"),
            remote.peer.message({"DM": 0, **sent}, label="second"),
            Sequence(remote.peer).message(sent, label="third"),
        )
    ]
    reads = [queue.read(peek, by=by)]
    if by != Method.START_RECEIVE_BY_LOOKUP_ID:  # E57: whether RR_NACK returns the message
        reads.append(queue.read(receive, by=by))
        queue.put_message_back(reads[-1])
        remote.peer.environment.run_until(lambda: False, 1_100)
    reads.append(queue.receive(receive, by=by))
    pairs = [(read, periods[0]) for read in reads]
    pairs += [(queue.receive(receive, by=by), periods[1]), (beside.read(peek, by=by), periods[2])]
    slack_s = 0 if remote.sut.environment.is_time_virtual else CLOCK_TOLERANCE_S
    for rule in ("MQQP-2.2.2.1-07", "MQQP-2.2.2.1-08"):
        for read, (before, after) in pairs:
            description = read.description
            observed = description.dwArriveTime if description is not None else read.label_or_outcome
            expected = between(before - slack_s, after + slack_s)
            judge(rule, expected=expected, observed=observed, evidence=read.evidence, case="arrival time in seconds")


def send_message_and_get_arrival_period(remote: Any, message: Any) -> tuple[int, int]:
    """Send a message and wait for its acknowledgment; return the times before and after this exchange. Then wait a
    second.
    """
    before = remote.peer.environment.now().utc_s
    remote.send_messages_and_require_acks([message])
    after = remote.peer.environment.now().utc_s
    remote.peer.environment.run_until(lambda: False, 1_100)
    return before, after


@needs("send")
@covers("MQQP-2.2.2.1-07", "MQQP-2.2.2.1-08")
@pytest.mark.parametrize(
    "kinds",
    [
        pytest.param(["plain"], id="one queue"),
        pytest.param(["plain", "admin"], marks=needs("several_queues"), id="several queues"),
    ],
)
def test_arrival_time_of_local_message_is_time_of_sending(remote, sut, judge, kinds):
    """An application of the SUT sends a message to queues of the SUT. dwArriveTime in each queue is between the time of
    the command and the time of the reply to the command.
    """
    queues = [remote.open(kind) for kind in kinds]
    before = remote.peer.environment.now().utc_s
    sut.send(",".join(sut.format_name(kind) for kind in kinds), label="first", body="of itself")
    after = remote.peer.environment.now().utc_s
    remote.peer.environment.run_until(lambda: False, 1_100)
    slack_s = 0 if sut.environment.is_time_virtual else CLOCK_TOLERANCE_S
    for queue in queues:
        read = queue.peek(ulTimeout=sut.response_timeout_ms)
        description = read.description
        observed = description.dwArriveTime if read.outcome == "MQ_OK" else read.label_or_outcome
        expected = between(before - slack_s, after + slack_s)
        judge.all(expected=expected, observed=observed, evidence=read.evidence, case="arrival time in seconds")


@covers("MQQP-2.2.2.1-02", "MQDMPR-3.1.2.3-03")
@pytest.mark.parametrize("by", [Method.START_RECEIVE, Method.START_RECEIVE2])
@pytest.mark.parametrize("action", [Action.RECEIVE, Action.PEEK_CURRENT], ids=["receive", "peek"])
def test_read_with_infinite_timeout_waits_for_message(remote, judge, by, action):
    """Two reads of an empty queue with ulTimeout 0xFFFFFFFF, the second by a cursor, wait; in virtual time, they wait
    for an hour. When two messages arrive, the reads return them.
    """
    queue = remote.open()
    cursor = queue.open_cursor()
    reads = [queue.begin(action, by=by, ulTimeout=INFINITE_TIMEOUT_MS, **more) for more in ({}, {"hCursor": cursor})]
    waits = [read.state_after_silence() for read in reads]
    if remote.sut.environment.is_time_virtual:
        remote.sut.environment.run_until(lambda: any(read.answered for read in reads), MS_PER_HOUR)
        waits = [read.state_after_silence() for read in reads]
    remote.deliver(["first", "second"])
    labels = [read.wait().label_or_outcome for read in reads]
    observed = {"reads_before_an_arrival": waits, "reads_after_an_arrival": labels}
    returned = ("first", "second") if action == Action.RECEIVE else ("first", "first")
    judge.all(
        expected=facts(reads_before_an_arrival=each(Call.WAITING), reads_after_an_arrival=any_order(*returned)),
        observed=observed,
        evidence=reads,
    )
