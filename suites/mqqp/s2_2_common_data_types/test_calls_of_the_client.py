"""MS-MQQP 3.1.4.1 to 3.1.4.11: when and with what a client calls the methods; here the SUT is the one that calls."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from harness.errors import ConformanceFailure
from harness.judging.verdicts import Verdict
from harness.peer.rpc_server import ServedCall
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
    PEEK_NEXT,
    RECEIVE,
)
from suites.mqqp.steps.reader import (
    QUEUE_DESCRIPTOR,
    QUEUE_HANDLE,
    START,
    START2,
    WINDOWS_7,
    WINDOWS_2000,
    Reader,
    description,
    frames_of,
    give,
    message,
)
from suites.mqqp.steps.reads import (
    PEEKING,
    PEEKING_BY_CURSOR,
    PEEKING_CURRENT_BY_CURSOR,
    READ_TIMEOUT_MS,
    RECEIVING,
    RECEIVING_BY_CURSOR,
)

pytestmark = needs("remote_read")

LOOKUP = "RemoteQMStartReceiveByLookupId"
NO_MESSAGE = 0xC00E_001B
"""MQ_ERROR_IO_TIMEOUT."""
IDENTIFIER = 0x0055_0000_0000_0007
LIFE = ("RemoteQMOpenQueue", "RemoteQMCloseQueue")
ALWAYS_OLD = "the SUT always calls RemoteQMStartReceive, as Windows 2000 does"

METHODS = {
    START: ("MQQP-3.1.4.1-04", ["MQQP-3.1.4.3-02"]),
    "RemoteQMEndReceive": ("MQQP-3.1.4.2-05", ["MQQP-3.1.4.3-03", "MQQP-3.1.4.2-03"]),
    "RemoteQMCloseQueue": ("MQQP-3.1.4.4-02", ["MQQP-3.1.4.3-04"]),
    "RemoteQMCloseCursor": ("MQQP-3.1.4.5-02", ["MQQP-3.1.4.3-05"]),
    "RemoteQMCancelReceive": ("MQQP-3.1.4.6-04", ["MQQP-3.1.4.3-06", "MQQP-3.1.4.6-02"]),
    "RemoteQMPurgeQueue": ("MQQP-3.1.4.7-02", ["MQQP-3.1.4.3-07", "MQQP-3.1.4.7-01"]),
    "RemoteQMGetQMQMServerPort": ("MQQP-3.1.4.8-01", []),
    "RemoteQmGetVersion": ("MQQP-3.1.4.9-01", []),
    START2: ("MQQP-3.1.4.10-01", ["MQQP-3.1.4.3-08"]),
    LOOKUP: ("MQQP-3.1.4.11-01", ["MQQP-3.1.4.3-09"]),
}
"""Of each method: the rule of its binding, and those that want the queue open before."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=covers(rule, *more), id=name) for name, (rule, more) in METHODS.items()]
)
def test_each_method_is_called_on_a_binding_and_an_open_queue(peer, sut, judge, name):
    """It comes on a presentation context that was agreed on, after RemoteQMOpenQueue and no RemoteQMCloseQueue."""
    binding, order = METHODS[name]
    reader = Reader(peer, sut, WINDOWS_2000 if name == START else WINDOWS_7)
    use(reader, name)
    unbound = [(frame, reason) for frame, reason in reader.server.malformed if reason.startswith("context")]
    calls = reader.server.wait(name)
    if not calls and not unbound:
        judge.give_up(Verdict.NOT_EXERCISED, f"the SUT does not call {name}")
        return
    evidence = [*frames_of(calls), *(frame for frame, _ in unbound)]
    judge(binding, expected=[], observed=[reason for _, reason in unbound], evidence=evidence)
    came = [call.name for call in reader.server.calls]
    before = [one for one in came[: came.index(name) if calls else 0] if one in LIFE]
    if order:
        judge(*order, expected=["RemoteQMOpenQueue"], observed=before, evidence=evidence)


def use(reader: Reader, name: str) -> None:
    """Let the SUT do what takes a method; what it says of it does not matter."""
    opened = reader.begin("remote_open", queue=reader.format_name).wait()
    if not opened.get("ok"):
        return
    remote = int(opened["remote"])
    if name == "RemoteQMCancelReceive":
        reader.let_reads_wait()
        read = RECEIVING.begin(reader, remote, READ_TIMEOUT_MS)
        reader.await_reads()
        reader.begin("cancel", request=read.number).wait()
    elif name == "RemoteQMCloseCursor":
        reader.begin("remote_close_cursor", cursor=reader.open_cursor(remote)).wait()
    elif name == "RemoteQMCloseQueue":
        reader.begin("remote_close", remote=remote).wait()
    elif name == "RemoteQMPurgeQueue":
        reader.begin("remote_purge", remote=remote).wait()
    elif name == LOOKUP:
        reader.begin("remote_receive_by_lookup_id", remote=remote, lookup_id=IDENTIFIER).wait()
    else:
        RECEIVING.begin(reader, remote).wait()


