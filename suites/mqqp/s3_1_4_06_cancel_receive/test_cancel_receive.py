"""MS-MQQP 3.1.4.6 RemoteQMCancelReceive: the end of a waiting read."""

from __future__ import annotations

from typing import Any

import pytest

from harness.expectations import each, facts, none, one_of, status
from harness.run.marks import covers, needs, sut_survives
from harness.sut.releases import find_release
from harness.wire.rpc_qm2qm import Action, Method
from suites.mqqp.steps.cancelling import NO_MESSAGE_OUTCOME, describe_cancelled_read

pytestmark = needs("qm2qm")

INVALID_HANDLE_STATUS, INVALID_PARAMETER_STATUS, GENERAL_ERROR_STATUS = (
    "MQ_ERROR_INVALID_HANDLE",
    "MQ_ERROR_INVALID_PARAMETER",
    "MQ_ERROR",
)
LONG_READ_TIMEOUT_MS = 600_000
INFINITE_READ_TIMEOUT_MS = LARGEST_REQUEST_ID = 0xFFFF_FFFF
REQUEST_ID_BIT_31 = 0x8000_0000


@covers(
    "MQQP-3.1.4.6-05",
    "MQQP-3.1.4.6-07",
    "MQQP-3.1.4.6-08",
    "MQQP-3.1.4.6-09",
    "MQQP-3.1.4.6-10",
    "MQQP-3.1.4.6-11",
    "MQQP-3.1.4.6-D02",
    "MQQP-3.1.4.1-02",
)
@sut_survives()
def test_cancel_with_wrong_queue_or_request_id_is_refused(remote, judge):
    """RemoteQMCancelReceive returns the specified status if no read waits, if it names another queue, if pQueue is
    wrong, or if the dwRequestID is unknown. A waiting read continues to wait. With the right values, the read ends.
    """
    queue = remote.open()
    unopened = remote.open_remote(queue.association).expect_success().out.phQueue
    number = remote.request_id()
    arguments = {"hQueue": unopened, "pQueue": unopened, "dwRequestID": number}
    before = [queue.association.call("RemoteQMCancelReceive", **arguments), queue.cancel(number)]
    closed = remote.open(association=queue.association)
    closed.close().expect_success()
    before += [
        queue.association.call("RemoteQMCancelReceive", hQueue=one, pQueue=one, dwRequestID=number)
        for one in (closed.handle, queue.UNKNOWN_HANDLE)
    ]
    judge("MQQP-3.1.4.6-09", expected=each(status(INVALID_HANDLE_STATUS), "call"), observed=before, evidence=before)
    admin = remote.open("admin", association=queue.association)
    read = queue.begin_receive(dwRequestID=number, ulTimeout=LONG_READ_TIMEOUT_MS)
    waits = read.state_after_silence()
    elsewhere = [one.cancel(number) for one in (admin, remote.open(association=queue.association))]
    judge(
        "MQQP-3.1.4.6-08",
        "MQQP-3.1.4.6-09",
        expected=facts(read=read.WAITING, cancels=each(INVALID_HANDLE_STATUS)),
        observed={"read": waits, "cancels": [one.outcome for one in elsewhere]},
        evidence=elsewhere,
    )
    pointers = [
        queue.association.call("RemoteQMCancelReceive", hQueue=queue.handle, pQueue=value, dwRequestID=number)
        for value in (0, queue.pointer + 1, queue.pointer ^ 0x1_0000, queue.pointer ^ REQUEST_ID_BIT_31, admin.pointer)
    ]
    observed = {
        "pQueue_0": pointers[0].outcome,
        "pQueue_of_another_queue": [one.outcome for one in pointers[1:]],
        "read": read.state_after_silence(),
    }
    expected = facts(
        pQueue_0=find_release(remote.sut).status_of_cancel_without_queue,
        pQueue_of_another_queue=each(INVALID_PARAMETER_STATUS),
        read=read.WAITING,
    )
    judge("MQQP-3.1.4.6-07", expected=expected, observed=observed, case="pQueue", evidence=pointers)
    others = [queue.cancel(one) for one in (remote.request_id(), 0, number ^ 0x1_0000, number ^ REQUEST_ID_BIT_31)]
    still = read.state_after_silence()
    judge(
        "MQQP-3.1.4.6-11",
        expected=facts(cancels=each(GENERAL_ERROR_STATUS), read=read.WAITING),
        observed={"cancels": [one.outcome for one in others], "read": still},
        evidence=others,
        case="cancels with unknown dwRequestIDs",
    )
    judge(
        "MQQP-3.1.4.6-D02",
        expected=none("fault"),
        observed=[one.outcome for one in others if one.thrown is not None],
        evidence=others,
    )
    cancelled = queue.cancel(number)
    seen = {
        "cancels_of_other_requests": [one.outcome for one in others],
        "read_before_cancel": still,
        "cancel": cancelled.outcome,
        "read": describe_cancelled_read(read),
    }
    expected = facts(
        cancels_of_other_requests=each(GENERAL_ERROR_STATUS),
        read_before_cancel=read.WAITING,
        cancel="MQ_OK",
        read=NO_MESSAGE_OUTCOME,
    )
    judge(
        "MQQP-3.1.4.6-10",
        "MQQP-3.1.4.1-02",
        expected=expected,
        observed=seen,
        evidence=[*others, cancelled],
    )
    judge(
        "MQQP-3.1.4.6-05",
        expected="MQ_OK",
        observed=cancelled.outcome,
        evidence=cancelled.evidence,
        case="call of RemoteQMCancelReceive",
    )
    late = queue.cancel(number)
    judge(
        "MQQP-3.1.4.6-09",
        expected=INVALID_HANDLE_STATUS,
        observed=late.outcome,
        evidence=late.evidence,
        case="cancel when no read waits any more",
    )


