"""MS-MQQP 3.1.4.1 RemoteQMStartReceive, 3.1.4.10 RemoteQMStartReceive2: reads of a message that is in the queue.

RemoteQMStartReceive2 works like RemoteQMStartReceive, and also returns the message's SequentialId.
"""

from __future__ import annotations

from itertools import chain

import pytest

from harness.expectations import each, facts, holds, status
from harness.peer.association import Call
from harness.peer.remote import BODY_OF_MESSAGES_FROM_PEER
from harness.run.marks import covers, needs, sut_survives, varied
from harness.wire.rpc_qm2qm import Action, Method, build_desc2
from harness.wire.rpc_qmcomm import PEEK_ACCESS, transfer_buffer
from suites.mqqp.steps.lookups import find_label_by_sequential_id, read_sequential_ids_by_label
from suites.mqqp.steps.methods import parametrize_by_method_with_rules
from suites.mqqp.steps.reading import read_sizes_of_response, send_messages_to_queue
from suites.mqqp.steps.whole import (
    UNKNOWN_GUID,
    MessageKind,
    UnchangedMessageExpectation,
    build_destination_list_fields_of_every_kind,
    build_message_without_default_values,
)

pytestmark = needs("qm2qm")

LONG_READ_TIMEOUT_MS = 600_000
LONGEST_LABEL = "l" * 200 + "abel" * 12 + "!"
"""A label of 249 characters."""
SHORT_READ_TIMEOUT_MS = 200
MESSAGE_NOT_FOUND_STATUS = "MQ_ERROR_MESSAGE_NOT_FOUND"


@parametrize_by_method_with_rules(
    {
        Method.START_RECEIVE: {
            "ok": [
                "MQQP-3.1.4.1-10",
                "MQQP-3.1.4.1-D20",
                "MQDMPR-3.1.7.1.10-D07",
                "MQDMPR-3.1.7.1.11-15",
                "MQDMPR-3.1.7.1.15-59",
            ],
            "handle": ["MQQP-3.1.4.1-05", "MQQP-3.1.4.1-D19"],
            "peek": ["MQQP-3.1.4.1-06", "MQQP-3.1.4.1-D01", "MQQP-3.1.4.1-D19"],
            "locked": ["MQQP-3.1.4.1-01", "MQDMPR-3.1.7.1.10-D05", "MQDMPR-3.1.7.1.11-07"],
            "receive": [
                "MQQP-3.1.4.1-D03",
                "MQQP-3.1.4.1-D15",
                "MQDMPR-3.1.7.1.9-09",
                "MQDMPR-3.1.7.1.10-D07",
                "MQDMPR-3.1.7.1.11-14",
            ],
            "current": ["MQQP-3.1.4.1-D04", "MQQP-3.1.4.1-D16", "MQDMPR-3.1.7.1.15-58"],
            "no_cursor": ["MQQP-3.1.4.1-D13", "MQDMPR-3.1.7.1.10-38", "MQDMPR-3.1.7.1.15-38", "MQDMPR-3.1.7.3.2-06"],
        },
        Method.START_RECEIVE2: {
            "ok": [
                "MQQP-3.1.4.10-09",
                "MQQP-3.1.4.10-55",
                "MQDMPR-3.1.7.1.10-D07",
                "MQDMPR-3.1.7.1.11-15",
                "MQDMPR-3.1.7.1.15-59",
            ],
            "handle": ["MQQP-3.1.4.10-02", "MQQP-3.1.4.10-54"],
            "peek": ["MQQP-3.1.4.10-03", "MQQP-3.1.4.10-54"],
            "locked": ["MQDMPR-3.1.7.1.10-D05", "MQDMPR-3.1.7.1.11-07"],
            "receive": [
                "MQQP-3.1.4.10-31",
                "MQQP-3.1.4.10-D02",
                "MQDMPR-3.1.7.1.9-09",
                "MQDMPR-3.1.7.1.10-D07",
                "MQDMPR-3.1.7.1.11-14",
            ],
            "current": ["MQQP-3.1.4.10-36", "MQQP-3.1.4.10-D03", "MQDMPR-3.1.7.1.15-58"],
            "no_cursor": ["MQQP-3.1.4.10-23", "MQDMPR-3.1.7.1.10-38", "MQDMPR-3.1.7.1.15-38", "MQDMPR-3.1.7.3.2-06"],
        },
    }
)
@pytest.mark.parametrize("kind", ["plain", "transactional"])
def test_receive_returns_handle_and_locks_message_and_peek_does_not(remote, judge, by, rules, kind):
    """Two peeks and a receive return the first of two messages; only the receive returns a handle. Before and after the
    receive is ended, peeks by two readers return the second message.
    """
    queue, other = remote.open(kind), remote.open(kind, access=PEEK_ACCESS)
    send_messages_to_queue(remote, kind, "first", "second")
    peeked, again = queue.peek(by=by), queue.peek(by=by)
    received = queue.start_receive(by=by)
    behind, elsewhere = queue.peek(by=by), other.peek(by=by)
    calls = [peeked, again, received, behind]
    evidence = calls
    judge(*rules["ok"], expected=each(status("MQ_OK"), "read"), observed=calls, evidence=evidence)
    seen = [call.label_or_outcome for call in calls]
    judge(
        *rules["current"],
        expected=["first", "first"],
        case="labels returned by the peeks",
        observed=seen[:2],
        evidence=evidence,
    )
    judge(
        *rules["no_cursor"],
        expected=["first", "first", "first", "second"],
        case="labels returned by the reads",
        observed=seen,
        evidence=evidence,
    )
    has_handle = not received.has_null_handle
    judge(*rules["handle"], expected=holds("a handle is returned"), observed=has_handle, evidence=received.evidence)
    without = [call.has_null_handle for call in (peeked, again)]
    judge(
        *rules["peek"],
        expected=each(holds("NULL"), "handle returned by a peek"),
        observed=without,
        evidence=peeked.evidence,
    )
    ended = queue.acknowledge(received)
    after = [one.peek(by=by).label_or_outcome for one in (queue, other)]
    observed = {
        "peeks_while_the_message_is_locked": [seen[3], elsewhere.label_or_outcome],
        "end_of_the_receive": ended.outcome,
        "peeks_after_the_end": after,
    }
    expected = facts(
        peeks_while_the_message_is_locked=["second", "second"],
        end_of_the_receive="MQ_OK",
        peeks_after_the_end=["second", "second"],
    )
    judge(*rules["locked"], expected=expected, observed=observed, evidence=behind.evidence)
    received_all = ["first", "second", "second"]
    judge(
        *rules["receive"],
        expected=received_all,
        case="labels returned by the receive and later peeks",
        observed=[*seen[2:], after[0]],
        evidence=evidence,
    )


