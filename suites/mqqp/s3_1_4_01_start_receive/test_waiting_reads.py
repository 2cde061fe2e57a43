"""MS-MQQP 3.1.4.1 RemoteQMStartReceive, 3.1.4.10 RemoteQMStartReceive2: reads that wait for a message."""

from __future__ import annotations

import pytest

from harness.expectations import each, facts, holds, in_queue
from harness.peer.association import Call
from harness.run.marks import covers, needs, sut_survives
from harness.sut.releases import does_release_lack_method
from harness.wire.rpc_qm2qm import Action, Method
from suites.mqqp.steps.methods import parametrize_by_method_with_rules
from suites.mqqp.steps.reading import send_messages_to_queue

pytestmark = needs("qm2qm")

LONG_READ_TIMEOUT_MS = 0x8000_0000
"""A timeout of 24 days, whose low 31 bits are zero: a timeout that is kept in fewer bits expires at once."""
SHORT_READ_TIMEOUT_MS, SHORTEST_READ_TIMEOUT_MS = 1_000, 200
LONGEST_ZERO_TIMEOUT_READ_MS = 500
"""A time in ms within which every read with timeout 0 ends."""


def find_other_read_starting_method(remote, by):
    """Return the other of the two methods that start a read. If the SUT's release does not have that method, return the
    given method.
    """
    other = Method.START_RECEIVE2 if by == Method.START_RECEIVE else Method.START_RECEIVE
    return by if does_release_lack_method(remote.sut, other) else other


@parametrize_by_method_with_rules(
    {
        Method.START_RECEIVE: {
            "twice": ["MQQP-3.1.4.1-12", "MQQP-2.2.2.1-05"],
            "searched": ["MQQP-3.1.4.1-D08"],
        },
        Method.START_RECEIVE2: {
            "twice": ["MQQP-3.1.4.10-15", "MQQP-2.2.2.1-05"],
            "searched": ["MQQP-3.1.4.10-16"],
        },
    }
)
@sut_survives()
@pytest.mark.parametrize("action", [Action.RECEIVE, Action.PEEK_CURRENT], ids=["receive", "peek"])
def test_request_id_of_waiting_read_is_refused_on_same_handle(remote, judge, by, rules, action):
    """Three reads wait, one of them by the other method and one by a cursor. The SUT refuses receives that reuse the
    dwRequestIDs of these reads through the same queue handle, and the reads still wait. Two kinds of further receives
    wait as well: a receive with one of these dwRequestIDs through a different handle of the queue, and receives through
    the same handle whose dwRequestIDs differ in one bit.
    """
    queue, second = remote.open(), remote.open()
    numbers = [0, remote.request_id()]
    by_cursor = remote.request_id()
    reads = [
        queue.begin(one, by=how, dwRequestID=number, ulTimeout=LONG_READ_TIMEOUT_MS)
        for one, how, number in zip(
            (Action.RECEIVE, action), (find_other_read_starting_method(remote, by), by), numbers, strict=True
        )
    ]
    numbers.append(by_cursor)
    how = {"dwRequestID": by_cursor, "hCursor": queue.open_cursor(), "ulTimeout": LONG_READ_TIMEOUT_MS}
    reads.append(queue.begin(action, by=by, **how))
    waits = [one.state_after_silence() for one in reads]
    twice = [queue.start_receive(by=by, dwRequestID=one, ulTimeout=LONG_READ_TIMEOUT_MS) for one in numbers]
    still = [one.state_after_silence() for one in reads]
    judge(
        *rules["twice"],
        expected=facts(refusals=each("MQ_ERROR_INVALID_PARAMETER"), waiting_reads=each(Call.WAITING)),
        observed={"refusals": [one.outcome for one in twice], "waiting_reads": still},
        evidence=twice,
        case="second reads with the dwRequestIDs",
    )
    elsewhere = second.begin_receive(by=by, dwRequestID=numbers[0], ulTimeout=LONG_READ_TIMEOUT_MS)
    similar = [
        queue.begin_receive(by=by, dwRequestID=numbers[1] ^ bit, ulTimeout=LONG_READ_TIMEOUT_MS)
        for bit in (0x1_0000, 0x8000_0000)
    ]
    seen = {
        "first_reads": waits,
        "second_reads_by_the_same_handle": [one.outcome for one in twice],
        "read_by_a_different_handle": elsewhere.state_after_silence(),
        "reads_with_similar_request_ids": [one.state_after_silence() for one in similar],
    }
    expected = facts(
        first_reads=each(Call.WAITING),
        second_reads_by_the_same_handle=each("MQ_ERROR_INVALID_PARAMETER"),
        read_by_a_different_handle=Call.WAITING,
        reads_with_similar_request_ids=each(Call.WAITING),
    )
    judge(*rules["searched"], expected=expected, observed=seen, evidence=[elsewhere, *similar])