@covers("MQQP-3.1.4.6-09")
@pytest.mark.parametrize("by", [Method.START_RECEIVE, Method.START_RECEIVE2])
def test_receive_that_returned_message_is_not_cancelled(remote, judge, by):
    """A receive returns a message and is not ended, while reads wait at a second queue. RemoteQMCancelReceive with the
    dwRequestID of this receive returns MQ_ERROR_INVALID_HANDLE, and the message stays locked until the receive is
    ended.
    """
    queue, number = remote.open_with_messages("first", "second"), remote.request_id()
    admin = remote.open("admin")
    waiting = admin.begin_receive(by=by, dwRequestID=number, ulTimeout=LONG_READ_TIMEOUT_MS)
    received = queue.start_receive(by=by, dwRequestID=number)
    cancelled = queue.cancel(number)
    peeked = queue.peek(by=by)
    ended = queue.put_message_back(received)
    observed = {
        "received": received.label_or_outcome,
        "cancel": cancelled.outcome,
        "peek": peeked.label_or_outcome,
        "end": ended.outcome,
        "queue": queue.labels(),
        "read_of_second_queue": waiting.state_after_silence(),
    }
    expected = facts(
        received="first",
        cancel=INVALID_HANDLE_STATUS,
        peek="second",
        end="MQ_OK",
        queue=["first", "second"],
        read_of_second_queue=waiting.WAITING,
    )
    judge.all(expected=expected, observed=observed, evidence=[received, cancelled, ended])


