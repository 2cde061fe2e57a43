"""MS-MQQP 3.1.4.11 RemoteQMStartReceiveByLookupId: reading a message by its identifier, or one beside it."""

from __future__ import annotations

from typing import Any

import pytest

from harness.errors import ConformanceFailure
from harness.peer.association import Call
from harness.peer.remote import LOOKUP, RemoteQueue, packet_of
from harness.run.marks import covers, goes_on, needs
from harness.wire.rpc_qm2qm import (
    FIRST_ID,
    INFINITE,
    LAST_ID,
    LOOKUP_PEEK_CURRENT,
    LOOKUP_PEEK_NEXT,
    LOOKUP_PEEK_PREV,
    LOOKUP_RECEIVE_CURRENT,
    LOOKUP_RECEIVE_NEXT,
    LOOKUP_RECEIVE_PREV,
    PEEK_CURRENT,
    RR_NACK,
)
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
    frames,
    handle_of,
    sizes,
)

pytestmark = needs("qm2qm")

PEEKS = (LOOKUP_PEEK_CURRENT, LOOKUP_PEEK_NEXT, LOOKUP_PEEK_PREV)
RECEIVES = (LOOKUP_RECEIVE_CURRENT, LOOKUP_RECEIVE_NEXT, LOOKUP_RECEIVE_PREV)
LOOKUP_ACTIONS = (*PEEKS, *RECEIVES)


def looked_up(queue: RemoteQueue, action: int, lookup_id: int, **fields: Any) -> Call:
    """Read by a LookupId."""
    return queue.read(action, by=LOOKUP, lookup_id=lookup_id, **fields)


def identifiers(queue: RemoteQueue, count: int) -> list[int]:
    """Return the LookupIdentifiers of the first messages, from the front on, as far as a reader can find them out.

    SequentialId lacks their highest byte, which is 0 or 7 less the priority (errata E59): the one that is found is it.
    """
    found: list[int] = []
    read = looked_up(queue, LOOKUP_PEEK_NEXT, FIRST_ID)
    while len(found) < count and (packet := packet_of(read)) is not None:
        lower, label = read.out.lpRemoteReadDesc2.SequentialId, brought(read)
        candidates = (lower, (7 - packet["BaseHeader"].PR << 56) | lower)
        known = [one for one in candidates if brought(looked_up(queue, LOOKUP_PEEK_CURRENT, one)) == label]
        if not known:
            break
        found.append(known[0])
        read = looked_up(queue, LOOKUP_PEEK_NEXT, found[-1])
    return found


@covers(
    "MQQP-3.1.4.11-37",
    "MQQP-3.1.4.11-39",
    "MQQP-3.1.4.11-41",
    "MQQP-3.1.4.11-42",
    "MQQP-3.1.4.11-43",
    "MQQP-3.1.4.11-44",
    "MQQP-3.1.4.11-45",
    "MQQP-3.1.4.11-46",
)
def test_the_action_and_the_identifier_say_which_message(remote, judge):
    """CURRENT, NEXT and PREV of the second of three messages; NEXT of 0; PREV of all ones."""
    queue = filled(remote, FIRST, SECOND, THIRD)
    edges = {
        "MQQP-3.1.4.11-42": (looked_up(queue, LOOKUP_PEEK_NEXT, FIRST_ID), FIRST),
        "MQQP-3.1.4.11-43": (looked_up(queue, LOOKUP_PEEK_PREV, LAST_ID), THIRD),
    }
    for rule, (read, label) in edges.items():
        judge(rule, expected=label, observed=brought(read), evidence=read.evidence)
    known = identifiers(queue, 2)
    if len(known) < 2:
        for rule in ("MQQP-3.1.4.11-37", "MQQP-3.1.4.11-39", "MQQP-3.1.4.11-45"):
            said = f"{len(known)} of 2 messages are found by the identifiers that the SUT returns"
            judge(rule, expected="2 of 2", observed=said, evidence=edges["MQQP-3.1.4.11-42"][0].evidence)
        raise ConformanceFailure("no message to look beside")
    second = known[1]
    beside = {
        "MQQP-3.1.4.11-44": (looked_up(queue, LOOKUP_PEEK_PREV, second), FIRST),
        "MQQP-3.1.4.11-45": (looked_up(queue, LOOKUP_PEEK_CURRENT, second), SECOND),
        "MQQP-3.1.4.11-46": (looked_up(queue, LOOKUP_PEEK_NEXT, second), THIRD),
    }
    for rule, (read, label) in beside.items():
        judge(rule, expected=label, observed=brought(read), evidence=read.evidence)
    every = [brought(read) for read, _ in (*edges.values(), *beside.values())]
    wanted = [label for _, label in (*edges.values(), *beside.values())]
    current = beside["MQQP-3.1.4.11-45"][0]
    judge("MQQP-3.1.4.11-41", expected=wanted, observed=every, evidence=current.evidence)
    judge("MQQP-3.1.4.11-39", expected=SECOND, observed=brought(current), evidence=current.evidence)
    judge.finished(
        "MQQP-3.1.4.11-39",
        "MQQP-3.1.4.11-41",
        "MQQP-3.1.4.11-42",
        "MQQP-3.1.4.11-43",
        "MQQP-3.1.4.11-44",
        "MQQP-3.1.4.11-45",
        "MQQP-3.1.4.11-46",
    )
    taken = looked_up(queue, LOOKUP_RECEIVE_CURRENT, second)
    queue.end(taken)
    left = [brought(looked_up(queue, LOOKUP_PEEK_NEXT, FIRST_ID)), brought(looked_up(queue, LOOKUP_PEEK_PREV, LAST_ID))]
    gone = looked_up(queue, LOOKUP_PEEK_CURRENT, second)
    seen = [brought(current), brought(taken), failed(gone), *left]
    expected = [SECOND, SECOND, FAILURE, FIRST, THIRD]
    judge("MQQP-3.1.4.11-37", expected=expected, observed=seen, evidence=[*taken.evidence, *gone.evidence])