@parametrize_by_method_with_rules(
    {
        Method.START_RECEIVE: {
            "created": ["MQQP-3.1.4.1-D14"],
            "removed": ["MQQP-3.1.4.1-D18"],
            "found": ["MQQP-3.1.4.1-D11"],
        },
        Method.START_RECEIVE2: {
            "created": ["MQQP-3.1.4.10-24", "MQQP-3.1.4.10-30"],
            "removed": ["MQQP-3.1.4.10-53"],
            "found": ["MQQP-3.1.4.10-20"],
        },
    }
)
@pytest.mark.parametrize(
    ("action", "of_queue"),
    [
        pytest.param(action, rule, marks=covers(rule), id=name)
        for action, rule, name in (
            (Action.RECEIVE, "MQDMPR-3.1.7.1.10-09", "receive"),
            (Action.PEEK_CURRENT, "MQDMPR-3.1.7.1.15-06", "peek"),
        )
    ],
)
def test_waiting_read_can_be_cancelled_and_frees_its_request_id(remote, judge, by, rules, action, of_queue):
    """RemoteQMCancelReceive ends a waiting receive if the call has the handle of the queue at which the receive waits,
    but not if it has the handle of another queue. However a read ends, its dwRequestID can be used again. The reads of
    two queues return the messages of their own queues.
    """
    queue = remote.open()
    admin = remote.open("admin")
    number = remote.request_id()
    read = queue.begin_receive(by=by, dwRequestID=number, ulTimeout=LONG_READ_TIMEOUT_MS)
    waits = read.state_after_silence()
    elsewhere, here = admin.cancel(number), queue.cancel(number)
    read.wait()
    seen = {
        "read_before_the_cancel": waits,
        "cancel_by_another_queue": elsewhere.outcome,
        "cancel_by_its_queue": here.outcome,
        "the_read_has_ended": read.answered,
    }
    expected = facts(
        read_before_the_cancel=read.WAITING,
        cancel_by_another_queue="MQ_ERROR_INVALID_HANDLE",
        cancel_by_its_queue="MQ_OK",
        the_read_has_ended=True,
    )
    judge(*rules["created"], expected=expected, observed=seen, evidence=[*read.evidence, *here.evidence])
    empty = queue.read(action, by=by, dwRequestID=number)
    expired = queue.read(action, by=by, dwRequestID=number, ulTimeout=SHORTEST_READ_TIMEOUT_MS)
    arriving = queue.begin(action, by=by, dwRequestID=number, ulTimeout=LONG_READ_TIMEOUT_MS)
    remote.deliver(["first"])
    arriving.wait()
    if action == Action.RECEIVE:
        queue.put_message_back(arriving)
    cursor, at_first = queue.open_cursor(), queue.open_cursor()
    queue.peek(hCursor=at_first).expect_success()
    by_cursor = [
        queue.read(one, by=by, dwRequestID=number, hCursor=cursor) for one in (Action.PEEK_CURRENT, Action.PEEK_NEXT)
    ]
    again = queue.start_receive(by=by, dwRequestID=number)
    locked = queue.peek(by=by, dwRequestID=number, hCursor=at_first)
    last = queue.begin_receive(by=by, dwRequestID=number, ulTimeout=LONG_READ_TIMEOUT_MS)
    seen = {
        "reads_of_empty_queue": [empty.label_or_failure, expired.label_or_failure],
        "read_at_arrival": arriving.label_or_outcome,
        "reads_by_cursor": [one.label_or_failure for one in by_cursor],
        "next_receive": again.label_or_outcome,
        "peek_while_locked": locked.label_or_failure,
        "last_receive": last.state_after_silence(),
    }
    evidence = [empty, expired, arriving, *by_cursor, again, locked, last]
    judge(
        *rules["removed"],
        expected=facts(
            reads_of_empty_queue=each(Call.FAILURE_HRESULT_TEXT),
            read_at_arrival="first",
            reads_by_cursor=["first", Call.FAILURE_HRESULT_TEXT],
            next_receive="first",
            peek_while_locked=Call.FAILURE_HRESULT_TEXT,
            last_receive=Call.WAITING,
        ),
        observed=seen,
        evidence=evidence,
    )
    queue.cancel(number).expect_success()
    queue.acknowledge(again).expect_success()
    remote.deliver(["second"], queue="admin")
    remote.deliver(["third"])
    right = [admin.read(action, by=by), queue.read(action, by=by)]
    seen = {
        "label_read_from_queue_admin": right[0].label_or_outcome,
        "label_read_from_queue_plain": right[1].label_or_outcome,
    }
    judge(
        *rules["found"],
        of_queue,
        expected=facts(label_read_from_queue_admin="second", label_read_from_queue_plain="third"),
        observed=seen,
        evidence=right,
    )