@parametrize_by_method_with_rules(
    {
        Method.START_RECEIVE: {
            "buffer": ["MQQP-3.1.4.1-13", "MQQP-3.1.4.1-14", "MQQP-3.1.4.1-16", "MQQP-3.1.4.1-19"],
            "size": ["MQQP-3.1.4.1-20"],
            "handle": ["MQQP-3.1.4.1-05"],
        },
        Method.START_RECEIVE2: {
            "buffer": ["MQQP-3.1.4.10-44", "MQQP-3.1.4.10-45", "MQQP-3.1.4.10-47", "MQQP-3.1.4.10-50"],
            "size": ["MQQP-3.1.4.10-51"],
            "handle": ["MQQP-3.1.4.10-02"],
            "ok": ["MQQP-3.1.4.10-09"],
        },
    }
)
@pytest.mark.parametrize("kind", MessageKind)
def test_read_returns_every_property_of_message(remote, judge, by, rules, kind):
    """Six messages with every property set arrive. The second message also has lists of queues, the third has a body of
    70,000 bytes, the fourth has the longest label, the fifth has no body, and the sixth is traced. A peek and receives
    return the packets unchanged. dwSize equals PacketSize, and each receive returns a handle.
    """
    queue = remote.open(kind.queue)
    sent = [
        build_message_without_default_values(remote.peer, "first", kind),
        build_message_without_default_values(
            remote.peer, "second", kind, mqf=build_destination_list_fields_of_every_kind(remote.peer)
        ),
        build_message_without_default_values(remote.peer, "third", kind, body=bytes(range(250)) * 280),
        build_message_without_default_values(remote.peer, LONGEST_LABEL, kind),
        build_message_without_default_values(remote.peer, "fifth", kind, body=b""),
        build_message_without_default_values(
            remote.peer, "sixth", kind, base={"TR": 1}, debug={"QueueIdentifier": UNKNOWN_GUID}
        ),
    ]
    remote.send_messages_and_require_acks(sent)
    reads = [queue.peek(by=by)]
    for _ in sent:
        reads.append(queue.start_receive(by=by))
        queue.acknowledge(reads[-1])
    if "ok" in rules:
        judge(*rules["ok"], expected=each(status("MQ_OK"), "read"), observed=reads, evidence=reads)
    judge(
        *rules["handle"],
        expected=each(True, "receive"),
        observed=[not one.has_null_handle for one in reads[1:]],
        case="a handle is returned",
        evidence=reads[1:],
    )
    for read, packet in zip(reads, (sent[0], *sent), strict=True):
        judge(
            *rules["buffer"],
            expected=UnchangedMessageExpectation(packet),
            observed=read,
            evidence=read.evidence,
            case="message returned by the read",
        )
        size, packet_size = read_sizes_of_response(read)
        judge(
            *rules["size"],
            expected=packet_size or "a packet",
            observed=size,
            evidence=read.evidence,
            case="size of the message in bytes",
        )