@covers(
    "MQQP-3.1.4.6-05",
    "MQQP-3.1.4.6-14",
    "MQQP-3.1.4.6-15",
    "MQQP-3.1.4.6-19",
    "MQQP-3.1.4.6-20",
    "MQQP-3.1.4.6-D01",
)
@pytest.mark.parametrize("with_cursor", [False, True], ids=["plain", "by cursor"])
def test_cancel_of_peek_succeeds_only_if_peek_ends(remote, judge, with_cursor):
    """A waiting peek, with or without a cursor, is cancelled. Either RemoteQMCancelReceive returns MQ_OK and the peek
    ends without a message, or it returns a failure and the peek still waits (erratum E52). The dwRequestID of a
    cancelled peek can be used again, and the queue stays open.
    """
    queue, number = remote.open(), remote.request_id()
    cursor = queue.open_cursor() if with_cursor else 0
    read = queue.begin(Action.PEEK_CURRENT, dwRequestID=number, ulTimeout=LONG_READ_TIMEOUT_MS, hCursor=cursor)
    read.state_after_silence()
    cancelled = queue.cancel(number)
    read.state_after_silence()
    judge(
        "MQQP-3.1.4.6-05",
        "MQQP-3.1.4.6-20",
        "MQQP-3.1.4.6-D01",
        expected=one_of(facts(cancel_succeeds=True, peek_ends=True), facts(cancel_succeeds=False, peek_ends=False)),
        observed={"cancel_succeeds": cancelled.outcome == "MQ_OK", "peek_ends": read.answered},
        case="cancel and peek",
        evidence=[read, cancelled],
    )
    if cancelled.outcome != "MQ_OK":
        ids = ("MQQP-3.1.4.6-14", "MQQP-3.1.4.6-15", "MQQP-3.1.4.6-19")
        judge.mark_not_exercised(*ids, reason="the SUT cancels no peeks (erratum E52)")
        return
    judge(
        "MQQP-3.1.4.6-15",
        expected=NO_MESSAGE_OUTCOME,
        observed=describe_cancelled_read(read),
        case="cancelled peek",
        evidence=[read],
    )
    again = queue.begin(Action.PEEK_CURRENT, dwRequestID=number, ulTimeout=LONG_READ_TIMEOUT_MS, hCursor=cursor)
    waits = again.state_after_silence()
    judge(
        "MQQP-3.1.4.6-19",
        expected=read.WAITING,
        observed=waits,
        case="new peek with the same dwRequestID",
        evidence=[cancelled, again],
    )
    judge.conclude("MQQP-3.1.4.6-19")
    queue.cancel(number)
    remote.deliver(["first"])
    peeked = queue.peek(hCursor=cursor)
    judge(
        "MQQP-3.1.4.6-14",
        expected="first",
        observed=peeked.label_or_outcome,
        case="peek after the cancel of a peek",
        evidence=[cancelled, peeked],
    )