WAITING_READ_RULES = (
    "MQDMPR-3.1.7.1.9-23",
    "MQDMPR-3.1.7.3.1-07",
    "MQDMPR-3.1.7.3.1-18",
    "MQDMPR-3.1.7.3.1-21",
    "MQDMPR-3.1.7.3.1-22",
    "MQDMPR-3.1.7.3.1-23",
)
"""The rules of MS-MQDMPR about every waiting read."""


@parametrize_by_method_with_rules(
    {
        Method.START_RECEIVE: {
            "waits": ["MQQP-3.1.4.1-D02"],
        },
        Method.START_RECEIVE2: {
            "waits": ["MQQP-3.1.4.10-D01"],
        },
    }
)
@covers(*WAITING_READ_RULES)
@pytest.mark.parametrize(
    ("action", "events"),
    [
        pytest.param(action, events, marks=covers(*events), id=name)
        for action, events, name in (
            (Action.RECEIVE, ("MQDMPR-3.1.7.1.10-D01", "MQDMPR-3.1.7.1.10-D02"), "receive"),
            (Action.PEEK_CURRENT, ("MQDMPR-3.1.7.1.15-44", "MQDMPR-3.1.7.1.15-51", "MQDMPR-3.1.7.1.15-52"), "peek"),
            (
                Action.PEEK_NEXT,
                ("MQDMPR-3.1.7.1.14-16", "MQDMPR-3.1.7.1.14-17", "MQDMPR-3.1.7.1.14-24", "MQDMPR-3.1.7.1.14-29"),
                "peek next",
            ),
        )
    ],
)
@pytest.mark.parametrize("kind", ["plain", "transactional"])
def test_read_with_timeout_waits_for_message(remote, judge, by, rules, action, events, kind):
    """No message is available. A read with timeout 0 fails before a message arrives. A read with a timeout of 24 days
    waits until a message arrives, and returns it. An identical read by another client waits at the same time; if the
    reads are receives, this read returns the next message, and if they are peeks, it returns the same message.
    """
    queue = remote.open(kind)
    send_messages_to_queue(remote, kind, *(["first"] if action == Action.PEEK_NEXT else []))
    other = remote.open(kind)
    cursors, of_other = [0, 0], 0
    if action == Action.PEEK_NEXT:  # one cursor for each read: E180
        cursors = [queue.open_cursor() for _ in cursors]
        for cursor in cursors:
            queue.peek(by=by, hCursor=cursor).expect_success()
        of_other = other.open_cursor()
        other.peek(by=by, hCursor=of_other).expect_success()
    read = queue.begin(action, by=by, hCursor=cursors[1], ulTimeout=LONG_READ_TIMEOUT_MS)
    beside = other.begin(action, by=by, hCursor=of_other, ulTimeout=LONG_READ_TIMEOUT_MS)
    waits = read.state_after_silence()
    at_once = queue.begin(action, by=by, hCursor=cursors[0]).wait(LONGEST_ZERO_TIMEOUT_READ_MS)
    send_messages_to_queue(remote, kind, "second")
    at_once.wait()
    read.wait()
    of_beside = beside.state_after_silence()
    send_messages_to_queue(remote, kind, "third")
    beside.wait()
    seen, evidence = (
        {
            "read_with_timeout_0": at_once.label_or_failure,
            "read_before_an_arrival": waits,
            "read_after_an_arrival": read.label_or_outcome,
            "read_of_the_other_client": [of_beside, beside.label_or_outcome],
        },
        [at_once, read, beside],
    )
    expected = facts(
        read_with_timeout_0=read.FAILURE_HRESULT_TEXT,
        read_before_an_arrival=read.WAITING,
        read_after_an_arrival="second",
        read_of_the_other_client=[Call.WAITING, "third"] if action == Action.RECEIVE else ["second", "second"],
    )
    judge(*rules["waits"], *WAITING_READ_RULES, *events, expected=expected, observed=seen, evidence=evidence)


