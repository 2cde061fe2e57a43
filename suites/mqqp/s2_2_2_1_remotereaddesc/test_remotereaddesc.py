"""MS-MQQP 2.2.2.1 REMOTEREADDESC: what is ignored, what the server sets."""

from __future__ import annotations

from typing import Any

import pytest

from harness.expectations import between, each, facts
from harness.peer.association import Call
from harness.peer.remote import LOOKUP, START, START2, RemoteQueue, described
from harness.run.marks import covers, needs, sut_survives
from harness.wire.rpc_qm2qm import (
    INFINITE,
    LOOKUP_PEEK_NEXT,
    LOOKUP_RECEIVE_NEXT,
    MAX_BUFFER,
    PEEK_CURRENT,
    RECEIVE,
)
from harness.wire.rpc_stub import octets
from suites.mqqp.steps.reading import FIRST, WAITING, brought, waiting
from suites.mqqp.steps.whole import WHOLE, unchanged

pytestmark = needs("qm2qm")

HOUR_MS = 3_600_000
DAY_S = 86_400
RESERVED = (0, 1, 2, 0xA5A5_A5A5, 0xFFFF_FFFF)
MAX_PACKET = 0x0040_0000
MAX_BODY = MAX_PACKET - 4_096
"""So large a body that with it the packet has nearly its largest size; the check adds what there is room for."""
CLOCKS_S = 120
"""How far the clock of a real SUT may be from ours."""


@covers("MQQP-2.2.2.1-06", "MQQP-2.2.2.1-09", "MQQP-2.2.2.1-D03")
@pytest.mark.parametrize("by", [START, START2, LOOKUP])
@sut_survives()
def test_what_is_reserved_makes_no_difference(remote, judge, by):
    """Any Reserved and eAckNack are taken, alone and together, by peeks and by receives; answers have Reserved 1."""
    peek, receive = (LOOKUP_PEEK_NEXT, LOOKUP_RECEIVE_NEXT) if by == LOOKUP else (PEEK_CURRENT, RECEIVE)
    labels = [f"message {number}" for number in range(len(RESERVED) + 3)]
    queue = remote.filled(*labels)
    plain = queue.read(peek, by=by)
    odd = [queue.read(peek, by=by, Reserved=value) for value in RESERVED]
    taken = [received(queue, receive, by=by, Reserved=value) for value in RESERVED]
    first = labels[len(RESERVED)]
    acknowledged = [queue.read(peek, by=by, eAckNack=value, Reserved=value) for value in (1, 2)]
    ends = [received(queue, receive, by=by, eAckNack=value) for value in (0, 1, 2)]
    seen = [brought(read) for read in (plain, *odd, *taken)]
    expected = [labels[0]] * (1 + len(RESERVED)) + labels[: len(RESERVED)]
    judge("MQQP-2.2.2.1-06", expected=expected, observed=seen, evidence=[plain, *odd[:2]])
    seen = [brought(read) for read in (*acknowledged, *ends)]
    expected = [first, first, *labels[len(RESERVED) :]]
    judge("MQQP-2.2.2.1-09", expected=expected, observed=seen, evidence=[*acknowledged, *ends[:1]])
    reads = [plain, *odd, *taken, *acknowledged, *ends]
    reserved = {description.Reserved for description in map(described, reads) if description is not None}
    judge("MQQP-2.2.2.1-D03", expected={1}, observed=reserved, evidence=[plain, *odd[:2]])


def received(queue: RemoteQueue, action: int, **how: Any) -> Call:
    """Receive a message and acknowledge it, when there is one."""
    read = queue.read(action, **how)
    if read.outcome == "MQ_OK":
        queue.end(read)
    return read


