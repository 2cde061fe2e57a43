"""MS-MQQP 3.1.4.11 RemoteQMStartReceiveByLookupId: reading a message by its identifier, or one beside it."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.peer.remote import LOOKUP, no_handle, packet_of
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import (
    FIRST_ID,
    LAST_ID,
    LOOKUP_PEEK_CURRENT,
    LOOKUP_PEEK_NEXT,
    LOOKUP_PEEK_PREV,
    LOOKUP_RECEIVE_CURRENT,
    LOOKUP_RECEIVE_NEXT,
    LOOKUP_RECEIVE_PREV,
    PEEK_CURRENT,
    RECEIVE,
    RR_NACK,
)
from harness.wire.rpc_stub import NULL_HANDLE
from suites.mqqp.steps.reading import BODY, FIRST, SECOND, THIRD, UNKNOWN_HANDLE, deliver, filled, sizes, told

pytestmark = needs("qm2qm")

RULE = "MQQP-3.1.4.11-"
LOW_7_BYTES = (1 << 56) - 1
INVALID_PARAMETER = "MQ_ERROR_INVALID_PARAMETER"
FAILURE = "a failure HRESULT"


def looked_up(queue, action, lookup_id, **fields):
    """Read by a LookupId."""
    return queue.read(action, by=LOOKUP, lookup_id=lookup_id, **fields)


def identifiers(queue, count) -> list[int]:
    """Give the LookupIdentifiers of the first messages, from the front on: what a reader can find out about them.

    SequentialId lacks their highest byte, which is 0 or 7 less the priority (errata E59): the one that is found is it.
    """
    found: list[int] = []
    read = looked_up(queue, LOOKUP_PEEK_NEXT, FIRST_ID)
    while len(found) < count and (packet := packet_of(read)) is not None:
        lower, label = read.out.lpRemoteReadDesc2.SequentialId, told(read)
        candidates = (lower, (7 - packet["BaseHeader"].PR << 56) | lower)
        known = [one for one in candidates if told(looked_up(queue, LOOKUP_PEEK_CURRENT, one)) == label]
        if not known:
            break
        found.append(known[0])
        read = looked_up(queue, LOOKUP_PEEK_NEXT, found[-1])
    return found


def failed(call) -> str:
    """Say that a call returned a failure HRESULT, or what else came of it."""
    return FAILURE if call.failed else told(call)


@covers(*(f"{RULE}{number}" for number in ("37", "39", "41", "42", "43", "44", "45", "46")))
def test_the_action_and_the_identifier_say_which_message(remote, judge):
    """CURRENT, NEXT and PREV of the second of three messages; NEXT of 0; PREV of all ones."""
    queue = filled(remote, FIRST, SECOND, THIRD)
    edges = {
        "42": (looked_up(queue, LOOKUP_PEEK_NEXT, FIRST_ID), FIRST),
        "43": (looked_up(queue, LOOKUP_PEEK_PREV, LAST_ID), THIRD),
    }
    for number, (read, expected) in edges.items():
        judge(f"{RULE}{number}", expected=expected, observed=told(read), evidence=read.evidence)
    known = identifiers(queue, 2)
    if len(known) < 2:
        for number in ("37", "39", "45"):
            said = f"{len(known)} of 2 messages are found by what the SUT tells of their identifiers"
            judge(f"{RULE}{number}", expected="2 of 2", observed=said, evidence=edges["42"][0].evidence)
        raise ConformanceFailure("no message to look beside")
    second = known[1]
    beside = {
        "44": (looked_up(queue, LOOKUP_PEEK_PREV, second), FIRST),
        "45": (looked_up(queue, LOOKUP_PEEK_CURRENT, second), SECOND),
        "46": (looked_up(queue, LOOKUP_PEEK_NEXT, second), THIRD),
    }
    for number, (read, expected) in beside.items():
        judge(f"{RULE}{number}", expected=expected, observed=told(read), evidence=read.evidence)
    every = [told(read) for read, _ in (*edges.values(), *beside.values())]
    wanted = [expected for _, expected in (*edges.values(), *beside.values())]
    current = beside["45"][0]
    judge(f"{RULE}41", expected=wanted, observed=every, evidence=current.evidence)
    judge(f"{RULE}39", expected=SECOND, observed=told(current), evidence=current.evidence)
    taken = looked_up(queue, LOOKUP_RECEIVE_CURRENT, second)
    queue.end(taken)
    left = [told(looked_up(queue, LOOKUP_PEEK_NEXT, FIRST_ID)), told(looked_up(queue, LOOKUP_PEEK_PREV, LAST_ID))]
    gone = looked_up(queue, LOOKUP_PEEK_CURRENT, second)
    seen = [told(current), told(taken), failed(gone), *left]
    expected = [SECOND, SECOND, FAILURE, FIRST, THIRD]
    judge(f"{RULE}37", expected=expected, observed=seen, evidence=[*taken.evidence, *gone.evidence])


@covers(f"{RULE}40")
def test_a_peek_leaves_the_message_and_a_receive_takes_it(remote, judge):
    """The first message is peeked twice, received once; then the second is the first."""
    queue = filled(remote, FIRST, SECOND)
    peeked = [looked_up(queue, LOOKUP_PEEK_NEXT, FIRST_ID) for _ in range(2)]
    received = looked_up(queue, LOOKUP_RECEIVE_NEXT, FIRST_ID)
    queue.end(received)
    behind = looked_up(queue, LOOKUP_PEEK_NEXT, FIRST_ID)
    seen = [told(read) for read in (*peeked, received, behind)]
    judge(f"{RULE}40", expected=[FIRST, FIRST, FIRST, SECOND], observed=seen, evidence=received.evidence)


@covers(*(f"{RULE}{number}" for number in ("02", "03", "04", "18", "47", "48", "50", "53", "54", "57", "58")))
def test_a_receive_brings_the_message_and_a_handle(remote, judge):
    """The answer holds the packet and its size; a receive has a handle, a peek and a failure have none."""
    queue = filled(remote, FIRST)
    peeked = looked_up(queue, LOOKUP_PEEK_NEXT, FIRST_ID)
    received = looked_up(queue, LOOKUP_RECEIVE_NEXT, FIRST_ID)
    failing = looked_up(queue, LOOKUP_RECEIVE_NEXT, FIRST_ID)
    for number in ("18", "58"):
        observed = [received.outcome, failed(failing)]
        judge(f"{RULE}{number}", expected=["MQ_OK", FAILURE], observed=observed, evidence=received.evidence)
    handle = "NULL" if no_handle(received) else "a handle"
    none = ["NULL" if no_handle(read) else "a handle" for read in (peeked, failing)]
    for number in ("02", "57"):
        judge(f"{RULE}{number}", expected="a handle", observed=handle, evidence=received.evidence)
    judge(f"{RULE}03", expected=["NULL", "NULL"], observed=none, evidence=[*peeked.evidence, *failing.evidence])
    unusable = failing.out.pphContext if failing.out is not None else NULL_HANDLE
    ended = queue.association.call("RemoteQMEndReceive", pphContext=unusable, dwAck=RR_NACK)
    expected = "MQ_ERROR_INVALID_HANDLE"
    judge(f"{RULE}04", expected=expected, observed=ended.outcome, evidence=ended.evidence)
    for read in (peeked, received):
        packet = packet_of(read)
        brought = "no UserMessage packet"
        if packet is not None:
            properties = packet["MessagePropertiesHeader"]
            brought = f"{properties.Label}: {bytes(properties.MessageBody)!r}"
        for number in ("47", "48", "50", "53"):
            judge(f"{RULE}{number}", expected=f"{FIRST}: {BODY!r}", observed=brought, evidence=read.evidence)
        size, packet_size = sizes(read)
        judge(f"{RULE}54", expected=packet_size, observed=size, evidence=read.evidence)


@needs("receive")
@covers(f"{RULE}06", f"{RULE}55")
def test_the_sequential_id_is_the_lower_7_bytes_of_the_lookup_identifier(remote, sut, judge):
    """SequentialId of each answer is LookupIdentifier of its message without the highest byte."""
    queue = filled(remote, FIRST, SECOND)
    known = {one["label"]: int(one["lookup_id"]) & LOW_7_BYTES for one in sut.messages()}
    for label, action, at in ((FIRST, LOOKUP_PEEK_NEXT, FIRST_ID), (SECOND, LOOKUP_RECEIVE_PREV, LAST_ID)):
        read = looked_up(queue, action, at)
        observed = read.out.lpRemoteReadDesc2.SequentialId if read.out is not None else None
        for number in ("06", "55"):
            judge(f"{RULE}{number}", expected=known[label], observed=observed, evidence=read.evidence)


@covers(
    *(f"{RULE}{number:02}" for number in (5, 7, *range(8, 18), 21, 22, 23, 24, 25, 26)),
)
def test_descriptions_that_are_refused(remote, judge):
    """A cursor, a time-out, no queue, one that was not opened, another action, LookupId 0 where it names nothing."""
    queue = filled(remote, FIRST, SECOND)
    cursor = queue.cursor().settled().out.phCursor
    only = next(iter(identifiers(queue, 1)), 1)
    at = {
        "CURRENT": ((LOOKUP_PEEK_CURRENT, LOOKUP_RECEIVE_CURRENT), only),
        "NEXT": ((LOOKUP_PEEK_NEXT,), FIRST_ID),
        "PREV": ((LOOKUP_PEEK_PREV, LOOKUP_RECEIVE_PREV), LAST_ID),
        "RECEIVE NEXT": ((LOOKUP_RECEIVE_NEXT,), FIRST_ID),
    }
    for kind, with_cursor, with_timeout in (
        ("CURRENT", "08", "10"),
        ("NEXT", "11", "12"),
        ("PREV", "13", "15"),
        ("RECEIVE NEXT", "16", "17"),
    ):
        actions, lookup_id = at[kind]
        for numbers, fields in (
            ((with_cursor, "24"), {"hCursor": cursor}),
            ((with_timeout, "23"), {"ulTimeout": 1000}),
        ):
            calls = [looked_up(queue, action, lookup_id, **fields) for action in actions]
            for number in (*numbers, "21"):
                expected, observed = [INVALID_PARAMETER] * len(calls), [call.outcome for call in calls]
                judge(f"{RULE}{number}", expected=expected, observed=observed, evidence=calls[0].evidence)
    for number, actions in (
        ("09", (LOOKUP_PEEK_CURRENT, LOOKUP_RECEIVE_CURRENT)),
        ("14", (LOOKUP_PEEK_PREV, LOOKUP_RECEIVE_PREV)),
    ):
        calls = [looked_up(queue, action, 0) for action in actions]
        judge(
            f"{RULE}{number}",
            expected=[FAILURE, FAILURE],
            observed=[failed(call) for call in calls],
            evidence=calls[0].evidence,
        )
    calls = [looked_up(queue, action, FIRST_ID) for action in (RECEIVE, PEEK_CURRENT, 0x40000013, 0x40000030)]
    judge(f"{RULE}07", expected=[FAILURE] * 4, observed=[failed(call) for call in calls], evidence=calls[0].evidence)
    none = looked_up(queue, LOOKUP_PEEK_NEXT, FIRST_ID, hRemoteQueue=0, dwQueue=0)
    for number in ("05", "21", "22"):
        judge(f"{RULE}{number}", expected=INVALID_PARAMETER, observed=none.outcome, evidence=none.evidence)
    other = {"hRemoteQueue": UNKNOWN_HANDLE, "dwQueue": UNKNOWN_HANDLE}
    unopened = remote.open_remote(queue.association).settled().out.phQueue
    calls = [
        looked_up(queue, LOOKUP_PEEK_NEXT, FIRST_ID, **other),
        looked_up(queue, LOOKUP_PEEK_NEXT, FIRST_ID, hRemoteQueue=unopened, dwQueue=unopened),
    ]
    for number in ("25", "26"):
        observed = [call.outcome for call in calls]
        judge(f"{RULE}{number}", expected=[INVALID_PARAMETER] * 2, observed=observed, evidence=calls[0].evidence)


@covers(f"{RULE}29", f"{RULE}30", f"{RULE}36", f"{RULE}56")
def test_a_receive_is_kept_until_it_is_ended(remote, judge):
    """Its message is locked, and free again with RR_NACK; the dwRequestID is free when the call is answered."""
    queue = filled(remote, FIRST)
    admin = remote.open("admin")
    number = remote.request_id()
    received = looked_up(queue, LOOKUP_RECEIVE_NEXT, FIRST_ID, dwRequestID=number)
    locked = looked_up(queue, LOOKUP_PEEK_NEXT, FIRST_ID, dwRequestID=number)
    ended = queue.end(received, RR_NACK)
    again = looked_up(queue, LOOKUP_RECEIVE_NEXT, FIRST_ID, dwRequestID=number)
    seen = [told(received), failed(locked), ended.outcome, told(again)]
    for one in ("30", "36"):
        expected = [FIRST, FAILURE, "MQ_OK", FIRST]
        judge(f"{RULE}{one}", expected=expected, observed=seen, evidence=[*received.evidence, *ended.evidence])
    queue.end(again, RR_NACK)
    free = queue.read(PEEK_CURRENT, dwRequestID=number)
    judge(f"{RULE}56", expected=FIRST, observed=told(free), evidence=[*again.evidence, *free.evidence])
    queue.receive()
    deliver(remote, [SECOND], queue="admin")
    right = looked_up(admin, LOOKUP_PEEK_NEXT, FIRST_ID)
    wrong = looked_up(queue, LOOKUP_PEEK_NEXT, FIRST_ID)
    judge(
        f"{RULE}29",
        expected=[SECOND, FAILURE],
        observed=[told(right), failed(wrong)],
        evidence=[*right.evidence, *wrong.evidence],
    )
