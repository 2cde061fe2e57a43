"""MS-MQQP 3.1.4.1 RemoteQMStartReceive, 3.1.4.10 RemoteQMStartReceive2: reading a message, at once.

The second does what the first does, and returns the message's SequentialId.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import pytest

from harness.judging.judge import Judge
from harness.peer.remote import START, START2
from harness.run.marks import covers, goes_on, needs
from harness.wire.rpc_qm2qm import PEEK_CURRENT, PEEK_NEXT, RECEIVE, desc2
from suites.mqqp.steps.reading import (
    BODY,
    FAILURE,
    FIRST,
    INVALID_PARAMETER,
    LOW_7_BYTES,
    SECOND,
    THIRD,
    UNKNOWN_HANDLE,
    brought,
    contents,
    deliver,
    failed,
    filled,
    handle_of,
    sizes,
    waiting,
)

pytestmark = needs("qm2qm")

LONG_MS = 60_000


def by_each(methods: Mapping[str, Mapping[str, Sequence[str]]]) -> pytest.MarkDecorator:
    """Run a check by several methods, each with the rules of its section by what they are about."""
    return pytest.mark.parametrize(
        ("by", "rules"),
        [
            pytest.param(by, rules, marks=covers(*dict.fromkeys(chain.from_iterable(rules.values()))), id=by)
            for by, rules in methods.items()
        ],
    )


def judge_each(judge: Judge, rules: Iterable[str], **what: Any) -> None:
    """Judge some rules alike."""
    for rule in rules:
        judge(rule, **what)


@by_each(
    {
        START: {
            "ok": ["MQQP-3.1.4.1-10"],
            "handle": ["MQQP-3.1.4.1-05"],
            "peek": ["MQQP-3.1.4.1-06"],
            "buffer": ["MQQP-3.1.4.1-13", "MQQP-3.1.4.1-14", "MQQP-3.1.4.1-16", "MQQP-3.1.4.1-19"],
            "size": ["MQQP-3.1.4.1-20"],
            "locked": ["MQQP-3.1.4.1-01"],
            "receive": [],
            "current": [],
            "no_cursor": [],
        },
        START2: {
            "ok": ["MQQP-3.1.4.10-09", "MQQP-3.1.4.10-55"],
            "handle": ["MQQP-3.1.4.10-02", "MQQP-3.1.4.10-54"],
            "peek": ["MQQP-3.1.4.10-03", "MQQP-3.1.4.10-54"],
            "buffer": ["MQQP-3.1.4.10-44", "MQQP-3.1.4.10-45", "MQQP-3.1.4.10-47", "MQQP-3.1.4.10-50"],
            "size": ["MQQP-3.1.4.10-51"],
            "locked": [],
            "receive": ["MQQP-3.1.4.10-31"],
            "current": ["MQQP-3.1.4.10-36"],
            "no_cursor": ["MQQP-3.1.4.10-23"],
        },
    }
)
def test_a_message_is_peeked_then_received(remote, judge, by, rules):
    """Both bring the first message, whole; only the receive brings a handle, and hides the message."""
    queue = filled(remote, FIRST, SECOND)
    peeked = queue.read(PEEK_CURRENT, by=by)
    again = queue.read(PEEK_CURRENT, by=by)
    received = queue.read(RECEIVE, by=by)
    behind = queue.read(PEEK_CURRENT, by=by)
    evidence = [*peeked.evidence, *received.evidence]
    judge_each(judge, rules["ok"], expected="MQ_OK", observed=received.outcome, evidence=received.evidence)
    judge_each(
        judge, rules["current"], expected=[FIRST, FIRST], observed=[brought(peeked), brought(again)], evidence=evidence
    )
    judge_each(judge, rules["no_cursor"], expected=FIRST, observed=brought(peeked), evidence=evidence)
    judge_each(
        judge,
        rules["receive"],
        expected=[FIRST, SECOND],
        observed=[brought(received), brought(behind)],
        evidence=evidence,
    )
    judge_each(judge, rules["handle"], expected="a handle", observed=handle_of(received), evidence=received.evidence)
    judge_each(judge, rules["peek"], expected="NULL", observed=handle_of(peeked), evidence=peeked.evidence)
    for read in (peeked, received):
        expected = f"{FIRST}: {BODY!r}"
        judge_each(judge, rules["buffer"], expected=expected, observed=contents(read), evidence=read.evidence)
        size, packet_size = sizes(read)
        judge_each(judge, rules["size"], expected=packet_size, observed=size, evidence=read.evidence)
    ended = queue.end(received)
    after = queue.read(PEEK_CURRENT, by=by)
    observed = [brought(behind), ended.outcome, brought(after)]
    judge_each(judge, rules["locked"], expected=[SECOND, "MQ_OK", SECOND], observed=observed, evidence=behind.evidence)


@needs("receive")
@covers("MQQP-3.1.4.10-05", "MQQP-3.1.4.10-52")
def test_the_sequential_id_is_the_lower_7_bytes_of_the_lookup_identifier(remote, sut, judge):
    """SequentialId of an answer is LookupIdentifier of its message without the highest byte."""
    queue = filled(remote, FIRST, SECOND)
    known = {one["label"]: int(one["lookup_id"]) & LOW_7_BYTES for one in sut.messages()}
    first = queue.read(PEEK_CURRENT)
    queue.receive()
    second = queue.read(RECEIVE)
    for label, read in ((FIRST, first), (SECOND, second)):
        observed = read.out.lpRemoteReadDesc2.SequentialId if read.out is not None else None
        for rule in ("MQQP-3.1.4.10-05", "MQQP-3.1.4.10-52"):
            judge(rule, expected=known[label], observed=observed, evidence=read.evidence)


@by_each(
    {
        START: {
            "failure": ["MQQP-3.1.4.1-10"],
            "handle": ["MQQP-3.1.4.1-06"],
        },
        START2: {
            "failure": ["MQQP-3.1.4.10-10"],
            "handle": ["MQQP-3.1.4.10-03"],
        },
    }
)
def test_what_fails_brings_no_handle(remote, judge, by, rules):
    """A receive from an empty queue returns a failure and NULL."""
    queue = filled(remote)
    read = queue.read(RECEIVE, by=by)
    judge_each(judge, rules["failure"], expected=FAILURE, observed=failed(read), evidence=read.evidence)
    judge_each(judge, rules["handle"], expected="NULL", observed=handle_of(read), evidence=read.evidence)


@by_each(
    {
        START: {
            "next": ["MQQP-3.1.4.1-D09"],
            "session": ["MQQP-3.1.4.1-D10"],
            "queue": ["MQQP-3.1.4.1-D07"],
            "cursor": ["MQQP-3.1.4.1-D12"],
        },
        START2: {
            "next": ["MQQP-3.1.4.10-17"],
            "session": ["MQQP-3.1.4.10-18", "MQQP-3.1.4.10-19"],
            "queue": ["MQQP-3.1.4.10-14"],
            "cursor": ["MQQP-3.1.4.10-21", "MQQP-3.1.4.10-22"],
        },
    }
)
@goes_on()
def test_descriptions_that_are_refused(remote, judge, by, rules):
    """Handles that are none or differ, an unknown cursor, PEEK_NEXT without a cursor: each its own status."""
    queue = filled(remote, FIRST)
    queue.cursor().settled()
    other = {"hRemoteQueue": UNKNOWN_HANDLE, "dwQueue": UNKNOWN_HANDLE}
    fine = queue.read(PEEK_CURRENT, by=by)

    def refused(name, expected, calls):
        observed = [brought(fine), *(brought(call) for call in calls)]
        evidence = [frame for call in calls for frame in call.evidence]
        judge_each(judge, rules[name], expected=[FIRST, *[expected] * len(calls)], observed=observed, evidence=evidence)

    zero, differs = (queue.read(PEEK_CURRENT, by=by, dwQueue=value) for value in (0, queue.pointer + 1))
    refused("queue", INVALID_PARAMETER, [zero, differs])
    refused("next", "STATUS_INVALID_PARAMETER", [queue.read(PEEK_NEXT, by=by)])
    refused("cursor", "STATUS_INVALID_PARAMETER", [queue.read(PEEK_CURRENT, by=by, hCursor=UNKNOWN_HANDLE)])
    unopened = remote.open_remote(queue.association).settled().out.phQueue
    without = queue.read(PEEK_CURRENT, by=by, hRemoteQueue=unopened, dwQueue=unopened)
    refused("session", INVALID_PARAMETER, [without, queue.read(PEEK_CURRENT, by=by, **other)])


@goes_on()
@covers("MQQP-3.1.4.10-13")
def test_a_description_of_null_is_refused(remote, judge):
    """RemoteQMStartReceive2 without a REMOTEREADDESC returns MQ_ERROR_INVALID_HANDLE."""
    queue = filled(remote, FIRST)
    call = queue.association.call(START2, lpRemoteReadDesc2=desc2(None))
    judge("MQQP-3.1.4.10-13", expected="MQ_ERROR_INVALID_HANDLE", observed=call.outcome, evidence=call.evidence)


@by_each(
    {
        START: {
            "twice": ["MQQP-3.1.4.1-12"],
            "searched": [],
        },
        START2: {
            "twice": ["MQQP-3.1.4.10-15"],
            "searched": ["MQQP-3.1.4.10-16"],
        },
    }
)
@goes_on()
def test_a_request_identifier_that_is_in_use_is_refused(remote, judge, by, rules):
    """While a read waits, one with its dwRequestID is refused through the same handle; through another it waits."""
    queue, second = filled(remote), remote.open()
    number = remote.request_id()
    first = queue.begin(RECEIVE, by=by, dwRequestID=number, ulTimeout=LONG_MS)
    waits = waiting(first)
    twice = queue.read(RECEIVE, by=by, dwRequestID=number, ulTimeout=LONG_MS)
    judge_each(judge, rules["twice"], expected=INVALID_PARAMETER, observed=twice.outcome, evidence=twice.evidence)
    elsewhere = second.begin(RECEIVE, by=by, dwRequestID=number, ulTimeout=LONG_MS)
    seen = [waits, twice.outcome, waiting(elsewhere)]
    expected = ["still waits", INVALID_PARAMETER, "still waits"]
    judge_each(judge, rules["searched"], expected=expected, observed=seen, evidence=elsewhere.evidence)


@by_each(
    {
        START2: {
            "cursor": ["MQQP-3.1.4.10-21"],
            "next": ["MQQP-3.1.4.10-40"],
            "receive": ["MQQP-3.1.4.10-31"],
            "current": ["MQQP-3.1.4.10-36"],
        },
    }
)
def test_a_cursor_goes_along_the_queue(remote, judge, by, rules):
    """PEEK_CURRENT stays, PEEK_NEXT goes on, RECEIVE takes the message where the cursor is."""
    queue = filled(remote, FIRST, SECOND, THIRD)
    cursor, other = (queue.cursor().settled().out.phCursor for _ in range(2))
    steps = [queue.read(action, by=by, hCursor=cursor) for action in (PEEK_CURRENT, PEEK_CURRENT, PEEK_NEXT)]
    evidence = [frame for step in steps for frame in step.evidence]
    seen = [brought(step) for step in steps]
    judge_each(judge, rules["current"], expected=[FIRST, FIRST], observed=seen[:2], evidence=evidence)
    judge_each(judge, rules["next"], expected=SECOND, observed=seen[2], evidence=evidence)
    received = queue.read(RECEIVE, by=by, hCursor=cursor)
    judge_each(judge, rules["receive"], expected=SECOND, observed=brought(received), evidence=received.evidence)
    apart = queue.read(PEEK_CURRENT, by=by, hCursor=other)
    seen = [brought(received), brought(apart)]
    judge_each(judge, rules["cursor"], expected=[SECOND, FIRST], observed=seen, evidence=apart.evidence)


@by_each(
    {
        START2: {
            "created": ["MQQP-3.1.4.10-24", "MQQP-3.1.4.10-30"],
            "removed": ["MQQP-3.1.4.10-53"],
            "found": ["MQQP-3.1.4.10-20"],
        },
    }
)
def test_a_read_is_kept_while_it_waits(remote, judge, by, rules):
    """A waiting read can be cancelled, and only by its own handle; then its dwRequestID is free again."""
    queue = filled(remote)
    admin = remote.open("admin")
    number = remote.request_id()
    read = queue.begin(RECEIVE, by=by, dwRequestID=number, ulTimeout=LONG_MS)
    waits = waiting(read)
    elsewhere, here = admin.cancel(number), queue.cancel(number)
    read.wait()
    seen = [waits, elsewhere.outcome, here.outcome, "ended" if read.answered else "not ended"]
    expected = ["still waits", "MQ_ERROR_INVALID_HANDLE", "MQ_OK", "ended"]
    judge_each(judge, rules["created"], expected=expected, observed=seen, evidence=[*read.evidence, *here.evidence])
    deliver(remote, [FIRST])
    again = queue.read(RECEIVE, by=by, dwRequestID=number)
    judge_each(judge, rules["removed"], expected=FIRST, observed=brought(again), evidence=again.evidence)
    deliver(remote, [SECOND], queue="admin")
    right = admin.read(RECEIVE, by=by)
    judge_each(judge, rules["found"], expected=SECOND, observed=brought(right), evidence=right.evidence)
