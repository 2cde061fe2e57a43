"""MS-MQMQ 2.2.18.1 Packet Data Types: queue names in messages."""

from __future__ import annotations

from uuid import UUID

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import distinct_values, fields
from harness.run.marks import covers, needs, varied
from suites.mqmq.steps.layout import Layout
from suites.mqmq.steps.message_bytes import read_user_header_flags
from suites.mqmq.steps.outgoing import MessagesSentBySut

MESSAGE_LABEL = "named"
PROPERTIES_HEADER_FIXED_BYTES = 56
"""The size in bytes of the MessagePropertiesHeader before its label."""
QUEUE_NAMES_OFFSET = 64
"""The offset of the first queue name, which follows the BaseHeader and the fixed part of the UserHeader."""
SECOND_QUEUE_MANAGER_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000f3")
PRIVATE_NAME_SIZE = 20
"""The size in bytes of the name of a private queue on any host."""
PUBLIC_QUEUE_TYPE, PRIVATE_QUEUE_OF_THIRD_HOST_TYPE = 5, 6
"""Values of RQ for a public response queue and for a private response queue of another host."""


def _send_with_response_queue(peer, sut, response):
    """Let the SUT send one message without a response queue and one with a response queue. Return the second message,
    its RQ, and its bytes from ResponseQueue to the end.
    """
    outgoing = MessagesSentBySut(peer, sut)
    outgoing.send(body="", label=MESSAGE_LABEL)
    frame = outgoing.send(body="", label=MESSAGE_LABEL, response_queue=response)
    outgoing.end()
    count = int.from_bytes(frame.data[QUEUE_NAMES_OFFSET : QUEUE_NAMES_OFFSET + 2], "little")
    end = QUEUE_NAMES_OFFSET + 2 + count
    return frame, read_user_header_flags(frame.data).RQ, frame.data[end + -end % 4 :]


@needs("send")
@covers("MQMQ-2.2.18.1.5.2-01", "MQMQ-2.2.18.1.5.2-D02")
@pytest.mark.parametrize("queue", ["q", "qu", "que"])
def test_direct_name_has_byte_count_terminator_and_padding(peer, sut, judge, queue):
    """The SUT sends messages to direct names of several lengths, with direct names as administration and response
    queue. Each of the three queue names consists of the count of bytes, the name with its null, and padding to 4 bytes.
    """
    direct = rf"TCP:{peer.address}\private$\{queue}"
    others = rf"TCP:{peer.address}\private$\ad{queue}", rf"OS:nowhere\private$\res{queue}"
    outgoing = MessagesSentBySut(peer, sut, to=f"DIRECT={direct}")
    admin, response = (f"DIRECT={name}" for name in others)
    frame = outgoing.send(
        body="", label=MESSAGE_LABEL, acks=["negative_arrival"], admin_queue=admin, response_queue=response
    )
    outgoing.end()
    data = frame.data[QUEUE_NAMES_OFFSET:]
    observed: dict[str, str] = {}
    expected: dict[str, str] = {}
    for field, text in zip(("DestinationQueue", "AdminQueue", "ResponseQueue"), (direct, *others), strict=True):
        encoded = (text + "\0").encode("utf-16-le")
        name = len(encoded).to_bytes(2, "little") + encoded
        expected[field], observed[field] = name.hex(), data[: len(name)].hex()
        data = data[len(name) + -len(name) % 4 :]
    gap = {"bytes to the next header": _count_bytes_to_next_header(data, 0)}
    wanted = fields({**expected, "bytes to the next header": 0})
    judge.all(expected=wanted, observed={**observed, **gap}, evidence=frame)


@needs("send", "public_names")
@covers("MQMQ-2.2.18.1.7.1-01", "MQMQ-2.2.18.1.7.1-02")
def test_public_names_of_one_message_have_their_own_guids(peer, sut, judge):
    """The SUT sends a message to a public queue, with two other public queues as administration and response queue.
    Each of the three queue names is the GUID of its queue.
    """
    guids = [
        UUID(peer.format_name_of_public_queue.removeprefix("PUBLIC=")),
        UUID(int=0x6D71_0001),
        UUID(int=0x6D71_0002),
    ]
    outgoing = MessagesSentBySut(peer, sut, peer.format_name_of_public_queue)
    admin, response = (f"PUBLIC={guid}" for guid in guids[1:])
    frame = outgoing.send(
        body="", label=MESSAGE_LABEL, acks=["negative_arrival"], admin_queue=admin, response_queue=response
    )
    outgoing.end()
    names = ("UserHeader.DestinationQueue", "UserHeader.AdminQueue", "UserHeader.ResponseQueue")
    expected = {name: str(guid) for name, guid in zip(names, guids, strict=True)}
    wanted = fields({**expected, "bytes after the last header": 0})
    judge.all(expected=wanted, observed=Layout(frame), evidence=frame)