BEGUN = {
    START: ["MQQP-3.1.4.2-04", "MQQP-3.1.4.1-07"],
    START2: ["MQQP-3.1.4.2-04", "MQQP-3.1.4.10-04"],
    LOOKUP: ["MQQP-3.1.4.2-04", "MQQP-3.1.4.11-04"],
}


@pytest.mark.parametrize("name", [pytest.param(name, marks=covers(*rules), id=name) for name, rules in BEGUN.items()])
def test_only_a_receive_that_brought_a_message_is_ended(peer, sut, judge, name):
    """A receive fails, though its answer holds a message and a handle: it is not ended. The next succeeds and is."""
    reader = Reader(peer, sut, WINDOWS_2000 if name == START else WINDOWS_7)
    remote = reader.open()
    for fails in (True, False):
        reader.server.answers[name] = (lambda call: give(call, message(peer), NO_MESSAGE)) if fails else reader.give
        if name == LOOKUP:
            reader.begin("remote_receive_by_lookup_id", remote=remote, lookup_id=IDENTIFIER).wait()
        else:
            RECEIVING.begin(reader, remote).wait()
    came = [call for call in reader.server.calls if call.name in (name, "RemoteQMEndReceive")]
    if not any(call.name == name for call in came):
        judge.give_up(Verdict.NOT_EXERCISED, f"the SUT does not call {name}")
        return
    expected, observed = [name, name, "RemoteQMEndReceive"], [call.name for call in came]
    judge(*BEGUN[name], expected=expected, observed=observed, evidence=frames_of(came))


@covers("MQQP-3.1.4.6-03")
@pytest.mark.parametrize("version", [WINDOWS_2000, WINDOWS_7], ids=["old", "new"])
def test_only_a_read_that_was_begun_is_cancelled(peer, sut, judge, version):
    """Of two reads that wait the second is cancelled: RemoteQMCancelReceive comes behind both, with its identifier."""
    reader = Reader(peer, sut, version)
    remote = reader.open()
    reader.let_reads_wait()
    requests = RECEIVING.begin_in_turn(reader, remote, 2)
    reader.begin("cancel", request=requests[1].number)
    cancels = reader.server.wait("RemoteQMCancelReceive")
    begun = [description(call).dwRequestID for call in reader.reads()]
    came = [call.name == "RemoteQMCancelReceive" for call in reader.server.calls if call in [*reader.reads(), *cancels]]
    observed = [came, [call.into.dwRequestID for call in cancels if call.into is not None]]
    evidence = frames_of([*reader.reads(), *cancels])
    judge("MQQP-3.1.4.6-03", expected=[[False, False, True], begun[1:]], observed=observed, evidence=evidence)


WAYS = {
    "receive": RECEIVING,
    "peek": PEEKING,
    "receive by cursor": RECEIVING_BY_CURSOR,
    "peek by cursor": PEEKING_CURRENT_BY_CURSOR,
    "peek next by cursor": PEEKING_BY_CURSOR,
}
ACTIONS = {RECEIVE, PEEK_CURRENT, PEEK_NEXT}


@pytest.mark.parametrize(
    ("version", "action", "cursor"),
    [
        pytest.param(
            WINDOWS_2000,
            "MQQP-3.1.4.1-08",
            "MQQP-3.1.4.1-09",
            marks=covers("MQQP-3.1.4.1-08", "MQQP-3.1.4.1-09"),
            id="old",
        ),
        pytest.param(
            WINDOWS_7,
            "MQQP-3.1.4.10-07",
            "MQQP-3.1.4.10-08",
            marks=covers("MQQP-3.1.4.10-07", "MQQP-3.1.4.10-08"),
            id="new",
        ),
    ],
)
def test_a_read_is_one_of_three_and_the_next_message_is_that_of_a_cursor(peer, sut, judge, version, action, cursor):
    """Whatever way of reading is asked for, ulAction is of the table; PEEK_NEXT comes with a cursor."""
    reader = Reader(peer, sut, version)
    remote = reader.open()
    for way in WAYS.values():
        way.begin(reader, remote).wait()
    calls = [call for call in reader.reads() if (call.name == START) == (version == WINDOWS_2000)]
    if not calls:
        judge.give_up(Verdict.NOT_EXERCISED, ALWAYS_OLD)
        return
    asked = [description(call) for call in calls]
    others = [hex(one.ulAction) for one in asked if one.ulAction not in ACTIONS]
    judge(action, expected=[], observed=others, evidence=frames_of(calls))
    following = [call for call, one in zip(calls, asked, strict=True) if one.ulAction == PEEK_NEXT]
    if not following:
        judge.not_exercised(cursor, reason="the SUT never peeked at the next message", evidence=frames_of(calls))
        return
    without = [call.name for call in following if not description(call).hCursor]
    judge(cursor, expected=[], observed=without, evidence=frames_of(following))