@covers("MQQP-3.1.4.10-05", "MQQP-3.1.4.10-52", "MQQP-3.1.4.10-D01", "MQDMPR-3.1.7.1.9-10")
def test_sequential_id_finds_message_by_lookup(remote, judge):
    """RemoteQMStartReceive and RemoteQMStartReceive2 peek at the same messages in the same order. A lookup with the
    SequentialId as the lower 7 bytes of LookupId finds the message (erratum E59), and the SequentialIds ascend.
    """
    labels = ["first", "second", "third"]
    queue = remote.open_with_messages(*labels)
    known = []
    for label in labels:
        old, new = (queue.peek(by=by) for by in (Method.START_RECEIVE, Method.START_RECEIVE2))
        judge(
            "MQQP-3.1.4.10-D01",
            expected=old.label_or_outcome,
            observed=new.label_or_outcome,
            evidence=[old, new],
            case="label returned by the read",
        )
        sequential_id = new.sequential_id_of_read or 0
        found = find_label_by_sequential_id(queue, sequential_id, new)
        judge(
            "MQQP-3.1.4.10-05",
            "MQQP-3.1.4.10-52",
            "MQQP-3.1.4.10-D01",
            expected=label,
            observed=found,
            evidence=new.evidence,
            case="label of the message that was found",
        )
        received = queue.receive()
        known.append([sequential_id, received.sequential_id_of_read])
    ascending = [[one, one] for one in sorted(first for first, _ in known)]
    numbers = [first for first, _ in known]
    judge(
        "MQDMPR-3.1.7.1.9-10",
        expected=sorted(set(numbers)),
        case="SequentialIds of the messages",
        observed=numbers,
        evidence=received.evidence,
    )
    judge(
        "MQQP-3.1.4.10-05",
        "MQQP-3.1.4.10-52",
        expected=ascending,
        case="SequentialIds returned by peek and receive",
        observed=known,
        evidence=received.evidence,
    )


@needs("receive")
@covers("MQQP-3.1.4.10-05", "MQQP-3.1.4.10-52")
@pytest.mark.parametrize("kind", ["plain", "transactional"])
@varied("negative journaling", "time to be received", acknowledgments=("none", "of arrival"))
def test_sequential_id_is_low_7_bytes_of_lookup_identifier(remote, sut, judge, kind):
    """SequentialId of a peek, with or without a cursor, and of a receive equals the LookupIdentifier that the control
    channel shows for the message, without its highest byte. The same holds for messages that arrive while a peek or a
    receive waits.
    """
    queue = remote.open(kind)
    send_messages_to_queue(remote, kind, "first", "second")
    cursor = queue.open_cursor()
    reads = {
        "first": [queue.peek(by=Method.START_RECEIVE2), queue.peek(by=Method.START_RECEIVE2, hCursor=cursor)],
        "second": [queue.peek_next(by=Method.START_RECEIVE2, hCursor=cursor)],
    }
    waiting = queue.begin(Action.PEEK_NEXT, by=Method.START_RECEIVE2, hCursor=cursor, ulTimeout=LONG_READ_TIMEOUT_MS)
    send_messages_to_queue(remote, kind, "third")
    reads["third"] = [waiting.wait()]
    sequential_ids = read_sequential_ids_by_label(sut, kind)
    queue.receive()
    reads["second"].append(queue.start_receive(by=Method.START_RECEIVE2))
    queue.receive()
    late = queue.begin_receive(by=Method.START_RECEIVE2, ulTimeout=LONG_READ_TIMEOUT_MS)
    late.state_after_silence()
    send_messages_to_queue(remote, kind, "fourth")
    reads["fourth"] = [late.wait()]
    if late.outcome == "MQ_OK":
        queue.put_message_back(late)
    sequential_ids |= read_sequential_ids_by_label(sut, kind)
    for label, read in ((label, one) for label, found in reads.items() for one in found):
        judge.all(
            expected=sequential_ids[label],
            case="SequentialId",
            observed=read.sequential_id_of_read,
            evidence=read.evidence,
        )