@covers("MQQP-2.2.2.1-03", "MQQP-2.2.2.1-10", "MQQP-2.2.2.1-D02", "MQQP-2.2.2.1-D04")
@pytest.mark.parametrize(
    ("by", "size"),
    [
        *((START, size) for size in (0, 1, 5_555)),
        *((START2, size) for size in (0, 1, 5_555, 0xFFFF, 0x1_0000, MAX_BODY)),
        *((LOOKUP, size) for size in (0, 0x1_0000)),
    ],
)
def test_the_packet_and_its_size_are_those_of_the_message(remote, judge, by, size):
    """From an empty body to the largest packet: dwSize is what came, PacketSize of the packet, and not above 4 MiB."""
    peek, receive = (LOOKUP_PEEK_NEXT, LOOKUP_RECEIVE_NEXT) if by == LOOKUP else (PEEK_CURRENT, RECEIVE)
    queue = remote.filled()
    body = bytes(range(251)) * (size // 251) + bytes(size % 251)
    message = remote.peer.recoverable_message(label=FIRST, body=body)
    if size == MAX_BODY:
        room = MAX_PACKET - len(bytes(remote.peer.recoverable_message(label=FIRST)))
        message = remote.peer.recoverable_message(label=FIRST, body=(body + bytes(4_096))[:room])
    remote.send_all([message])
    reads = [queue.read(peek, by=by), queue.receive(receive, by=by)]
    for read in reads:
        description = described(read)
        data = octets(description.lpBuffer) or b"" if description is not None else b""
        told = description.dwSize if description is not None else None
        size, whole, evidence = len(bytes(message)), unchanged(read, message), read.evidence
        sizes = {"dwSize": told, "bytes": len(data)}
        judge("MQQP-2.2.2.1-03", expected={"dwSize": size, "bytes": size}, observed=sizes, evidence=evidence)
        buffer = {"bytes": len(data), "message": whole}
        judge("MQQP-2.2.2.1-10", expected={"bytes": size, "message": WHOLE}, observed=buffer, evidence=evidence)
        expected = {"dwSize": size, "bytes": size, "message": WHOLE}
        judge("MQQP-2.2.2.1-D04", expected=expected, observed={**sizes, "message": whole}, evidence=evidence)
        judge("MQQP-2.2.2.1-D02", expected=between(1, MAX_BUFFER), observed=told, evidence=evidence)


@covers("MQQP-2.2.2.1-D02")
@pytest.mark.parametrize("by", [START, START2, LOOKUP])
@sut_survives()
def test_a_size_above_its_range_is_refused(remote, judge, by):
    """dwSize one above 0x00420000 and of all ones is refused, and the message stays; with 0 it is read."""
    peek = LOOKUP_PEEK_NEXT if by == LOOKUP else PEEK_CURRENT
    queue = remote.filled(FIRST)
    calls = [queue.read(peek, by=by, dwSize=value) for value in (0, MAX_BUFFER + 1, 0xFFFF_FFFF)]
    refused = ["refused" if call.thrown is not None or call.failed else brought(call) for call in calls]
    then = brought(queue.read(peek, by=by))
    observed = {"zero": refused[0], "above": refused[1:], "then": then}
    judge.all(expected=facts(zero=FIRST, above=each("refused"), then=FIRST), observed=observed, evidence=calls)


@covers("MQQP-2.2.2.1-07", "MQQP-2.2.2.1-08")
@pytest.mark.parametrize("by", [START, START2, LOOKUP])
def test_the_arrival_time_is_that_of_the_message_in_seconds(remote, judge, by):
    """Each dwArriveTime lies between sending and acknowledgment of its message, also when it is read later.

    The message says that it was sent a day ago.
    """
    peek, receive = (LOOKUP_PEEK_NEXT, LOOKUP_RECEIVE_NEXT) if by == LOOKUP else (PEEK_CURRENT, RECEIVE)
    queue = remote.filled()
    before = remote.peer.environment.now().utc_s
    remote.send_all([remote.peer.recoverable_message({"SentTime": before - DAY_S}, label=FIRST)])
    after = remote.peer.environment.now().utc_s
    remote.peer.environment.run_until(lambda: False, 1_100)
    reads = [queue.read(peek, by=by), queue.receive(receive, by=by)]
    slack_s = 0 if remote.sut.environment.virtual else CLOCKS_S
    for rule in ("MQQP-2.2.2.1-07", "MQQP-2.2.2.1-08"):
        for read in reads:
            description = described(read)
            observed = description.dwArriveTime if description is not None else brought(read)
            expected = between(before - slack_s, after + slack_s)
            judge(rule, expected=expected, observed=observed, evidence=read.evidence)


@needs("send")
@covers("MQQP-2.2.2.1-07", "MQQP-2.2.2.1-08")
@pytest.mark.parametrize(
    "kinds",
    [
        pytest.param(["plain"], id="one queue"),
        pytest.param(["plain", "admin"], marks=needs("several_queues"), id="several queues"),
    ],
)
def test_a_message_that_the_sut_sends_to_itself_arrives_then(remote, sut, judge, kinds):
    """dwArriveTime lies between the command to send and its answer, in each queue that the message is for."""
    queues = [remote.open(kind) for kind in kinds]
    before = remote.peer.environment.now().utc_s
    sut.send(",".join(sut.format_name(kind) for kind in kinds), label=FIRST, body="of itself")
    after = remote.peer.environment.now().utc_s
    remote.peer.environment.run_until(lambda: False, 1_100)
    slack_s = 0 if sut.environment.virtual else CLOCKS_S
    for queue in queues:
        read = queue.read(PEEK_CURRENT, ulTimeout=sut.response_timeout_ms)
        description = described(read)
        observed = description.dwArriveTime if read.outcome == "MQ_OK" else brought(read)
        expected = between(before - slack_s, after + slack_s)
        judge.all(expected=expected, observed=observed, evidence=read.evidence)


@covers("MQQP-2.2.2.1-02", "MQDMPR-3.1.2.3-03")
@pytest.mark.parametrize("by", [START, START2])
@pytest.mark.parametrize("action", [RECEIVE, PEEK_CURRENT], ids=["receive", "peek"])
def test_an_infinite_time_out_waits_for_a_message(remote, judge, by, action):
    """0xFFFFFFFF is no time at all: the read waits until there is something, for an hour where time costs nothing."""
    queue = remote.filled()
    read = queue.begin(action, by=by, ulTimeout=INFINITE)
    waits = waiting(read)
    if remote.sut.environment.virtual:
        remote.sut.environment.run_until(lambda: read.answered, HOUR_MS)
        waits = waiting(read)
    remote.deliver([FIRST])
    read.wait()
    observed = {"before": waits, "then": brought(read)}
    judge.all(expected=facts(before=WAITING, then=FIRST), observed=observed, evidence=read.evidence)
