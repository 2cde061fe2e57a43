"""MS-MQQP 3.1.4.1 RemoteQMStartReceive, 3.1.4.10 RemoteQMStartReceive2: reads that wait for a message."""

from __future__ import annotations

import pytest

from harness.expectations import facts
from harness.run.marks import covers, needs, sut_survives
from harness.wire.rpc_qm2qm import Action, Method
from suites.mqqp.steps.methods import for_each_method
from suites.mqqp.steps.reading import fill_queue

pytestmark = needs("qm2qm")

LONG_READ_TIMEOUT_MS = 600_000
SHORT_READ_TIMEOUT_MS = 1_000


@for_each_method(
    {
        Method.START_RECEIVE: {
            "twice": ["MQQP-3.1.4.1-12"],
            "searched": ["MQQP-3.1.4.1-D08"],
        },
        Method.START_RECEIVE2: {
            "twice": ["MQQP-3.1.4.10-15"],
            "searched": ["MQQP-3.1.4.10-16"],
        },
    }
)
@sut_survives()
@pytest.mark.parametrize("action", [Action.RECEIVE, Action.PEEK_CURRENT], ids=["receive", "peek"])
def test_request_id_of_waiting_read_is_refused_on_same_handle(remote, judge, by, rules, action):
    """While a read waits, a receive with the same dwRequestID through the same queue handle is refused; a receive with
    that dwRequestID through a different handle of the queue waits.
    """
    queue, second = remote.open(), remote.open()
    number = remote.request_id()
    first = queue.begin(action, by=by, dwRequestID=number, ulTimeout=LONG_READ_TIMEOUT_MS)
    waits = first.state_after_silence()
    twice = queue.start_receive(by=by, dwRequestID=number, ulTimeout=LONG_READ_TIMEOUT_MS)
    judge(
        *rules["twice"],
        expected="MQ_ERROR_INVALID_PARAMETER",
        observed=twice.outcome,
        evidence=twice.evidence,
        case="second read with the dwRequestID",
    )
    elsewhere = second.begin_receive(by=by, dwRequestID=number, ulTimeout=LONG_READ_TIMEOUT_MS)
    seen = {
        "first_read": waits,
        "second_read_by_the_same_handle": twice.outcome,
        "read_by_a_different_handle": elsewhere.state_after_silence(),
    }
    expected = facts(
        first_read=first.WAITING,
        second_read_by_the_same_handle="MQ_ERROR_INVALID_PARAMETER",
        read_by_a_different_handle=first.WAITING,
    )
    judge(*rules["searched"], expected=expected, observed=seen, evidence=elsewhere.evidence)


@for_each_method(
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
    """RemoteQMCancelReceive ends a waiting receive if it has the handle of the receive's queue, but not if it has the
    handle of a different queue. However a read ends, its dwRequestID can be used again, and the reads of two queues
    return the messages of their queues.
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
    arriving = queue.begin(action, by=by, dwRequestID=number, ulTimeout=LONG_READ_TIMEOUT_MS)
    remote.deliver(["first"])
    arriving.wait()
    if action == Action.RECEIVE:
        queue.give_back(arriving)
    again = queue.start_receive(by=by, dwRequestID=number)
    seen = {
        "read_of_the_empty_queue": empty.label_or_failure,
        "read_that_an_arrival_ends": arriving.label_or_outcome,
        "next_receive": again.label_or_outcome,
    }
    evidence = [empty, arriving, again]
    judge(
        *rules["removed"],
        expected=facts(read_of_the_empty_queue=read.FAILURE, read_that_an_arrival_ends="first", next_receive="first"),
        observed=seen,
        evidence=evidence,
    )
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


RULES_OF_WAITING_READS = (
    "MQDMPR-3.1.7.1.9-23",
    "MQDMPR-3.1.7.3.1-07",
    "MQDMPR-3.1.7.3.1-18",
    "MQDMPR-3.1.7.3.1-21",
    "MQDMPR-3.1.7.3.1-22",
    "MQDMPR-3.1.7.3.1-23",
)
"""The rules of MS-MQDMPR about every waiting read."""


@for_each_method(
    {Method.START_RECEIVE: {"waits": ["MQQP-3.1.4.1-D02"]}, Method.START_RECEIVE2: {"waits": ["MQQP-3.1.4.10-D01"]}}
)
@covers(*RULES_OF_WAITING_READS)
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
    """No message is available: a read with time-out 0 fails at once, and a read with a time-out of ten minutes waits
    until a message arrives, and returns the message.
    """
    queue = remote.open(kind)
    fill_queue(remote, kind, *(["first"] if action == Action.PEEK_NEXT else []))
    cursors = [0, 0]
    if action == Action.PEEK_NEXT:  # one cursor for each read: E180
        cursors = [queue.open_cursor() for _ in cursors]
        for cursor in cursors:
            queue.peek(by=by, hCursor=cursor).expect_success()
    at_once = queue.read(action, by=by, hCursor=cursors[0])
    read = queue.begin(action, by=by, hCursor=cursors[1], ulTimeout=LONG_READ_TIMEOUT_MS)
    waits = read.state_after_silence()
    fill_queue(remote, kind, "second")
    read.wait()
    seen, evidence = (
        {
            "read_with_timeout_0": at_once.label_or_failure,
            "read_before_an_arrival": waits,
            "read_after_an_arrival": read.label_or_outcome,
        },
        [at_once, read],
    )
    expected = facts(
        read_with_timeout_0=read.FAILURE, read_before_an_arrival=read.WAITING, read_after_an_arrival="second"
    )
    judge(*rules["waits"], *RULES_OF_WAITING_READS, *events, expected=expected, observed=seen, evidence=evidence)


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
    """Reads of two queues wait with the same dwRequestID, and one read gets a message, times out or is cancelled: the
    other read still waits, and can be cancelled.
    """
    queue, admin = remote.open(), remote.open("admin")
    number = remote.request_id()
    timeout_ms = SHORT_READ_TIMEOUT_MS if end == "time-out" else LONG_READ_TIMEOUT_MS
    ending = queue.begin_receive(by=by, dwRequestID=number, ulTimeout=timeout_ms)
    other = admin.begin_receive(by=by, dwRequestID=number, ulTimeout=LONG_READ_TIMEOUT_MS)
    if end == "message":
        remote.deliver(["first"])
    elif end == "cancel":
        queue.cancel(number)
    ending.wait()
    waits = other.state_after_silence()
    cancelled = admin.cancel(number)
    other.wait()
    observed = {
        "read_of_the_other_queue": waits,
        "cancel": cancelled.outcome,
        "the_cancelled_read_has_ended": other.answered,
    }
    expected = facts(read_of_the_other_queue=other.WAITING, cancel="MQ_OK", the_cancelled_read_has_ended=True)
    judge.all(expected=expected, observed=observed, evidence=[*ending.evidence, *cancelled.evidence])
