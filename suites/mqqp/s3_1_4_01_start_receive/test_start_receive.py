"""MS-MQQP 3.1.4.1 RemoteQMStartReceive, 3.1.4.10 RemoteQMStartReceive2: reading a message, at once.

The second does what the first does and tells the message's SequentialId.
"""

from __future__ import annotations

from harness.peer.remote import START2, no_handle, packet_of
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import PEEK_CURRENT, PEEK_NEXT, RECEIVE, RR_NACK, desc2
from harness.wire.rpc_stub import NULL_HANDLE
from suites.mqqp.steps.reading import (
    BODY,
    FIRST,
    SECOND,
    THIRD,
    UNKNOWN_HANDLE,
    by_each,
    deliver,
    filled,
    sizes,
    told,
    waiting,
)

pytestmark = needs("qm2qm")

LOW_7_BYTES = (1 << 56) - 1
LONG_MS = 60_000
INVALID_PARAMETER = "MQ_ERROR_INVALID_PARAMETER"
FAILURE = "a failure HRESULT"


def contents(call) -> str:
    """Say what the buffer of an answer holds: a packet with a label and a body."""
    packet = packet_of(call)
    if packet is None:
        return "no UserMessage packet"
    properties = packet["MessagePropertiesHeader"]
    return f"{properties.Label}: {bytes(properties.MessageBody)!r}"


def handle_of(call) -> str:
    """Say whether an answer has a context handle."""
    return "NULL" if no_handle(call) else "a handle"


def failed(call) -> str:
    """Say that a call returned a failure HRESULT, or what else came of it."""
    return FAILURE if call.failed else told(call)


@by_each(
    start={"ok": "10", "handle": "05", "peek": "06", "buffer": "13 14 16 19", "size": "20", "locked": "01"},
    start2={
        "ok": "09 55",
        "handle": "02 54",
        "peek": "03 54",
        "buffer": "44 45 47 50",
        "size": "51",
        "receive": "31",
        "current": "36",
        "no_cursor": "23",
    },
)
def test_a_message_is_peeked_then_received(remote, judge, by, rules):
    """Both bring the first message, whole; only the receive brings a handle, and hides the message."""
    queue = filled(remote, FIRST, SECOND)
    peeked = queue.read(PEEK_CURRENT, by=by)
    again = queue.read(PEEK_CURRENT, by=by)
    received = queue.read(RECEIVE, by=by)
    behind = queue.read(PEEK_CURRENT, by=by)
    evidence = [*peeked.evidence, *received.evidence]
    rules.judge(judge, "ok", expected="MQ_OK", observed=received.outcome, evidence=received.evidence)
    rules.judge(judge, "current", expected=[FIRST, FIRST], observed=[told(peeked), told(again)], evidence=evidence)
    rules.judge(judge, "no_cursor", expected=FIRST, observed=told(peeked), evidence=evidence)
    rules.judge(judge, "receive", expected=[FIRST, SECOND], observed=[told(received), told(behind)], evidence=evidence)
    rules.judge(judge, "handle", expected="a handle", observed=handle_of(received), evidence=received.evidence)
    rules.judge(judge, "peek", expected="NULL", observed=handle_of(peeked), evidence=peeked.evidence)
    for read in (peeked, received):
        expected = f"{FIRST}: {BODY!r}"
        rules.judge(judge, "buffer", expected=expected, observed=contents(read), evidence=read.evidence)
        size, packet_size = sizes(read)
        rules.judge(judge, "size", expected=packet_size, observed=size, evidence=read.evidence)
    ended = queue.end(received)
    after = queue.read(PEEK_CURRENT, by=by)
    observed = [told(behind), ended.outcome, told(after)]
    rules.judge(judge, "locked", expected=[SECOND, "MQ_OK", SECOND], observed=observed, evidence=behind.evidence)


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
    start={"failure": "10", "handle": "06", "unusable": "07"},
    start2={"failure": "10", "handle": "03", "unusable": "04"},
)
def test_what_fails_brings_no_handle(remote, judge, by, rules):
    """A receive from an empty queue returns a failure and NULL, which RemoteQMEndReceive does not take."""
    queue = filled(remote)
    read = queue.read(RECEIVE, by=by)
    rules.judge(judge, "failure", expected=FAILURE, observed=failed(read), evidence=read.evidence)
    rules.judge(judge, "handle", expected="NULL", observed=handle_of(read), evidence=read.evidence)
    handle = read.out.pphContext if read.out is not None else NULL_HANDLE
    ended = queue.association.call("RemoteQMEndReceive", pphContext=handle, dwAck=RR_NACK)
    observed = ended.outcome
    rules.judge(judge, "unusable", expected="MQ_ERROR_INVALID_HANDLE", observed=observed, evidence=ended.evidence)