@parametrize_by_method_with_rules(
    {
        Method.START_RECEIVE: {
            "failure": ["MQQP-3.1.4.1-10", "MQQP-3.1.4.1-D20"],
            "status": ["MQQP-3.1.4.1-D20", "MQDMPR-3.1.7.1.11-15"],
            "handle": ["MQQP-3.1.4.1-06", "MQQP-3.1.4.1-D19"],
            "not found": ["MQDMPR-3.1.7.1.10-19", "MQDMPR-3.1.7.1.10-20", "MQDMPR-3.1.7.1.11-15"],
        },
        Method.START_RECEIVE2: {
            "failure": ["MQQP-3.1.4.10-10", "MQQP-3.1.4.10-55"],
            "status": ["MQQP-3.1.4.10-55", "MQDMPR-3.1.7.1.11-15"],
            "handle": ["MQQP-3.1.4.10-03", "MQQP-3.1.4.10-54"],
            "not found": ["MQDMPR-3.1.7.1.10-19", "MQDMPR-3.1.7.1.10-20", "MQDMPR-3.1.7.1.11-15"],
        },
    }
)
@sut_survives()
def test_failing_read_returns_failure_and_null_handle(remote, judge, by, rules):
    """A read of an empty queue, a read with an unknown cursor, and a read with dwQueue 0 return a failure and the
    handle NULL. Then a message arrives, and a receive returns it. Reads whose timeout expires return
    MQ_ERROR_IO_TIMEOUT. Reads by a cursor whose message was received return MQ_ERROR_MESSAGE_ALREADY_RECEIVED.
    """
    queue = remote.open()
    cursor = queue.open_cursor()
    reads = [
        queue.start_receive(by=by),
        queue.peek(by=by),
        *(
            queue.read(action, by=by, hCursor=cursor)
            for action in (Action.RECEIVE, Action.PEEK_CURRENT, Action.PEEK_NEXT)
        ),
        queue.start_receive(by=by, hCursor=queue.UNKNOWN_HANDLE),
        queue.start_receive(by=by, dwQueue=0),
    ]
    expired = [
        queue.read(action, by=by, ulTimeout=SHORT_READ_TIMEOUT_MS) for action in (Action.RECEIVE, Action.PEEK_CURRENT)
    ]
    remote.deliver(["first"])
    at_received = [queue.open_cursor() for _ in range(2)]
    for one in at_received:
        queue.peek(by=by, hCursor=one)
    then = queue.receive(by=by).label_or_outcome
    late = [
        queue.read(action, by=by, hCursor=one)
        for action, one in zip((Action.RECEIVE, Action.PEEK_CURRENT), at_received, strict=True)
    ]
    next_cursor = queue.open_cursor()
    remote.deliver(["second"])
    queue.peek(by=by, hCursor=next_cursor)
    expired.append(queue.peek_next(by=by, hCursor=next_cursor, ulTimeout=SHORT_READ_TIMEOUT_MS))
    judge(
        *rules["status"],
        expected=facts(
            reads_that_expire=each("MQ_ERROR_IO_TIMEOUT"), reads_of_received=each("MQ_ERROR_MESSAGE_ALREADY_RECEIVED")
        ),
        observed={
            "reads_that_expire": [one.outcome for one in expired],
            "reads_of_received": [one.outcome for one in late],
        },
        evidence=[*expired, *late],
    )
    reads += [*expired, *late]
    evidence = reads
    observed = {"reads": [one.label_or_failure for one in reads], "receive_after_an_arrival": then}
    expected = facts(reads=each(Call.FAILURE_HRESULT_TEXT), receive_after_an_arrival="first")
    judge(*rules["failure"], expected=expected, observed=observed, evidence=evidence)
    judge(
        *rules["not found"],
        expected=MESSAGE_NOT_FOUND_STATUS,
        case="outcome of the read",
        observed=reads[2].outcome,
        evidence=reads[2].evidence,
    )
    without = [one.has_null_handle for one in reads]
    judge(*rules["handle"], expected=each(holds("NULL"), "read"), observed=without, evidence=evidence)