@covers(
    "MQQP-3.1.4.6-14",
    "MQQP-3.1.4.6-15",
    "MQQP-3.1.4.6-19",
    "MQQP-3.1.4.6-20",
    *("MQQP-2.2.2.1-04", "MQQP-2.2.2.1-05", "MQQP-3.1.1.3-01"),
)
def test_cancelled_read_ends_and_queue_stays_open(remote, judge):
    """One of two waiting receives is cancelled and ends without a message. Its dwRequestID can be used again, and a
    second RemoteQMCancelReceive for it fails. The other receive still waits, and gets the next message.
    """
    queue = remote.open()
    cursor = queue.open_cursor()
    one, two = remote.request_id(), remote.request_id()
    first, second = (
        queue.begin_receive(dwRequestID=number, ulTimeout=timeout_ms)
        for number, timeout_ms in ((one, INFINITE_READ_TIMEOUT_MS), (two, LONG_READ_TIMEOUT_MS))
    )
    waits = [first.state_after_silence(), second.state_after_silence()]
    taken = queue.start_receive(dwRequestID=one)
    cancelled = queue.cancel(one)
    end = describe_cancelled_read(first)
    evidence = [*first.evidence, *cancelled.evidence]
    judge("MQQP-3.1.4.6-15", expected=NO_MESSAGE_OUTCOME, observed=end, evidence=evidence, case="cancelled read")
    judge(
        "MQQP-3.1.4.6-20",
        expected="MQ_OK",
        observed=cancelled.outcome,
        evidence=cancelled.evidence,
        case="call of RemoteQMCancelReceive",
    )
    judge(
        "MQQP-2.2.2.1-05",
        expected=INVALID_PARAMETER_STATUS,
        observed=taken.outcome,
        evidence=taken.evidence,
        case="read with a dwRequestID in use",
    )
    again = queue.cancel(one)
    fresh = queue.begin_receive(dwRequestID=one, ulTimeout=LONG_READ_TIMEOUT_MS)
    seen, expected = (
        {"second_cancel": again.outcome, "new_read_with_the_same_dwRequestID": fresh.state_after_silence()},
        facts(second_cancel=GENERAL_ERROR_STATUS, new_read_with_the_same_dwRequestID=first.WAITING),
    )
    judge("MQQP-3.1.4.6-19", expected=expected, observed=seen, evidence=again.evidence)
    seen = {
        "reads_before_the_cancel": waits,
        "cancel": cancelled.outcome,
        "first_read": end,
        "second_read": second.state_after_silence(),
    }
    expected = facts(
        reads_before_the_cancel=each(first.WAITING),
        cancel="MQ_OK",
        first_read=NO_MESSAGE_OUTCOME,
        second_read=first.WAITING,
    )
    judge("MQQP-2.2.2.1-04", "MQQP-3.1.1.3-01", expected=expected, observed=seen, evidence=evidence)
    judge.conclude("MQQP-3.1.4.6-15", "MQQP-3.1.4.6-19", "MQQP-3.1.4.6-20")
    queue.cancel(one)
    remote.deliver(["first"])
    got = second.wait()
    queue.end(got, 1)
    peeked, by_cursor = queue.peek(), queue.peek(hCursor=cursor)
    judge(
        "MQQP-3.1.4.6-14",
        expected=facts(second_read="first", peek_afterwards="first", peek_by_cursor="first"),
        observed={
            "second_read": got.label_or_outcome,
            "peek_afterwards": peeked.label_or_outcome,
            "peek_by_cursor": by_cursor.label_or_outcome,
        },
        evidence=[peeked, by_cursor],
    )


@covers("MQQP-3.1.4.6-10", "MQQP-3.1.4.1-02", "MQQP-3.1.1.3-01", "MQQP-3.1.1.3-02", "MQQP-2.2.2.1-04")
@covers("MQDMPR-3.1.7.1.17-05", "MQDMPR-3.1.7.3.1-18")
@pytest.mark.parametrize("which", [0, 1, 2], ids=["first", "middle", "last"])
def test_cancel_ends_only_read_of_request_id(remote, judge, which):
    """A receive without a timeout, a receive by a cursor and a RemoteQMStartReceive wait. One of their dwRequestIDs is
    0, and the other two have only high bits set. RemoteQMCancelReceive names one of the three dwRequestIDs. The read
    with this dwRequestID ends without a message, and the other two reads still wait.
    """
    queue = remote.open()
    numbers = [0, 0x1_0000, REQUEST_ID_BIT_31]
    cursor = queue.open_cursor()
    kinds: tuple[dict[str, Any], ...] = (
        {"ulTimeout": INFINITE_READ_TIMEOUT_MS},
        {"ulTimeout": LONG_READ_TIMEOUT_MS, "hCursor": cursor},
        {"ulTimeout": LONG_READ_TIMEOUT_MS, "by": Method.START_RECEIVE},
    )
    reads = [queue.begin_receive(dwRequestID=number, **kind) for number, kind in zip(numbers, kinds, strict=True)]
    waits = [read.state_after_silence() for read in reads]
    cancelled = queue.cancel(numbers[which])
    after = [describe_cancelled_read(read) if read is reads[which] else read.state_after_silence() for read in reads]
    expected = [NO_MESSAGE_OUTCOME if read is reads[which] else read.WAITING for read in reads]
    judge.all(
        expected=facts(reads_before_the_cancel=each(reads[0].WAITING), cancel="MQ_OK", reads_after_the_cancel=expected),
        observed={"reads_before_the_cancel": waits, "cancel": cancelled.outcome, "reads_after_the_cancel": after},
        evidence=cancelled.evidence,
    )
    for number in numbers:
        queue.cancel(number)