SEEKS = {
    LOOKUP_PEEK_CURRENT: ("remote_peek_by_lookup_id", "current"),
    LOOKUP_PEEK_NEXT: ("remote_peek_by_lookup_id", "next"),
    LOOKUP_PEEK_PREV: ("remote_peek_by_lookup_id", "previous"),
    LOOKUP_RECEIVE_CURRENT: ("remote_receive_by_lookup_id", "current"),
    LOOKUP_RECEIVE_NEXT: ("remote_receive_by_lookup_id", "next"),
    LOOKUP_RECEIVE_PREV: ("remote_receive_by_lookup_id", "previous"),
}
"""Of each action of 3.1.4.11: the verb and the seek that ask for it."""
OF_PEEK_CURRENT = ("MQQP-3.1.4.11-08", "MQQP-3.1.4.11-09", "MQQP-3.1.4.11-10")
OF_PEEK_NEXT = ("MQQP-3.1.4.11-11", None, "MQQP-3.1.4.11-12")
OF_RECEIVE_CURRENT = ("MQQP-3.1.4.11-13", "MQQP-3.1.4.11-14", "MQQP-3.1.4.11-15")
OF_RECEIVE_NEXT = ("MQQP-3.1.4.11-16", None, "MQQP-3.1.4.11-17")
LOOKUP_RULES = {
    LOOKUP_PEEK_CURRENT: OF_PEEK_CURRENT,
    LOOKUP_PEEK_NEXT: OF_PEEK_NEXT,
    LOOKUP_PEEK_PREV: OF_RECEIVE_CURRENT,
    LOOKUP_RECEIVE_CURRENT: OF_RECEIVE_CURRENT,
    LOOKUP_RECEIVE_NEXT: OF_RECEIVE_NEXT,
    LOOKUP_RECEIVE_PREV: OF_RECEIVE_CURRENT,
}
"""Of each action: the rules of hCursor, of a LookupId of 0, of ulTimeout; those of PREV are worded as of CURRENT."""


def _cases() -> Iterable[Any]:
    for action, (cursor, identifier, timeout) in LOOKUP_RULES.items():
        rules = [rule for rule in (cursor, identifier, timeout) if rule is not None]
        yield pytest.param(action, marks=covers("MQQP-3.1.4.11-05", "MQQP-3.1.4.11-07", *rules), id=f"{action:#x}")


@pytest.mark.parametrize("action", list(_cases()))
def test_a_lookup_has_neither_cursor_nor_time_out(peer, sut, judge, action):
    """Each action at an identifier and at the ends: fields of a read without a cursor, that does not wait."""
    verb, seek = SEEKS[action]
    cursor, identifier, timeout = LOOKUP_RULES[action]
    reader = Reader(peer, sut)
    remote = reader.open()
    reader.open_cursor(remote)
    for lookup_id in (IDENTIFIER, LAST_ID, FIRST_ID):  # the last may be refused: 0 names no message
        reader.begin(verb, remote=remote, lookup_id=lookup_id, seek=seek).wait()
    calls = reader.server.named(LOOKUP)
    if not calls:
        judge.give_up(Verdict.NOT_EXERCISED, f"the SUT does not call {LOOKUP}")
        return
    asked = [whole(call) for call in calls]
    evidence = frames_of(calls)
    judge("MQQP-3.1.4.11-07", expected={action}, observed={one.ulAction for one in asked}, evidence=evidence)
    given = {(one.hRemoteQueue, one.dwQueue, bool(one.dwRequestID), one.dwSize, one.lpBuffer) for one in asked}
    wanted = {(QUEUE_HANDLE, QUEUE_DESCRIPTOR, True, 0, None)}
    judge("MQQP-3.1.4.11-05", expected=wanted, observed=given, evidence=evidence)
    judge(cursor, expected={0}, observed={one.hCursor for one in asked}, evidence=evidence)
    judge(timeout, expected={0}, observed={one.ulTimeout for one in asked}, evidence=evidence)
    if identifier is not None:
        zeros = [call.into.LookupId for call in calls if not call.into.LookupId]
        judge(identifier, expected=[], observed=zeros, evidence=evidence)


def whole(call: ServedCall) -> Any:
    """Return the REMOTEREADDESC of a call that is to have one."""
    if call.into is None:
        raise ConformanceFailure(f"the stub of {call.name} cannot be read: {call.malformed}")
    return description(call)