@parametrize_by_method_with_rules(
    {
        Method.START_RECEIVE: {
            "next": ["MQQP-3.1.4.1-D09"],
            "session": ["MQQP-3.1.4.1-D10"],
            "queue": ["MQQP-3.1.4.1-D07"],
            "cursor": ["MQQP-3.1.4.1-D12"],
        },
        Method.START_RECEIVE2: {
            "next": ["MQQP-3.1.4.10-17"],
            "session": ["MQQP-3.1.4.10-18", "MQQP-3.1.4.10-19"],
            "queue": ["MQQP-3.1.4.10-14"],
            "cursor": ["MQQP-3.1.4.10-21", "MQQP-3.1.4.10-22"],
        },
    }
)
@sut_survives()
def test_read_with_invalid_description_is_refused(remote, judge, by, rules):
    """Peeks and receives with a wrong dwQueue, with an unknown or closed cursor, with a cursor of another queue, or of
    an unopened or closed queue return the specified statuses. So does a PEEK_NEXT without a cursor. A valid peek
    succeeds.
    """
    queue = remote.open_with_messages("first")
    queue.cursor().expect_success()
    other = {"hRemoteQueue": queue.UNKNOWN_HANDLE, "dwQueue": queue.UNKNOWN_HANDLE}
    fine = queue.peek(by=by)

    def read_with_description(name, expected, calls):
        observed = {"valid_peek": fine.label_or_outcome, "invalid_peeks": [one.label_or_outcome for one in calls]}
        judge(
            *rules[name],
            expected=facts(valid_peek="first", invalid_peeks=each(expected)),
            observed=observed,
            evidence=calls,
        )

    beside = remote.open(association=queue.association)
    values = (0, queue.pointer + 1, queue.pointer ^ 0x1_0000, queue.pointer ^ 0x8000_0000, beside.pointer)
    both = (Action.PEEK_CURRENT, Action.RECEIVE)
    differs = [queue.read(action, by=by, dwQueue=value) for value in values for action in both]
    read_with_description("queue", "MQ_ERROR_INVALID_PARAMETER", differs)
    peeking = remote.open("admin", association=queue.association, access=PEEK_ACCESS)
    own = queue.open_cursor()
    following = [one.peek_next(by=by, ulTimeout=timeout_ms) for one in (queue, peeking) for timeout_ms in (0, 1_000)]
    read_with_description("next", "STATUS_INVALID_PARAMETER", following)
    of_another, closed = beside.open_cursor(), queue.open_cursor()
    queue.close_cursor(closed).expect_success()
    cursors = (queue.UNKNOWN_HANDLE, of_another, closed, own ^ 0x1_0000, own ^ 0x8000_0000)
    unknown = [queue.read(action, by=by, hCursor=cursor) for cursor in cursors for action in both]
    read_with_description("cursor", "STATUS_INVALID_PARAMETER", unknown)
    unopened = remote.open_remote(queue.association).expect_success().out.phQueue
    without = queue.peek(by=by, hRemoteQueue=unopened, dwQueue=unopened)
    ended = remote.open(association=queue.association)
    was_open = ended.peek(by=by).label_or_outcome
    ended.close().expect_success()
    late = [ended.read(action, by=by) for action in both]
    cursor = queue.association.call("R_QMCreateRemoteCursor", ptb1=transfer_buffer(), hQueue=unopened)
    by_cursor = {"hRemoteQueue": unopened, "dwQueue": unopened, "hCursor": cursor.out.phCursor if cursor.out else 0}
    without = [without, *(queue.read(action, by=by, **by_cursor) for action in both)]
    read_with_description("session", "MQ_ERROR_INVALID_PARAMETER", [*without, queue.peek(by=by, **other), *late])
    judge(
        *rules["session"], expected="first", observed=was_open, evidence=late, case="peek before the queue was closed"
    )
    still = queue.peek(by=by)
    judge(
        *rules["session"],
        expected="first",
        observed=still.label_or_outcome,
        evidence=still.evidence,
        case="peek after further queues were opened and closed",
    )