@needs("send")
@covers("MQMQ-2.2.18.1.7.1-01", "MQMQ-2.2.18.1.7.1-02")
def test_public_response_queue_is_guid(peer, sut, judge):
    """The SUT sends a message with a public response queue: RQ is 5, and ResponseQueue is the GUID of the queue."""
    frame, kind, rest = _send_with_response_queue(peer, sut, f"PUBLIC={SECOND_QUEUE_MANAGER_GUID}")
    if kind != PUBLIC_QUEUE_TYPE:
        raise ConformanceFailure(f"the SUT sent a public response queue with RQ {kind} instead of {PUBLIC_QUEUE_TYPE}")
    judge(
        "MQMQ-2.2.18.1.7.1-02",
        expected=SECOND_QUEUE_MANAGER_GUID,
        case="ResponseQueue",
        observed=UUID(bytes_le=rest[:16]),
        evidence=frame,
    )
    judge(
        "MQMQ-2.2.18.1.7.1-01",
        expected=0,
        case="bytes to the next header",
        observed=_count_bytes_to_next_header(rest, 16),
        evidence=frame,
    )


@needs("send")
@covers("MQMQ-2.2.18.1.7.2-01", "MQMQ-2.2.18.1.7.2-02", "MQMQ-2.2.18.1.7.2-03")
def test_private_queues_of_two_hosts_have_their_own_guids_and_numbers(peer, sut, judge):
    """The SUT sends a message with a private administration queue on a third host and a private response queue on a
    fourth host. AQ and RQ are 6, and each name is the GUID of the queue's host and the number of the queue.
    """
    hosts = [(SECOND_QUEUE_MANAGER_GUID, 0xFEDC_BA98), (UUID(int=0x6D71_0003), 0x8765_4321)]
    admin, response = (rf"PRIVATE={guid}\{number:08X}" for guid, number in hosts)
    outgoing = MessagesSentBySut(peer, sut)
    frame = outgoing.send(
        body="", label=MESSAGE_LABEL, acks=["negative_arrival"], admin_queue=admin, response_queue=response
    )
    outgoing.end()
    flags = read_user_header_flags(frame.data)
    if (flags.AQ, flags.RQ) != (PRIVATE_QUEUE_OF_THIRD_HOST_TYPE, PRIVATE_QUEUE_OF_THIRD_HOST_TYPE):
        raise ConformanceFailure(f"the SUT sent private queues of other hosts with AQ {flags.AQ} and RQ {flags.RQ}")
    count = int.from_bytes(frame.data[QUEUE_NAMES_OFFSET : QUEUE_NAMES_OFFSET + 2], "little")
    end = QUEUE_NAMES_OFFSET + 2 + count
    rest = frame.data[end + -end % 4 :]
    names = [rest[:PRIVATE_NAME_SIZE], rest[PRIVATE_NAME_SIZE : 2 * PRIVATE_NAME_SIZE]]
    for rule, what, expected, observed in (
        (
            "MQMQ-2.2.18.1.7.2-02",
            "hosts in AdminQueue and ResponseQueue",
            [guid for guid, _ in hosts],
            [UUID(bytes_le=name[:16]) for name in names],
        ),
        (
            "MQMQ-2.2.18.1.7.2-03",
            "queue numbers in AdminQueue and ResponseQueue",
            [number for _, number in hosts],
            [int.from_bytes(name[16:], "little") for name in names],
        ),
        (
            "MQMQ-2.2.18.1.7.2-01",
            "bytes of AdminQueue and ResponseQueue",
            [(guid.bytes_le + number.to_bytes(4, "little")).hex() for guid, number in hosts],
            [name.hex() for name in names],
        ),
        (
            "MQMQ-2.2.18.1.7.2-01",
            "bytes to the next header",
            0,
            _count_bytes_to_next_header(rest, 2 * PRIVATE_NAME_SIZE),
        ),
    ):
        judge(rule, expected=expected, case=what, observed=observed, evidence=frame)