@covers("MQQP-3.1.4.11-40")
def test_a_peek_leaves_the_message_and_a_receive_takes_it(remote, judge):
    """The first message is peeked twice, received once; then the second is the first."""
    queue = filled(remote, FIRST, SECOND)
    peeked = [looked_up(queue, LOOKUP_PEEK_NEXT, FIRST_ID) for _ in range(2)]
    received = looked_up(queue, LOOKUP_RECEIVE_NEXT, FIRST_ID)
    queue.end(received)
    behind = looked_up(queue, LOOKUP_PEEK_NEXT, FIRST_ID)
    seen = [brought(read) for read in (*peeked, received, behind)]
    judge("MQQP-3.1.4.11-40", expected=[FIRST, FIRST, FIRST, SECOND], observed=seen, evidence=received.evidence)


@covers(
    "MQQP-3.1.4.11-02",
    "MQQP-3.1.4.11-03",
    "MQQP-3.1.4.11-18",
    "MQQP-3.1.4.11-47",
    "MQQP-3.1.4.11-48",
    "MQQP-3.1.4.11-50",
    "MQQP-3.1.4.11-53",
    "MQQP-3.1.4.11-54",
    "MQQP-3.1.4.11-57",
    "MQQP-3.1.4.11-58",
)
def test_a_receive_brings_the_message_and_a_handle(remote, judge):
    """The answer holds the packet and its size; a receive has a handle, a peek and a failure have none."""
    queue = filled(remote, FIRST)
    peeked = looked_up(queue, LOOKUP_PEEK_NEXT, FIRST_ID)
    received = looked_up(queue, LOOKUP_RECEIVE_NEXT, FIRST_ID)
    failing = looked_up(queue, LOOKUP_RECEIVE_NEXT, FIRST_ID)
    for rule in ("MQQP-3.1.4.11-18", "MQQP-3.1.4.11-58"):
        observed = [received.outcome, failed(failing)]
        judge(rule, expected=["MQ_OK", FAILURE], observed=observed, evidence=received.evidence)
    none = [handle_of(read) for read in (peeked, failing)]
    for rule in ("MQQP-3.1.4.11-02", "MQQP-3.1.4.11-57"):
        judge(rule, expected="a handle", observed=handle_of(received), evidence=received.evidence)
    judge("MQQP-3.1.4.11-03", expected=["NULL", "NULL"], observed=none, evidence=[*peeked.evidence, *failing.evidence])
    for read in (peeked, received):
        for rule in ("MQQP-3.1.4.11-47", "MQQP-3.1.4.11-48", "MQQP-3.1.4.11-50", "MQQP-3.1.4.11-53"):
            judge(rule, expected=f"{FIRST}: {BODY!r}", observed=contents(read), evidence=read.evidence)
        size, packet_size = sizes(read)
        judge("MQQP-3.1.4.11-54", expected=packet_size, observed=size, evidence=read.evidence)


@needs("receive")
@covers("MQQP-3.1.4.11-06", "MQQP-3.1.4.11-55")
def test_the_sequential_id_is_the_lower_7_bytes_of_the_lookup_identifier(remote, sut, judge):
    """SequentialId of each answer is LookupIdentifier of its message without the highest byte."""
    queue = filled(remote, FIRST, SECOND)
    known = {one["label"]: int(one["lookup_id"]) & LOW_7_BYTES for one in sut.messages()}
    for label, action, at in ((FIRST, LOOKUP_PEEK_NEXT, FIRST_ID), (SECOND, LOOKUP_RECEIVE_PREV, LAST_ID)):
        read = looked_up(queue, action, at)
        observed = read.out.lpRemoteReadDesc2.SequentialId if read.out is not None else None
        for rule in ("MQQP-3.1.4.11-06", "MQQP-3.1.4.11-55"):
            judge(rule, expected=known[label], observed=observed, evidence=read.evidence)