@covers("MQQP-3.1.4.10-13")
@sut_survives()
def test_read_without_description_is_refused(remote, judge):
    """RemoteQMStartReceive2 with pRemoteReadDesc NULL returns MQ_ERROR_INVALID_HANDLE: before and after a valid peek,
    for any SequentialId, and for a second client.
    """
    queue = remote.open_with_messages("first")
    calls = []
    for association in (queue.association, remote.associate()):
        for sequential_id in (0, 1, 0):
            description = build_desc2(None, sequential_id)
            calls.append(association.call(Method.START_RECEIVE2, lpRemoteReadDesc2=description))
        queue.peek().expect_success()
    judge(
        "MQQP-3.1.4.10-13",
        expected=each("MQ_ERROR_INVALID_HANDLE", "call"),
        observed=[call.outcome for call in calls],
        evidence=calls,
    )


@parametrize_by_method_with_rules(
    {
        Method.START_RECEIVE: {
            "cursor": ["MQQP-3.1.4.1-D12", "MQQP-3.1.4.1-01"],
            "handle": ["MQQP-3.1.4.1-05", "MQQP-3.1.4.1-D19"],
            "peek": ["MQQP-3.1.4.1-06", "MQQP-3.1.4.1-D19"],
            "no_cursor": ["MQQP-3.1.4.1-D13"],
            "next": [
                "MQQP-3.1.4.1-D05",
                "MQQP-3.1.4.1-D17",
                "MQDMPR-3.1.7.1.14-08",
                "MQDMPR-3.1.7.1.14-10",
                "MQDMPR-3.1.7.1.14-11",
            ],
            "receive": [
                "MQQP-3.1.4.1-D03",
                "MQQP-3.1.4.1-D15",
                "MQDMPR-3.1.7.1.10-12",
                "MQDMPR-3.1.7.1.10-15",
                "MQDMPR-3.1.7.1.11-10",
            ],
            "current": [
                "MQQP-3.1.4.1-D04",
                "MQQP-3.1.4.1-D16",
                "MQDMPR-3.1.7.1.15-10",
                "MQDMPR-3.1.7.1.15-12",
                "MQDMPR-3.1.7.1.15-13",
            ],
        },
        Method.START_RECEIVE2: {
            "cursor": ["MQQP-3.1.4.10-21"],
            "handle": ["MQQP-3.1.4.10-02", "MQQP-3.1.4.10-54"],
            "peek": ["MQQP-3.1.4.10-03", "MQQP-3.1.4.10-54"],
            "no_cursor": ["MQQP-3.1.4.10-23"],
            "next": [
                "MQQP-3.1.4.10-40",
                "MQQP-3.1.4.10-D04",
                "MQDMPR-3.1.7.1.14-08",
                "MQDMPR-3.1.7.1.14-10",
                "MQDMPR-3.1.7.1.14-11",
                "MQDMPR-3.2.7.2-16",
                "MQDMPR-3.2.7.3-19",
                "MQDMPR-3.2.7.3-20",
                "MQDMPR-3.2.7.3-21",
                "MQDMPR-3.2.7.3-22",
            ],
            "receive": [
                "MQQP-3.1.4.10-31",
                "MQQP-3.1.4.10-D02",
                "MQDMPR-3.1.7.1.10-12",
                "MQDMPR-3.1.7.1.10-15",
                "MQDMPR-3.1.7.1.11-10",
                "MQDMPR-3.2.7.4-27",
            ],
            "current": [
                "MQQP-3.1.4.10-36",
                "MQQP-3.1.4.10-D03",
                "MQDMPR-3.1.7.1.15-10",
                "MQDMPR-3.1.7.1.15-12",
                "MQDMPR-3.1.7.1.15-13",
                "MQDMPR-3.2.7.2-06",
                "MQDMPR-3.2.7.2-17",
                "MQDMPR-3.2.7.2-18",
                "MQDMPR-3.2.7.2-19",
                "MQDMPR-3.2.7.2-23",
                "MQDMPR-3.2.7.2-24",
            ],
        },
    }
)
@pytest.mark.parametrize("at", [0, 1, 2], ids=["first", "middle", "last"])
def test_reads_by_cursor_keep_cursor_move_it_or_take_message(remote, judge, by, rules, at):
    """A cursor is at the first, second or third of four messages, whose priorities differ between these cases.
    PEEK_CURRENT does not move the cursor, and PEEK_NEXT moves it. RECEIVE takes the message at the cursor; the next
    RECEIVE takes the next message. Only RECEIVE returns a handle. While a message is locked, two other cursors and
    reads without a cursor skip it. The other cursors do not move with the first cursor.
    """
    labels = ["first", "second", "third", "fourth"]
    queue = remote.open_with_messages()
    base = {"PR": 3 + 2 * at}
    remote.send_messages_and_require_acks(
        [remote.peer.recoverable_message(base=base, label=label, body=BODY_OF_MESSAGES_FROM_PEER) for label in labels]
    )
    others = [queue.open_cursor(), None, queue.open_cursor()]
    cursor = others[1] = queue.open_cursor()
    stays = [queue.peek(by=by, hCursor=cursor) for _ in range(2)]
    goes = [queue.peek_next(by=by, hCursor=cursor) for _ in range(at)]
    there = [queue.peek(by=by, hCursor=cursor) for _ in range(2)]
    without = [queue.peek(by=by)]
    seen = [step.label_or_outcome for step in (*stays, *there)]
    expected = ["first", "first", labels[at], labels[at]]
    judge(
        *rules["current"],
        expected=expected,
        observed=seen,
        evidence=[*stays, *there],
        case="labels returned by the peeks",
    )
    went = [*(step.label_or_outcome for step in goes), seen[2]]
    judge(
        *rules["next"],
        expected=[*labels[1 : at + 1], labels[at]],
        observed=went,
        evidence=there,
        case="labels returned by the peeks",
    )
    received = queue.start_receive(by=by, hCursor=cursor)
    left = [label for label in labels if label != labels[at]]
    judge(
        *rules["handle"],
        expected=facts(received=labels[at], has_handle=True),
        observed={"received": received.label_or_outcome, "has_handle": not received.has_null_handle},
        evidence=received.evidence,
    )
    judge(
        *rules["peek"],
        expected=each(holds("NULL"), "handle returned by a peek"),
        observed=[step.has_null_handle for step in (*stays, *goes, *there)],
        evidence=[*goes, *there],
    )
    apart = [queue.peek(by=by, hCursor=one) for one in (others[0], others[2])]
    apart += [queue.peek_next(by=by, hCursor=others[0]) for _ in left[1:]]
    observed = {
        "received": received.label_or_outcome,
        "reads_by_other_cursors": [one.label_or_outcome for one in apart],
    }
    judge(
        *rules["cursor"],
        expected=facts(received=labels[at], reads_by_other_cursors=[left[0], *left]),
        observed=observed,
        evidence=apart,
    )
    without.append(queue.peek(by=by))
    judge(
        *rules["no_cursor"],
        expected=["first", left[0]],
        observed=[one.label_or_outcome for one in without],
        evidence=without,
        case="labels returned by the peeks without a cursor",
    )
    judge.conclude(*chain.from_iterable(group for name, group in rules.items() if name != "receive"))
    ended = queue.acknowledge(received)
    following = queue.receive(by=by, hCursor=cursor)
    left.remove(labels[at + 1])
    observed = {
        "received": received.label_or_outcome,
        "end": ended.outcome,
        "received_next": following.label_or_outcome,
        "left": queue.labels(),
    }
    judge(
        *rules["receive"],
        expected=facts(received=labels[at], end="MQ_OK", received_next=labels[at + 1], left=left),
        observed=observed,
        evidence=[received, ended, following],
    )


