"""MS-MQQP 3.1.4.11 RemoteQMStartReceiveByLookupId: reading a message by its identifier, or one beside it."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import each, facts, holds, one_of, status
from harness.judging.judge import Judge
from harness.peer.remote import RemoteQueue, no_handle
from harness.run.marks import covers, needs, sut_survives
from harness.sut.shown import lookup_id
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
    PEEK_NEXT,
    RR_NACK,
)
from suites.mqqp.steps.lookups import candidates, identifiers, looked_up
from suites.mqqp.steps.reading import (
    FAILURE,
    FIRST,
    FOURTH,
    INVALID_PARAMETER,
    LOW_7_BYTES,
    SECOND,
    THIRD,
    UNKNOWN_HANDLE,
    brought,
    failed,
    fill,
    sizes,
)
from suites.mqqp.steps.whole import KINDS, QUEUES, WHOLE, every_property, unchanged

pytestmark = needs("qm2qm")

PEEKS = (LOOKUP_PEEK_CURRENT, LOOKUP_PEEK_NEXT, LOOKUP_PEEK_PREV)
RECEIVES = (LOOKUP_RECEIVE_CURRENT, LOOKUP_RECEIVE_NEXT, LOOKUP_RECEIVE_PREV)
LOOKUP_ACTIONS = (*PEEKS, *RECEIVES)
IDENTIFIER = 0x0055_0000_0000_0007
"""A LookupId of no message."""
RETURNED = (
    *("MQ_ERROR_INVALID_HANDLE", "MQ_ERROR_INVALID_PARAMETER", "MQ_ERROR_IO_TIMEOUT"),
    *("MQ_ERROR_MESSAGE_ALREADY_RECEIVED", "MQ_ERROR_MESSAGE_NOT_FOUND"),
)
"""What a lookup that finds nothing may return: the table of 3.1.4.11, and what its event returns (MS-MQDMPR)."""


LABELS = (FIRST, SECOND, THIRD)
BESIDE = {LOOKUP_PEEK_CURRENT: 0, LOOKUP_PEEK_NEXT: 1, LOOKUP_PEEK_PREV: -1}
"""Of each action that peeks: where its message is, counted from that of LookupId."""
DEMANDS = {
    LOOKUP_PEEK_CURRENT: ("MQQP-3.1.4.11-45", "MQQP-3.1.4.11-D01"),
    LOOKUP_PEEK_NEXT: ("MQQP-3.1.4.11-46", "MQQP-3.1.4.11-D02"),
    LOOKUP_PEEK_PREV: ("MQQP-3.1.4.11-44", "MQQP-3.1.4.11-D03"),
    LOOKUP_RECEIVE_CURRENT: ("MQQP-3.1.4.11-45", "MQQP-3.1.4.11-D04"),
    LOOKUP_RECEIVE_NEXT: ("MQQP-3.1.4.11-46", "MQQP-3.1.4.11-D05"),
    LOOKUP_RECEIVE_PREV: ("MQQP-3.1.4.11-44", "MQQP-3.1.4.11-D06"),
}
"""Of each action: the rule of where it looks, and that of the action."""
EVENTS = {
    LOOKUP_PEEK_CURRENT: ("MQDMPR-3.1.7.3.3-24", "MQDMPR-3.1.7.3.3-29"),
    LOOKUP_PEEK_NEXT: ("MQDMPR-3.1.7.3.2-03", "MQDMPR-3.1.7.3.3-41", "MQDMPR-3.1.7.3.3-46"),
    LOOKUP_PEEK_PREV: ("MQDMPR-3.1.7.3.2-04", "MQDMPR-3.1.7.3.2-21", "MQDMPR-3.1.7.3.3-17", "MQDMPR-3.1.7.3.3-22"),
}
"""Of each action that peeks: what MS-MQDMPR says of its search, which the receives make, too."""


READING = (
    "MQDMPR-3.1.7.1.13-02",
    "MQDMPR-3.1.7.1.13-11",
    "MQDMPR-3.1.7.1.13-16",
    "MQDMPR-3.1.7.1.13-38",
    "MQDMPR-3.1.7.3.3-04",
    "MQDMPR-3.1.7.3.3-08",
)
"""What MS-MQDMPR says of reads by identifier, whatever the action."""


def each_action() -> pytest.MarkDecorator:
    """Make a check for each action, with the rules of that action."""
    cases = []
    for action, rules in DEMANDS.items():
        events = EVENTS[peeking(action)]
        cases.append(pytest.param(action, *rules, events, marks=covers(*rules, *events), id=hex(action)))
    return pytest.mark.parametrize(("action", "seek", "rule", "events"), cases)


def peeking(action: int) -> int:
    """Return the action that peeks where another one receives."""
    return action - 0x10 if action in RECEIVES else action


def known_identifiers(queue: RemoteQueue, judge: Judge, *rules: str) -> list[int]:
    """Return the LookupIdentifiers of three messages; ConformanceFailure when lookups do not find them."""
    known = identifiers(queue, len(LABELS))
    if len(known) < len(LABELS):
        first = looked_up(queue, LOOKUP_PEEK_NEXT, FIRST_ID)
        case = "messages found by the identifiers that the SUT returns"
        judge(*rules, expected=len(LABELS), observed=len(known), case=case, evidence=first.evidence)
        raise ConformanceFailure("no message to look beside")
    return known


@each_action()
@covers("MQQP-3.1.4.11-37", "MQQP-3.1.4.11-39", "MQQP-3.1.4.11-40", "MQQP-3.1.4.11-41", *READING)
@pytest.mark.parametrize("at", [0, 1, 2], ids=["first", "middle", "last"])
def test_the_action_and_the_identifier_say_which_message(remote, judge, action, seek, rule, events, at):
    """CURRENT, NEXT and PREV of the first, the second and the last of three messages: peeked at, or taken."""
    queue = remote.filled(*LABELS)
    by_next = events if peeking(action) == LOOKUP_PEEK_NEXT else ()  # as they are found out
    known = known_identifiers(queue, judge, "MQQP-3.1.4.11-37", "MQQP-3.1.4.11-39", *READING, *by_next)
    receives = action in RECEIVES
    there = at + BESIDE[peeking(action)]
    expected = LABELS[there] if 0 <= there < len(LABELS) else FAILURE
    read = looked_up(queue, action, known[at])
    if receives and read.outcome == "MQ_OK":
        queue.end(read)
    gone = [expected] if receives else []
    left = [label for label in LABELS if label not in gone]
    found, stays = failed(read), queue.labels()
    judge(
        seek,
        rule,
        "MQQP-3.1.4.11-37",
        "MQQP-3.1.4.11-39",
        "MQQP-3.1.4.11-41",
        *READING,
        *events,
        expected=expected,
        observed=found,
        evidence=read.evidence,
    )
    judge(rule, "MQQP-3.1.4.11-40", "MQDMPR-3.1.7.1.13-02", expected=left, observed=stays, evidence=read.evidence)


AT_FRONT = ("MQDMPR-3.1.7.3.2-09", "MQDMPR-3.1.7.3.3-10", "MQDMPR-3.1.7.3.3-15")
AT_END = ("MQDMPR-3.1.7.3.2-19", "MQDMPR-3.1.7.3.3-48", "MQDMPR-3.1.7.3.3-53")
"""What MS-MQDMPR says of searches from the ends of the queue."""


@covers("MQQP-3.1.4.11-41", "MQQP-3.1.4.11-40")
@pytest.mark.parametrize(
    ("action", "edge", "label", "rules"),
    [
        pytest.param(action, edge, label, rules, marks=covers(*rules), id=hex(action))
        for action, edge, label, rules in (
            (LOOKUP_PEEK_NEXT, FIRST_ID, FIRST, ("MQQP-3.1.4.11-42", "MQQP-3.1.4.11-D02", *AT_FRONT)),
            (LOOKUP_PEEK_PREV, LAST_ID, THIRD, ("MQQP-3.1.4.11-43", "MQQP-3.1.4.11-D03", *AT_END)),
            (LOOKUP_RECEIVE_NEXT, FIRST_ID, FIRST, ("MQQP-3.1.4.11-42", "MQQP-3.1.4.11-D05", *AT_FRONT)),
            (LOOKUP_RECEIVE_PREV, LAST_ID, THIRD, ("MQQP-3.1.4.11-43", "MQQP-3.1.4.11-D06", *AT_END)),
        )
    ],
)
@pytest.mark.parametrize("queue_kind", ["plain", "transactional"])
def test_the_ends_of_the_queue_have_identifiers(remote, judge, action, edge, label, rules, queue_kind):
    """NEXT of 0 is the first message, PREV of all ones the last; again it is the same, or after a receive the next."""
    queue = remote.open(queue_kind)
    fill(remote, queue_kind, *LABELS)
    found = []
    for _ in range(2):
        read = looked_up(queue, action, edge)
        found.append(brought(read))
        if action in RECEIVES:
            queue.end(read)
    expected = [label, SECOND if action in RECEIVES else label]
    judge(*rules, "MQQP-3.1.4.11-41", "MQQP-3.1.4.11-40", expected=expected, observed=found, evidence=read.evidence)


@covers("MQQP-3.1.4.11-37", "MQQP-3.1.4.11-39")
def test_what_was_taken_is_found_no_more_and_what_comes_later_is(remote, judge):
    """Of three messages the second is received: its identifier names nothing, the others theirs; a fourth its own."""
    queue = remote.filled(*LABELS)
    known = known_identifiers(queue, judge, "MQQP-3.1.4.11-37", "MQQP-3.1.4.11-39")
    taken = looked_up(queue, LOOKUP_RECEIVE_CURRENT, known[1])
    locked = looked_up(queue, LOOKUP_PEEK_CURRENT, known[1])
    queue.end(taken)
    remote.deliver([FOURTH])
    reads = [looked_up(queue, LOOKUP_PEEK_CURRENT, one) for one in known]
    fourth = looked_up(queue, LOOKUP_PEEK_NEXT, known[2])
    seen = {
        "taken": brought(taken),
        "locked": failed(locked),
        "three": list(map(failed, reads)),
        "fourth": brought(fourth),
    }
    expected = facts(taken=SECOND, locked=FAILURE, three=[FIRST, FAILURE, THIRD], fourth=FOURTH)
    judge.all(expected=expected, observed=seen, evidence=[taken, *reads, fourth])


@covers(
    "MQQP-3.1.4.11-02",
    "MQQP-3.1.4.11-03",
    "MQQP-3.1.4.11-18",
    "MQQP-3.1.4.11-57",
    "MQQP-3.1.4.11-58",
    "MQQP-3.1.4.11-D07",
    "MQDMPR-3.1.7.1.13-39",
    "MQDMPR-3.1.7.3.3-03",
)
@pytest.mark.parametrize("action", LOOKUP_ACTIONS, ids=hex)
def test_only_a_receive_that_succeeds_brings_a_handle(remote, judge, action):
    """By each action: nothing there is a failure of the table, without a handle; a message comes with one if taken."""
    queue = remote.filled()
    edge = LAST_ID if action in (LOOKUP_PEEK_PREV, LOOKUP_RECEIVE_PREV) else FIRST_ID
    at = IDENTIFIER if action in (LOOKUP_PEEK_CURRENT, LOOKUP_RECEIVE_CURRENT) else edge
    failing = looked_up(queue, action, at)
    remote.deliver([FIRST])
    if at == IDENTIFIER:
        at = known[0] if (known := identifiers(queue, 1)) else at
    read = looked_up(queue, action, at)
    evidence = [failing, read]
    judge(
        "MQQP-3.1.4.11-D07",
        expected=one_of(*RETURNED),
        observed=failing.outcome,
        evidence=failing.evidence,
    )
    judge(
        "MQQP-3.1.4.11-18",
        "MQQP-3.1.4.11-58",
        expected=facts(nothing_there=FAILURE, a_message="MQ_OK"),
        observed={"nothing_there": failed(failing), "a_message": read.outcome},
        evidence=evidence,
    )
    judge(
        "MQDMPR-3.1.7.1.13-39", "MQDMPR-3.1.7.3.3-03", expected="MQ_OK", observed=read.outcome, evidence=read.evidence
    )
    handles = {"of_the_failure": not no_handle(failing), "of_the_message": not no_handle(read)}
    judge(
        "MQQP-3.1.4.11-03",
        "MQQP-3.1.4.11-57",
        "MQQP-3.1.4.11-02",
        expected=facts(of_the_failure=False, of_the_message=action in RECEIVES),
        observed=handles,
        case="a handle",
        evidence=evidence,
    )
    if action in RECEIVES:
        ends, expected = {"end": queue.end(read).outcome, "left": queue.labels()}, facts(end="MQ_OK", left=[])
        judge("MQQP-3.1.4.11-02", "MQQP-3.1.4.11-57", expected=expected, observed=ends, evidence=evidence)


@covers(
    "MQQP-3.1.4.11-47",
    "MQQP-3.1.4.11-48",
    "MQQP-3.1.4.11-50",
    "MQQP-3.1.4.11-53",
    "MQQP-3.1.4.11-54",
)
@pytest.mark.parametrize("kind", KINDS)
def test_every_property_of_a_message_is_brought(remote, judge, kind):
    """What lookups bring is what was sent, property by property, and as long as its PacketSize says."""
    queue = remote.open(QUEUES[kind])
    sent = [every_property(remote.peer, label, kind) for label in (FIRST, SECOND)]
    remote.send_all(sent)
    reads = {
        looked_up(queue, LOOKUP_PEEK_NEXT, FIRST_ID): 0,
        looked_up(queue, LOOKUP_PEEK_PREV, LAST_ID): 1,
        looked_up(queue, LOOKUP_RECEIVE_NEXT, FIRST_ID): 0,
    }
    for read, which in reads.items():
        judge(
            "MQQP-3.1.4.11-47",
            "MQQP-3.1.4.11-48",
            "MQQP-3.1.4.11-50",
            "MQQP-3.1.4.11-53",
            expected=WHOLE,
            observed=unchanged(read, sent[which]),
            evidence=read.evidence,
        )
        size, packet_size = sizes(read)
        judge("MQQP-3.1.4.11-54", expected=packet_size or "a packet", observed=size, evidence=read.evidence)


@covers("MQQP-3.1.4.11-06", "MQQP-3.1.4.11-55")
def test_the_sequential_id_is_that_of_the_other_method(remote, judge):
    """For each message RemoteQMStartReceive2 and lookups bring the same SequentialId, each another."""
    queue = remote.filled(*LABELS)
    cursor = queue.cursor().settled().out.phCursor
    read = looked_up(queue, LOOKUP_PEEK_NEXT, FIRST_ID)
    seen = []
    for action, label in zip((PEEK_CURRENT, PEEK_NEXT, PEEK_NEXT), LABELS, strict=True):
        other = queue.read(action, hCursor=cursor).settled()
        pair = [one.settled().out.lpRemoteReadDesc2.SequentialId for one in (other, read)]
        seen.append(pair[1])
        evidence = [other, read]
        observed = {"message": brought(read), "SequentialId": pair[1]}
        judge.all(expected=facts(message=label, SequentialId=pair[0]), observed=observed, evidence=evidence)
        following = [looked_up(queue, LOOKUP_PEEK_NEXT, one) for one in candidates(pair[1], read)]
        read = next((one for one in following if one.outcome == "MQ_OK"), read)
    differ = len(set(seen)) == len(LABELS)
    judge.all(expected=holds("each message has a SequentialId of its own"), observed=differ, evidence=read.evidence)


@needs("receive")
@covers("MQQP-3.1.4.11-06", "MQQP-3.1.4.11-55")
def test_the_sequential_id_is_the_lower_7_bytes_of_the_lookup_identifier(remote, sut, judge):
    """SequentialId of each answer is LookupIdentifier of its message without the highest byte."""
    queue = remote.filled(FIRST, SECOND)
    known = {one["label"]: lookup_id(one) & LOW_7_BYTES for one in sut.messages()}
    for label, action, at in ((FIRST, LOOKUP_PEEK_NEXT, FIRST_ID), (SECOND, LOOKUP_RECEIVE_PREV, LAST_ID)):
        read = looked_up(queue, action, at)
        observed = read.out.lpRemoteReadDesc2.SequentialId if read.out is not None else None
        judge.all(expected=known[label], observed=observed, evidence=read.evidence)


@pytest.mark.parametrize("action", LOOKUP_ACTIONS, ids=hex)
@covers(
    "MQQP-3.1.4.11-21",
    "MQQP-3.1.4.11-22",
    "MQQP-3.1.4.11-23",
    "MQQP-3.1.4.11-24",
    "MQQP-3.1.4.11-25",
    "MQQP-3.1.4.11-26",
)
@sut_survives()
def test_descriptions_that_are_refused(remote, judge, action):
    """By each action: a cursor, any time-out, no queue, one that was not opened; then the same is carried out."""
    queue = remote.filled(FIRST, SECOND, THIRD)
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
    for rule, alike in (
        ("MQQP-3.1.4.11-22", ["MQQP-3.1.4.11-22", "MQQP-3.1.4.11-21"]),
        ("MQQP-3.1.4.11-23", ["MQQP-3.1.4.11-23", "MQQP-3.1.4.11-21"]),
        ("MQQP-3.1.4.11-24", ["MQQP-3.1.4.11-24", "MQQP-3.1.4.11-21"]),
        ("MQQP-3.1.4.11-26", ["MQQP-3.1.4.11-26", "MQQP-3.1.4.11-25"]),
    ):
        expected = facts(refused=each(status(INVALID_PARAMETER)), fine="MQ_OK")
        observed, evidence = {"refused": calls[rule], "fine": fine.outcome}, [*calls[rule], fine]
        judge(*alike, expected=expected, observed=observed, evidence=evidence)


@covers("MQQP-3.1.4.11-29", "MQQP-3.1.4.11-30", "MQQP-3.1.4.11-36", "MQQP-3.1.4.11-56")
@covers("MQDMPR-3.1.7.1.13-04", "MQDMPR-3.1.7.1.13-09", "MQDMPR-3.1.7.1.13-32")
@pytest.mark.parametrize("action", RECEIVES, ids=hex)
def test_a_receive_is_kept_until_it_is_ended(remote, judge, action):
    """Its message is locked until RR_NACK ends it; the dwRequestID is free when the call is answered.

    Whether the message is there again is not asked: it may be gone at once (errata E57).
    """
    queue = remote.filled(FIRST, SECOND)
    admin = remote.open("admin")
    number = remote.request_id()
    at = {LOOKUP_RECEIVE_NEXT: FIRST_ID, LOOKUP_RECEIVE_PREV: LAST_ID}.get(action)
    label, other = (SECOND, FIRST) if action == LOOKUP_RECEIVE_PREV else (FIRST, SECOND)
    if at is None:
        at = next(iter(identifiers(queue, 1)), IDENTIFIER)
    received = looked_up(queue, action, at, dwRequestID=number)
    locked = queue.labels()
    ended, again = queue.end(received, RR_NACK), queue.end(received, RR_NACK)
    seen = {
        "received": brought(received),
        "a_handle": not no_handle(received),
        "locked": locked,
        "end": ended.outcome,
        "again": again.outcome,
    }
    unknown = "fault nca_s_fault_context_mismatch"
    expected = facts(received=label, a_handle=True, locked=[other], end="MQ_OK", again=unknown)
    judge(
        "MQQP-3.1.4.11-30",
        "MQQP-3.1.4.11-36",
        "MQDMPR-3.1.7.1.13-04",
        "MQDMPR-3.1.7.1.13-32",
        expected=expected,
        observed=seen,
        evidence=[received, ended],
        errata="E57",
    )
    queue.purge().settled()
    remote.deliver([THIRD])
    free = [
        looked_up(queue, LOOKUP_PEEK_NEXT, FIRST_ID, dwRequestID=number),
        queue.read(PEEK_CURRENT, dwRequestID=number),
    ]
    found = list(map(brought, free))
    judge("MQQP-3.1.4.11-56", expected=each(THIRD, "read"), observed=found, evidence=[received, *free])
    queue.receive()
    remote.deliver([SECOND], queue="admin")
    right = looked_up(admin, LOOKUP_PEEK_NEXT, FIRST_ID)
    wrong = looked_up(queue, LOOKUP_PEEK_NEXT, FIRST_ID)
    judge(
        "MQQP-3.1.4.11-29",
        "MQDMPR-3.1.7.1.13-09",
        expected=facts(right=SECOND, wrong=FAILURE),
        observed={"right": brought(right), "wrong": failed(wrong)},
        evidence=[right, wrong],
    )