@goes_on()
@pytest.mark.parametrize("action", LOOKUP_ACTIONS, ids=hex)
@covers(
    "MQQP-3.1.4.11-21",
    "MQQP-3.1.4.11-22",
    "MQQP-3.1.4.11-23",
    "MQQP-3.1.4.11-24",
    "MQQP-3.1.4.11-25",
    "MQQP-3.1.4.11-26",
)
def test_descriptions_that_are_refused(remote, judge, action):
    """By each action: a cursor, any time-out, no queue, one that was not opened; then the same is carried out."""
    queue = filled(remote, FIRST, SECOND, THIRD)
    cursor = queue.cursor().settled().out.phCursor
    at = identifiers(queue, 2)[-1:] or [FIRST_ID]
    unopened = remote.open_remote(queue.association).settled().out.phQueue
    refused = {
        "MQQP-3.1.4.11-22": [{"hRemoteQueue": 0, "dwQueue": 0}, {"hRemoteQueue": 0}],
        "MQQP-3.1.4.11-23": [{"ulTimeout": timeout_ms} for timeout_ms in (1, 1_000, INFINITE)],
        "MQQP-3.1.4.11-24": [{"hCursor": cursor}, {"hCursor": UNKNOWN_HANDLE}],
        "MQQP-3.1.4.11-26": [{"hRemoteQueue": one, "dwQueue": one} for one in (UNKNOWN_HANDLE, unopened)],
    }
    calls = {rule: [looked_up(queue, action, at[0], **fields) for fields in cases] for rule, cases in refused.items()}
    fine = looked_up(queue, action, at[0])
    then = "carried out" if fine.outcome == "MQ_OK" else fine.outcome
    for rule, alike in (
        ("MQQP-3.1.4.11-22", ["MQQP-3.1.4.11-22", "MQQP-3.1.4.11-21"]),
        ("MQQP-3.1.4.11-23", ["MQQP-3.1.4.11-23", "MQQP-3.1.4.11-21"]),
        ("MQQP-3.1.4.11-24", ["MQQP-3.1.4.11-24", "MQQP-3.1.4.11-21"]),
        ("MQQP-3.1.4.11-26", ["MQQP-3.1.4.11-26", "MQQP-3.1.4.11-25"]),
    ):
        expected = [INVALID_PARAMETER] * len(calls[rule]) + ["carried out"]
        observed, evidence = [*(call.outcome for call in calls[rule]), then], frames([*calls[rule], fine])
        for one in alike:
            judge(one, expected=expected, observed=observed, evidence=evidence)


@covers("MQQP-3.1.4.11-29", "MQQP-3.1.4.11-30", "MQQP-3.1.4.11-36", "MQQP-3.1.4.11-56")
def test_a_receive_is_kept_until_it_is_ended(remote, judge):
    """Its message is locked, and free again with RR_NACK; the dwRequestID is free when the call is answered."""
    queue = filled(remote, FIRST)
    admin = remote.open("admin")
    number = remote.request_id()
    received = looked_up(queue, LOOKUP_RECEIVE_NEXT, FIRST_ID, dwRequestID=number)
    locked = looked_up(queue, LOOKUP_PEEK_NEXT, FIRST_ID, dwRequestID=number)
    ended = queue.end(received, RR_NACK)
    again = looked_up(queue, LOOKUP_RECEIVE_NEXT, FIRST_ID, dwRequestID=number)
    seen = [brought(received), failed(locked), ended.outcome, brought(again)]
    for rule in ("MQQP-3.1.4.11-30", "MQQP-3.1.4.11-36"):
        expected = [FIRST, FAILURE, "MQ_OK", FIRST]
        judge(rule, expected=expected, observed=seen, evidence=[*received.evidence, *ended.evidence])
    judge.finished("MQQP-3.1.4.11-30", "MQQP-3.1.4.11-36")
    queue.end(again, RR_NACK)
    free = queue.read(PEEK_CURRENT, dwRequestID=number)
    judge("MQQP-3.1.4.11-56", expected=FIRST, observed=brought(free), evidence=[*again.evidence, *free.evidence])
    judge.finished("MQQP-3.1.4.11-56")
    queue.receive()
    deliver(remote, [SECOND], queue="admin")
    right = looked_up(admin, LOOKUP_PEEK_NEXT, FIRST_ID)
    wrong = looked_up(queue, LOOKUP_PEEK_NEXT, FIRST_ID)
    judge(
        "MQQP-3.1.4.11-29",
        expected=[SECOND, FAILURE],
        observed=[brought(right), failed(wrong)],
        evidence=[*right.evidence, *wrong.evidence],
    )
