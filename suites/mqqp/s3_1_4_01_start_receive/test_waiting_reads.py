"""MS-MQQP 3.1.4.1 RemoteQMStartReceive, 3.1.4.10 RemoteQMStartReceive2: reads that wait for a message."""

from __future__ import annotations

import pytest

from harness.expectations import facts
from harness.peer.remote import START, START2
from harness.run.marks import covers, needs, sut_survives
from harness.wire.rpc_qm2qm import PEEK_CURRENT, PEEK_NEXT, RECEIVE, RR_NACK
from suites.mqqp.steps.methods import by_each
from suites.mqqp.steps.reading import (
    FAILURE,
    FIRST,
    INVALID_PARAMETER,
    SECOND,
    THIRD,
    WAITING,
    brought,
    failed,
    fill,
    waiting,
)

pytestmark = needs("qm2qm")

LONG_MS = 600_000


@by_each(
    {
        START: {
            "twice": ["MQQP-3.1.4.1-12"],
            "searched": ["MQQP-3.1.4.1-D08"],
        },
        START2: {
            "twice": ["MQQP-3.1.4.10-15"],
            "searched": ["MQQP-3.1.4.10-16"],
        },
    }
)
@sut_survives()
@pytest.mark.parametrize("action", [RECEIVE, PEEK_CURRENT], ids=["receive", "peek"])
def test_a_request_identifier_that_is_in_use_is_refused(remote, judge, by, rules, action):
    """While a read waits, one with its dwRequestID is refused through the same handle; through another it waits."""
    queue, second = remote.filled(), remote.open()
    number = remote.request_id()
    first = queue.begin(action, by=by, dwRequestID=number, ulTimeout=LONG_MS)
    waits = waiting(first)
    twice = queue.read(RECEIVE, by=by, dwRequestID=number, ulTimeout=LONG_MS)
    judge(*rules["twice"], expected=INVALID_PARAMETER, observed=twice.outcome, evidence=twice.evidence)
    elsewhere = second.begin(RECEIVE, by=by, dwRequestID=number, ulTimeout=LONG_MS)
    seen = {"first": waits, "again": twice.outcome, "elsewhere": waiting(elsewhere)}
    expected = facts(first=WAITING, again=INVALID_PARAMETER, elsewhere=WAITING)
    judge(*rules["searched"], expected=expected, observed=seen, evidence=elsewhere.evidence)


@by_each(
    {
        START: {
            "created": ["MQQP-3.1.4.1-D14"],
            "removed": ["MQQP-3.1.4.1-D18"],
            "found": ["MQQP-3.1.4.1-D11"],
        },
        START2: {
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
            (RECEIVE, "MQDMPR-3.1.7.1.10-09", "receive"),
            (PEEK_CURRENT, "MQDMPR-3.1.7.1.15-06", "peek"),
        )
    ],
)
def test_a_read_is_kept_while_it_waits(remote, judge, by, rules, action, of_queue):
    """A waiting receive can be cancelled by its own handle; a read that ended in any way frees its dwRequestID."""
    queue = remote.filled()
    admin = remote.open("admin")
    number = remote.request_id()
    read = queue.begin(RECEIVE, by=by, dwRequestID=number, ulTimeout=LONG_MS)
    waits = waiting(read)
    elsewhere, here = admin.cancel(number), queue.cancel(number)
    read.wait()
    seen = {"before": waits, "elsewhere": elsewhere.outcome, "here": here.outcome, "answered": read.answered}
    expected = facts(before=WAITING, elsewhere="MQ_ERROR_INVALID_HANDLE", here="MQ_OK", answered=True)
    judge(*rules["created"], expected=expected, observed=seen, evidence=[*read.evidence, *here.evidence])
    empty = queue.read(action, by=by, dwRequestID=number)
    arriving = queue.begin(action, by=by, dwRequestID=number, ulTimeout=LONG_MS)
    remote.deliver([FIRST])
    arriving.wait()
    if action == RECEIVE:
        queue.end(arriving, RR_NACK)
    again = queue.read(RECEIVE, by=by, dwRequestID=number)
    seen = {"empty": failed(empty), "arriving": brought(arriving), "again": brought(again)}
    evidence = [empty, arriving, again]
    judge(
        *rules["removed"], expected=facts(empty=FAILURE, arriving=FIRST, again=FIRST), observed=seen, evidence=evidence
    )
    queue.end(again).settled()
    remote.deliver([SECOND], queue="admin")
    remote.deliver([THIRD])
    right = [admin.read(action, by=by), queue.read(action, by=by)]
    seen = {"admin": brought(right[0]), "plain": brought(right[1])}
    judge(*rules["found"], of_queue, expected=facts(admin=SECOND, plain=THIRD), observed=seen, evidence=right)


WAITS = (
    "MQDMPR-3.1.7.1.9-23",
    "MQDMPR-3.1.7.3.1-07",
    "MQDMPR-3.1.7.3.1-18",
    "MQDMPR-3.1.7.3.1-21",
    "MQDMPR-3.1.7.3.1-22",
    "MQDMPR-3.1.7.3.1-23",
)
"""What is said of every read that waits."""


@by_each({START: {"waits": ["MQQP-3.1.4.1-D02"]}, START2: {"waits": ["MQQP-3.1.4.10-D01"]}})
@covers(*WAITS)
@pytest.mark.parametrize(
    ("action", "events"),
    [
        pytest.param(action, events, marks=covers(*events), id=name)
        for action, events, name in (
            (RECEIVE, ("MQDMPR-3.1.7.1.10-D01", "MQDMPR-3.1.7.1.10-D02"), "receive"),
            (PEEK_CURRENT, ("MQDMPR-3.1.7.1.15-44", "MQDMPR-3.1.7.1.15-51", "MQDMPR-3.1.7.1.15-52"), "peek"),
            (
                PEEK_NEXT,
                ("MQDMPR-3.1.7.1.14-16", "MQDMPR-3.1.7.1.14-17", "MQDMPR-3.1.7.1.14-24", "MQDMPR-3.1.7.1.14-29"),
                "peek next",
            ),
        )
    ],
)
@pytest.mark.parametrize("kind", ["plain", "transactional"])
def test_a_read_with_a_time_out_waits_for_a_message(remote, judge, by, rules, action, events, kind):
    """Nothing is there: without a time-out the answer is a failure at once; with one it is the message that comes."""
    queue = remote.open(kind)
    fill(remote, kind, *([FIRST] if action == PEEK_NEXT else []))
    cursors = [0, 0]
    if action == PEEK_NEXT:  # one cursor for each read: E180
        cursors = [queue.cursor().settled().out.phCursor for _ in cursors]
        for cursor in cursors:
            queue.read(PEEK_CURRENT, by=by, hCursor=cursor).settled()
    at_once = queue.read(action, by=by, hCursor=cursors[0])
    read = queue.begin(action, by=by, hCursor=cursors[1], ulTimeout=LONG_MS)
    waits = waiting(read)
    fill(remote, kind, SECOND)
    read.wait()
    seen, evidence = {"at_once": failed(at_once), "before": waits, "then": brought(read)}, [at_once, read]
    expected = facts(at_once=FAILURE, before=WAITING, then=SECOND)
    judge(*rules["waits"], *WAITS, *events, expected=expected, observed=seen, evidence=evidence)