@parametrize_by_method_with_rules(
    {
        Method.START_RECEIVE: {
            "receive": ["MQQP-3.1.4.1-05", "MQQP-3.1.4.1-D19"],
            "peek": ["MQQP-3.1.4.1-06", "MQQP-3.1.4.1-D19"],
            "peeked": ["MQQP-3.1.4.1-D01", "MQQP-3.1.4.1-D04", "MQQP-3.1.4.1-D16"],
            "locked": ["MQQP-3.1.4.1-D15", "MQQP-3.1.4.1-01"],
            "next": ["MQQP-3.1.4.1-D05", "MQQP-3.1.4.1-D17"],
        },
        Method.START_RECEIVE2: {
            "receive": ["MQQP-3.1.4.10-02", "MQQP-3.1.4.10-54"],
            "peek": ["MQQP-3.1.4.10-03", "MQQP-3.1.4.10-54"],
            "peeked": ["MQQP-3.1.4.10-36", "MQQP-3.1.4.10-D03"],
            "locked": ["MQQP-3.1.4.10-31"],
            "next": ["MQQP-3.1.4.10-40", "MQQP-3.1.4.10-D04"],
        },
    }
)
def test_only_waiting_receive_returns_handle_and_locks_message(remote, judge, by, rules):
    """A receive waits at an empty queue, and a PEEK_NEXT waits at the last message of a second queue. Both return the
    next message, and only the receive returns a handle. The PEEK_NEXT moves its cursor to the message, and no other
    cursor. The message of the receive is locked: a second receive still waits until it is cancelled, and a peek waits
    until a further message arrives, which stays available. After RR_NACK, the first message is available again.
    """
    queue, other = remote.open(), remote.open()
    second = remote.open("admin", association=queue.association)
    remote.deliver(["zero"], queue="admin")
    cursor, at_first = second.open_cursor(), second.open_cursor()
    for one in (cursor, at_first):
        second.peek(by=by, hCursor=one).expect_success()
    receive = queue.begin_receive(by=by, ulTimeout=LONG_READ_TIMEOUT_MS)
    number = remote.request_id()
    later = queue.begin_receive(by=by, dwRequestID=number, ulTimeout=LONG_READ_TIMEOUT_MS)
    following = second.begin(Action.PEEK_NEXT, by=by, hCursor=cursor, ulTimeout=LONG_READ_TIMEOUT_MS)
    remote.deliver(["first"])
    remote.deliver(["one"], queue="admin")
    reads = [receive.wait(), following.wait()]
    later_waits = later.state_after_silence()
    queue.cancel(number)
    peek = queue.begin(Action.PEEK_CURRENT, by=by, ulTimeout=LONG_READ_TIMEOUT_MS)
    waits = peek.state_after_silence()
    remote.deliver(["second"])
    reads.append(peek.wait())
    shown = [other.peek(by=by).label_or_outcome for _ in range(2)]
    moved, unmoved = (second.peek(by=by, hCursor=one) for one in (cursor, at_first))
    judge(
        *rules["next"],
        expected=["one", "one", "zero"],
        observed=[one.label_or_outcome for one in (following, moved, unmoved)],
        evidence=[following, moved, unmoved],
        case="labels returned by the PEEK_NEXT, by a later peek by its cursor, and by a peek by another cursor",
    )
    judge(
        *rules["receive"],
        expected=facts(receive="first", has_handle=True),
        observed={"receive": receive.label_or_outcome, "has_handle": not receive.has_null_handle},
        evidence=receive.evidence,
    )
    judge(
        *rules["peek"],
        expected=each(holds("NULL"), "handle returned by a peek"),
        observed=[one.has_null_handle for one in (following, peek)],
        evidence=[following, peek],
    )
    judge(
        *rules["peeked"],
        expected=facts(peek="second", peeks_of_other_reader=each("second")),
        observed={"peek": peek.label_or_outcome, "peeks_of_other_reader": shown},
        evidence=[peek],
    )
    judge.conclude(*rules["receive"], *rules["peek"], *rules["peeked"])
    ended = queue.put_message_back(receive)
    observed = {
        "second_receive": later_waits,
        "peek_while_locked": waits,
        "end": ended.outcome,
        "queue_after_the_end": other.labels(),
    }
    expected = facts(
        second_receive=Call.WAITING,
        peek_while_locked=Call.WAITING,
        end="MQ_OK",
        queue_after_the_end=in_queue("first", "second"),
    )
    judge(*rules["locked"], expected=expected, observed=observed, evidence=[receive, ended])