@parametrize_by_method_with_rules(
    {
        Method.START_RECEIVE: {
            "receive": ["MQQP-3.1.4.1-D03", "MQQP-3.1.4.1-D13", "MQDMPR-3.1.7.1.9-14"],
            "current": ["MQQP-3.1.4.1-D04", "MQQP-3.1.4.1-D13", "MQDMPR-3.1.7.1.9-14"],
        },
        Method.START_RECEIVE2: {
            "receive": ["MQQP-3.1.4.10-D02", "MQQP-3.1.4.10-23", "MQDMPR-3.1.7.1.9-14"],
            "current": ["MQQP-3.1.4.10-D03", "MQQP-3.1.4.10-23", "MQDMPR-3.1.7.1.9-14"],
        },
    }
)
def test_reads_without_cursor_return_highest_priority(remote, judge, by, rules):
    """Four messages with the priorities 0 to 3 arrive and are peeked at, also by a cursor, which is moved to the second
    message. Then four messages with the priorities 4 to 7 arrive. Each peek and each receive without a cursor returns
    the remaining message with the highest priority.
    """
    queue = remote.open()
    cursor = queue.open_cursor()
    packets = [remote.peer.message({"DM": 1}, base={"PR": one}, label=f"priority {one}") for one in range(8)]
    remote.send_messages_and_require_acks(packets[:4])
    early = [queue.peek(by=by), queue.peek(by=by, hCursor=cursor), queue.peek_next(by=by, hCursor=cursor)]
    judge(
        *rules["current"],
        expected=["priority 3", "priority 3", "priority 2"],
        observed=[one.label_or_outcome for one in early],
        evidence=early,
        case="labels returned by the early peeks",
    )
    remote.send_messages_and_require_acks(packets[4:])
    wanted = [f"priority {one}" for one in reversed(range(8))]
    reads = []
    for _ in wanted:
        reads.append((queue.peek(by=by), queue.start_receive(by=by)))
        if reads[-1][1].outcome == "MQ_OK":
            queue.acknowledge(reads[-1][1])
    for name, which in (("current", 0), ("receive", 1)):
        observed = [pair[which].label_or_outcome for pair in reads]
        evidence = [pair[which] for pair in reads]
        judge(*rules[name], expected=wanted, observed=observed, evidence=evidence, case="labels returned by the reads")