@covers(
    "MQQP-3.1.4.6-D01",
    "MQQP-3.1.4.6-10",
    "MQQP-3.1.4.6-15",
    "MQQP-3.1.4.6-19",
    "MQQP-3.1.4.6-20",
    "MQQP-3.1.1.3-01",
    "MQDMPR-3.1.7.1.11-12",
    "MQDMPR-3.1.7.1.17-06",
    "MQDMPR-3.1.7.1.17-07",
    "MQDMPR-3.1.7.1.17-10",
)
@pytest.mark.parametrize("by", [Method.START_RECEIVE, Method.START_RECEIVE2])
@pytest.mark.parametrize(
    "with_cursor",
    [
        pytest.param(False, id="plain"),
        pytest.param(True, marks=covers("MQDMPR-3.1.7.1.10-27"), id="by cursor"),
    ],
)
@pytest.mark.parametrize("other_client", [False, True], ids=["same client", "other client"])
def test_cancelled_receive_leaves_message_to_next_receive(remote, judge, by, with_cursor, other_client):
    """Two receives wait, and the later one, with or without a cursor, is cancelled by its own client or by another
    client. It ends without a message, and the earlier receive still waits. The next receive returns the next message.
    """
    earlier = remote.open().begin_receive(by=by, ulTimeout=LONG_READ_TIMEOUT_MS)
    earlier.state_after_silence()
    queue = remote.open()
    cursor = queue.open_cursor() if with_cursor else 0
    number = LARGEST_REQUEST_ID if with_cursor else remote.request_id()
    timeout_ms = INFINITE_READ_TIMEOUT_MS if with_cursor else LONG_READ_TIMEOUT_MS
    read = queue.begin_receive(by=by, hCursor=cursor, dwRequestID=number, ulTimeout=timeout_ms)
    waits = read.state_after_silence()
    caller = remote.associate() if other_client else queue.association
    numbers = {"hQueue": queue.handle, "pQueue": queue.pointer, "dwRequestID": number}
    cancelled = caller.call("RemoteQMCancelReceive", **numbers)
    end = describe_cancelled_read(read)
    remote.deliver(["first", "second"])
    then = queue.start_receive(by=by).label_or_outcome
    observed = {
        "pending_receive_before_the_cancel": waits,
        "cancel": cancelled.outcome,
        "pending_receive_after_the_cancel": end,
        "earlier_receive": earlier.wait().label_or_outcome,
        "next_receive": then,
    }
    expected, evidence = (
        facts(
            pending_receive_before_the_cancel=read.WAITING,
            cancel="MQ_OK",
            pending_receive_after_the_cancel=NO_MESSAGE_OUTCOME,
            earlier_receive="first",
            next_receive="second",
        ),
        [read, cancelled],
    )
    ended_by_tag = (
        "MQQP-3.1.4.6-D01",
        "MQQP-3.1.4.6-10",
        "MQQP-3.1.4.6-15",
        "MQQP-3.1.4.6-19",
        "MQQP-3.1.1.3-01",
        "MQDMPR-3.1.7.1.11-12",
        "MQDMPR-3.1.7.1.17-06",
        "MQDMPR-3.1.7.1.17-07",
    )
    by_cursor = ("MQDMPR-3.1.7.1.10-27",) if with_cursor else ()
    judge(*ended_by_tag, *by_cursor, expected=expected, observed=observed, evidence=evidence)
    judge(
        "MQQP-3.1.4.6-20",
        "MQDMPR-3.1.7.1.17-10",
        expected="MQ_OK",
        observed=cancelled.outcome,
        evidence=cancelled.evidence,
        case="cancel of the read",
    )