@needs("send")
@covers("MQMQ-2.2.18.1.7.2-01", "MQMQ-2.2.18.1.7.2-02", "MQMQ-2.2.18.1.7.2-03")
def test_private_response_queue_is_host_guid_and_number(peer, sut, judge):
    """The SUT sends a message with a private response queue on a third host. RQ is 6, and ResponseQueue is the GUID of
    the host and the number of the queue.
    """
    frame, kind, rest = _send_with_response_queue(peer, sut, rf"PRIVATE={SECOND_QUEUE_MANAGER_GUID}\0000ABCD")
    if kind != PRIVATE_QUEUE_OF_THIRD_HOST_TYPE:
        raise ConformanceFailure(
            "the SUT sent a private response queue of a third host "
            f"with RQ {kind} instead of {PRIVATE_QUEUE_OF_THIRD_HOST_TYPE}"
        )
    judge(
        "MQMQ-2.2.18.1.7.2-02",
        expected=SECOND_QUEUE_MANAGER_GUID,
        case="host in ResponseQueue",
        observed=UUID(bytes_le=rest[:16]),
        evidence=frame,
    )
    judge(
        "MQMQ-2.2.18.1.7.2-03",
        expected=0xABCD,
        case="queue number in ResponseQueue",
        observed=int.from_bytes(rest[16:20], "little"),
        evidence=frame,
    )
    judge(
        "MQMQ-2.2.18.1.7.2-01",
        expected=0,
        case="bytes to the next header",
        observed=_count_bytes_to_next_header(rest, 20),
        evidence=frame,
    )


@needs("queue_control")
@covers("MQMQ-2.2.18.1.5.1-02", "MQMQ-2.2.18.1.7.2-04", "MQDMPR-3.1.7.1.3-D04")
@varied("queue journaling", "queue quota", "queue privacy")
def test_private_queues_have_distinct_numbers(sut, judge):
    """Three queues are created, the first is deleted, and three more, one of them transactional, are created. The
    private format names of the five remaining queues have different numbers.
    """
    deleted, *names = (sut.new_queue(f"number-{number}") for number in range(3))
    sut.delete_queue(deleted)
    names += [sut.new_queue("number-3"), sut.new_queue("number-4", transactional=True), sut.new_queue("number-5")]
    _judge_private_numbers_differ(sut, judge, names)


@needs("queue_control", "restart")
@covers("MQMQ-2.2.18.1.5.1-02", "MQMQ-2.2.18.1.7.2-04", "MQDMPR-3.1.7.1.3-D04")
@varied("queue journaling", "queue quota", "queue privacy")
def test_private_queues_after_restart_have_distinct_numbers(sut, judge):
    """A queue is created, the SUT is restarted, and up to eight queues are created. The private format names of all
    these queues have different numbers.
    """
    before = sut.new_queue("before")
    sut.restart()
    more = min(_get_private_number(sut, before), 8)
    _judge_private_numbers_differ(sut, judge, [before, *(sut.new_queue(f"after-{number}") for number in range(more))])


def _judge_private_numbers_differ(sut, judge, names):
    numbers = [_get_private_number(sut, name) for name in names]
    judge(
        "MQMQ-2.2.18.1.5.1-02",
        "MQMQ-2.2.18.1.7.2-04",
        "MQDMPR-3.1.7.1.3-D04",
        expected=distinct_values("numbers", len(names)),
        observed=numbers,
    )


def _get_private_number(sut, name):
    return int(sut.private_format_name(name).rpartition("\\")[2], 16)


def _count_bytes_to_next_header(data, size):
    """Return the number of bytes between a queue name and the MessagePropertiesHeader, which is found by the label."""
    return data[size:].find((MESSAGE_LABEL + "\0").encode("utf-16-le")) - PROPERTIES_HEADER_FIXED_BYTES


@covers("MQMQ-2.2.19.2-D06", "MQDMPR-3.1.7.1.32-D14", "MQMQ-2.2.18.1.5.2-D01", "MQMQ-2.2.18.1.5.2-D02")
@pytest.mark.parametrize("queue", ["q", "qu", "que", "q" * 124])
def test_direct_destination_leads_to_next_header(peer, sut, judge, queue):
    """The SUT sends messages to direct names of several lengths. DQ is 7, the count includes the name and its null, and
    the MessagePropertiesHeader follows the padding.
    """
    outgoing = MessagesSentBySut(peer, sut, peer.direct_name(queue))
    named = {"label": MESSAGE_LABEL} if sut.has("send") else {}
    frame = outgoing.send(**named)
    outgoing.end()
    text = outgoing.sender.to.removeprefix("DIRECT=").lower() + "\0"
    to = {"UserHeader.Flags.DQ": 7, "UserHeader.DestinationQueue": text}
    found = Layout(frame)
    judge("MQMQ-2.2.19.2-D06", "MQDMPR-3.1.7.1.32-D14", expected=fields(to), observed=found, evidence=frame)
    count = int.from_bytes(frame.data[64:66], "little")
    judge(
        "MQMQ-2.2.18.1.5.2-D01",
        expected=2 * len(text),
        case="byte count in DestinationQueue",
        observed=count,
        evidence=frame,
    )
    following = {"MessagePropertiesHeader.Label": f"{MESSAGE_LABEL}\0"} if named else {}
    after = {"UserHeader.DestinationQueue": text, **following, "bytes after the last header": 0}
    judge("MQMQ-2.2.18.1.5.2-D02", expected=fields(after), observed=found, evidence=frame)