@parametrize_by_method_with_rules(
    {
        Method.START_RECEIVE: {
            "next": ["MQQP-3.1.4.1-D05", "MQQP-3.1.4.1-D17"],
            "locked": ["MQQP-3.1.4.1-01", "MQQP-3.1.4.1-D15"],
            "receive": ["MQQP-3.1.4.1-D03"],
        },
        Method.START_RECEIVE2: {
            "next": ["MQQP-3.1.4.10-D04", "MQQP-3.1.4.10-40"],
            "locked": ["MQQP-3.1.4.10-31"],
            "receive": ["MQQP-3.1.4.10-D02"],
        },
    }
)
def test_cursor_crosses_priorities_and_passes_locked_messages(remote, judge, by, rules):
    """Messages of four priorities arrive in ascending order; PEEK_NEXT by a cursor returns them in descending order.
    One reader locks the first message. Receives by another handle, by another client and by a cursor then return the
    second, third and fourth message, and no read returns a locked message. When the second message is unlocked again, a
    receive by a cursor at that message returns it. The next receive by this cursor does not return the third message,
    which is locked.
    """
    labels = ["first", "second", "third", "fourth"]
    queue, beside, elsewhere = remote.open(), remote.open(), remote.open()
    packets = [
        remote.peer.message({"DM": 1}, base={"PR": priority}, label=label)
        for label, priority in zip(reversed(labels), (0, 3, 6, 7), strict=True)
    ]
    remote.send_messages_and_require_acks(packets)
    cursor, late = queue.open_cursor(), queue.open_cursor()
    steps = [queue.peek(by=by, hCursor=cursor), *(queue.peek_next(by=by, hCursor=cursor) for _ in labels[1:])]
    judge(
        *rules["next"],
        expected=labels,
        observed=[one.label_or_outcome for one in steps],
        evidence=steps,
        case="labels returned by the peeks",
    )
    held = [queue.start_receive(by=by), beside.start_receive(by=by), elsewhere.start_receive(by=by)]
    held.append(beside.start_receive(by=by, hCursor=beside.open_cursor()))
    further = [read(by=by) for one in (queue, beside, elsewhere) for read in (one.start_receive, one.peek)]
    judge(
        *rules["locked"],
        expected=facts(received=labels, further_reads=each(Call.FAILURE_HRESULT_TEXT)),
        observed={
            "received": [one.label_or_outcome for one in held],
            "further_reads": [one.label_or_failure for one in further],
        },
        evidence=held,
    )
    for owner, number in ((beside, 1), (beside, 3)):
        owner.put_message_back(held[number])
    by_cursor = [queue.start_receive(by=by, hCursor=late) for _ in range(2)]
    judge(
        *rules["receive"],
        expected=["second", "fourth"],
        observed=[one.label_or_outcome for one in by_cursor],
        evidence=by_cursor,
        case="labels returned by the receives by the cursor",
    )