@by_each(
    start={"action": "08", "next": "09", "session": "03"},
    start2={"queue": "14", "action": "07", "next": "08 17", "session": "18 19", "cursor": "21 22", "missing": "06"},
)
def test_descriptions_that_are_refused(remote, judge, by, rules):
    """Handles that are none or differ, an unknown cursor or action, PEEK_NEXT without a cursor: each its own status."""
    queue = filled(remote, FIRST)
    queue.cursor().settled()
    other = {"hRemoteQueue": UNKNOWN_HANDLE, "dwQueue": UNKNOWN_HANDLE}
    fine = queue.read(PEEK_CURRENT, by=by)

    def refused(name, expected, calls, say=told):
        observed = [told(fine), *(say(call) for call in calls)]
        evidence = [frame for call in calls for frame in call.evidence]
        rules.judge(judge, name, expected=[FIRST, *[expected] * len(calls)], observed=observed, evidence=evidence)

    zero, differs = (queue.read(PEEK_CURRENT, by=by, dwQueue=value) for value in (0, queue.pointer + 1))
    refused("queue", INVALID_PARAMETER, [zero, differs])
    refused("action", FAILURE, [queue.read(action, by=by) for action in (1, 0x80000002, 0x40000010)], failed)
    refused("next", "STATUS_INVALID_PARAMETER", [queue.read(PEEK_NEXT, by=by)])
    refused("cursor", "STATUS_INVALID_PARAMETER", [queue.read(PEEK_CURRENT, by=by, hCursor=UNKNOWN_HANDLE)])
    nothing = {"hRemoteQueue": 0, "dwQueue": 0, "dwRequestID": 0}
    refused("missing", FAILURE, [queue.read(PEEK_CURRENT, by=by, **nothing)], failed)
    unopened = remote.open_remote(queue.association).settled().out.phQueue
    without = queue.read(PEEK_CURRENT, by=by, hRemoteQueue=unopened, dwQueue=unopened)
    refused("session", INVALID_PARAMETER, [without, queue.read(PEEK_CURRENT, by=by, **other)])


@covers("MQQP-3.1.4.10-13")
def test_a_description_of_null_is_refused(remote, judge):
    """RemoteQMStartReceive2 without a REMOTEREADDESC returns MQ_ERROR_INVALID_HANDLE."""
    queue = filled(remote, FIRST)
    call = queue.association.call(START2, lpRemoteReadDesc2=desc2(None))
    judge("MQQP-3.1.4.10-13", expected="MQ_ERROR_INVALID_HANDLE", observed=call.outcome, evidence=call.evidence)


@by_each(start={"twice": "12"}, start2={"twice": "15", "searched": "16"})
def test_a_request_identifier_that_is_in_use_is_refused(remote, judge, by, rules):
    """While a read waits, one with its dwRequestID is refused through the same handle; through another it waits."""
    queue, second = filled(remote), remote.open()
    number = remote.request_id()
    first = queue.begin(RECEIVE, by=by, dwRequestID=number, ulTimeout=LONG_MS)
    waits = waiting(first)
    twice = queue.read(RECEIVE, by=by, dwRequestID=number, ulTimeout=LONG_MS)
    rules.judge(judge, "twice", expected=INVALID_PARAMETER, observed=twice.outcome, evidence=twice.evidence)
    elsewhere = second.begin(RECEIVE, by=by, dwRequestID=number, ulTimeout=LONG_MS)
    seen = [waits, twice.outcome, waiting(elsewhere)]
    expected = ["still waits", INVALID_PARAMETER, "still waits"]
    rules.judge(judge, "searched", expected=expected, observed=seen, evidence=elsewhere.evidence)


@by_each(start2={"cursor": "21", "next": "40", "receive": "31", "current": "36"})
def test_a_cursor_goes_along_the_queue(remote, judge, by, rules):
    """PEEK_CURRENT stays, PEEK_NEXT goes on, RECEIVE takes the message where the cursor is."""
    queue = filled(remote, FIRST, SECOND, THIRD)
    cursor, other = (queue.cursor().settled().out.phCursor for _ in range(2))
    steps = [queue.read(action, by=by, hCursor=cursor) for action in (PEEK_CURRENT, PEEK_CURRENT, PEEK_NEXT)]
    evidence = [frame for step in steps for frame in step.evidence]
    seen = [told(step) for step in steps]
    rules.judge(judge, "current", expected=[FIRST, FIRST], observed=seen[:2], evidence=evidence)
    rules.judge(judge, "next", expected=SECOND, observed=seen[2], evidence=evidence)
    received = queue.read(RECEIVE, by=by, hCursor=cursor)
    rules.judge(judge, "receive", expected=SECOND, observed=told(received), evidence=received.evidence)
    apart = queue.read(PEEK_CURRENT, by=by, hCursor=other)
    seen = [told(received), told(apart)]
    rules.judge(judge, "cursor", expected=[SECOND, FIRST], observed=seen, evidence=apart.evidence)


@by_each(start2={"created": "24 30", "removed": "53", "found": "20"})
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
    rules.judge(judge, "created", expected=expected, observed=seen, evidence=[*read.evidence, *here.evidence])
    deliver(remote, [FIRST])
    again = queue.read(RECEIVE, by=by, dwRequestID=number)
    rules.judge(judge, "removed", expected=FIRST, observed=told(again), evidence=again.evidence)
    deliver(remote, [SECOND], queue="admin")
    right = admin.read(RECEIVE, by=by)
    rules.judge(judge, "found", expected=SECOND, observed=told(right), evidence=right.evidence)