@pytest.mark.parametrize(
    "by",
    [
        pytest.param(Method.START_RECEIVE, marks=covers("MQQP-3.1.4.1-D18"), id="StartReceive"),
        pytest.param(Method.START_RECEIVE2, marks=covers("MQQP-3.1.4.10-53"), id="StartReceive2"),
    ],
)
@pytest.mark.parametrize("end", ["message", "time-out", "cancel"])
@covers("MQQP-3.1.1.3-02")
def test_end_of_read_leaves_read_of_other_queue_with_same_request_id(remote, judge, by, end):
    """Reads of two queues wait with the same dwRequestID, and one of them gets a message, times out or is cancelled.
    The read of the other queue, and a second read of the same queue, still wait and can be cancelled.
    """
    queue, admin = remote.open(), remote.open("admin")
    number = remote.request_id()
    timeout_ms = SHORT_READ_TIMEOUT_MS if end == "time-out" else LONG_READ_TIMEOUT_MS
    ending = queue.begin_receive(by=by, dwRequestID=number, ulTimeout=timeout_ms)
    other = admin.begin_receive(by=by, dwRequestID=number, ulTimeout=LONG_READ_TIMEOUT_MS)
    second = remote.request_id()
    beside = queue.begin_receive(by=by, dwRequestID=second, ulTimeout=LONG_READ_TIMEOUT_MS)
    if end == "message":
        remote.deliver(["first"])
    elif end == "cancel":
        queue.cancel(number)
    ending.wait()
    waits = other.state_after_silence()
    still = beside.state_after_silence()
    cancelled, cancelled_beside = admin.cancel(number), queue.cancel(second)
    other.wait()
    observed = {
        "read_of_the_other_queue": waits,
        "cancel": cancelled.outcome,
        "the_cancelled_read_has_ended": other.answered,
        "second_read_of_the_queue": still,
        "cancel_of_the_second_read": cancelled_beside.outcome,
    }
    expected = facts(
        read_of_the_other_queue=other.WAITING,
        cancel="MQ_OK",
        the_cancelled_read_has_ended=True,
        second_read_of_the_queue=other.WAITING,
        cancel_of_the_second_read="MQ_OK",
    )
    judge.all(expected=expected, observed=observed, evidence=[*ending.evidence, *cancelled.evidence])
