"""The four sections about reading, MS-MQQP 3.2.4.2, 3.2.4.3, 3.2.4.5 and 3.2.4.6: which rule is which in each.

They say the same of peeks and receives, with a cursor and without one, in other orders.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

from harness.errors import ConformanceFailure
from harness.judging.judge import Judge
from harness.judging.verdicts import Verdict
from harness.peer.peer import Peer
from harness.peer.rpc_server import ServedCall
from harness.sut.sut import Sut
from harness.wire.rpc_qm2qm import PEEK_CURRENT, PEEK_NEXT, RECEIVE, RR_ACK
from suites.mqqp.steps.reader import (
    BODY,
    CURSOR,
    LABEL,
    QUEUE_DESCRIPTOR,
    QUEUE_HANDLE,
    START,
    START2,
    WINDOWS_7,
    WINDOWS_2000,
    WINDOWS_2003,
    Reader,
    Request,
    context,
    description,
)

TIMEOUT_MS = 1_500
READ_TIMEOUT_MS = 60_000
"""timeout_ms of reads that the peer lets wait."""
ALWAYS_OLD = "the SUT does not ask for versions and always calls RemoteQMStartReceive, as Windows 2000 does"


@dataclass(frozen=True, slots=True)
class Reading:
    """One of the sections. ``rules``: the number of each rule by what it is about.

    ``old`` and ``new``: by field, of what goes into RemoteQMStartReceive and RemoteQMStartReceive2.
    """

    section: str
    verb: str
    cursor: bool
    action: int
    rules: dict[str, str]
    old: dict[str, str]
    new: dict[str, str]

    def rule(self, about: str) -> str:
        """Give the id of a rule."""
        return f"MQQP-{self.section}-{self.rules[about]}"

    def named(self, *about: str) -> list[str]:
        """Give the ids of rules, those that the section has."""
        return [self.rule(one) for one in about if one in self.rules]

    def fields(self, way: str) -> dict[str, str]:
        """Give the ids of the rules about the fields, by field; ``way``: old or new."""
        numbers: dict[str, str] = getattr(self, way)
        return {name: f"MQQP-{self.section}-{number}" for name, number in numbers.items()}

    @property
    def receives(self) -> bool:
        """Is the message removed?"""
        return self.action == RECEIVE

    @property
    def expected(self) -> dict[str, int]:
        """What the fields are, but dwRequestID."""
        return {
            "hRemoteQueue": QUEUE_HANDLE,
            "dwQueue": QUEUE_DESCRIPTOR,
            "hCursor": CURSOR if self.cursor else 0,
            "ulAction": self.action,
            "ulTimeout": TIMEOUT_MS,
            "dwSize": 0,
            "SequentialId": 0,
        }

    def begin(self, reader: Reader, remote: int, timeout_ms: int = TIMEOUT_MS, cursor: int | None = None) -> Request:
        """Let the SUT read. ``cursor``: one that was opened before."""
        where = {"remote": remote}
        if self.cursor:
            where = {"cursor": reader.open_cursor(remote) if cursor is None else cursor}
        more = {"next": True} if self.action == PEEK_NEXT else {}
        return reader.begin(self.verb, **where, timeout_ms=timeout_ms, **more)

    def begin_in_turn(self, reader: Reader, remote: int, count: int, cursor: int | None = None) -> list[Request]:
        """Let the SUT begin so many reads that wait, each when the one before has come to the peer."""
        requests = []
        for number in range(1, count + 1):
            requests.append(self.begin(reader, remote, READ_TIMEOUT_MS, cursor))
            reader.await_reads(number)
        return requests


def _numbered(first: int, *names: str) -> dict[str, str]:
    return {name: f"{first + place:02d}" for place, name in enumerate(names)}


_ENTRY = ("create", "handle", "identifier", "unique", "add")
_VERSION = ("version", "check", "below_5", "below_5_1", "early_build")
_NO_CURSOR = ("hRemoteQueue", "dwQueue", "dwSize", "lpBuffer", "hCursor", "ulAction", "ulTimeout", "dwRequestID")
_FIELDS = ("hRemoteQueue", "dwQueue", "hCursor", "dwSize", "lpBuffer", "ulAction", "ulTimeout", "dwRequestID")
_LAST = ("SequentialId",)
_PEEKED = ("read_handle", "message", "remove")
_RECEIVED = ("read_handle", "message", "end", "context", "ack", "remove")

PEEKING = Reading(
    "3.2.4.2",
    "remote_peek",
    False,
    PEEK_CURRENT,
    _numbered(2, *_ENTRY, *_VERSION) | {"old": "13", "new": "23"} | _numbered(34, *_PEEKED),
    _numbered(14, *_NO_CURSOR),
    _numbered(24, *_NO_CURSOR, *_LAST),
)
RECEIVING = Reading(
    "3.2.4.3",
    "remote_receive",
    False,
    RECEIVE,
    _numbered(2, *_ENTRY, *_VERSION) | {"old": "13", "new": "23"} | _numbered(34, *_RECEIVED),
    _numbered(14, *_FIELDS),
    _numbered(24, *_FIELDS, *_LAST),
)
PEEKING_BY_CURSOR = Reading(
    "3.2.4.5",
    "remote_peek",
    True,
    PEEK_NEXT,
    _numbered(2, *_ENTRY, *_VERSION) | {"old": "13", "new": "23"} | _numbered(34, *_PEEKED),
    _numbered(14, *_FIELDS),
    _numbered(24, *_FIELDS, *_LAST),
)
RECEIVING_BY_CURSOR = Reading(
    "3.2.4.6",
    "remote_receive",
    True,
    RECEIVE,
    _numbered(2, *_ENTRY, *_VERSION[1:]) | {"old": "12", "new": "22"} | _numbered(33, *_RECEIVED),
    _numbered(13, *_FIELDS),
    _numbered(23, *_FIELDS, *_LAST),
)
"""This one does not repeat that RemoteQmGetVersion is called."""

VERSIONS = {
    "below_5": ((4, 9, 9_999), START),
    "below_5_1": (WINDOWS_2000, START),
    "early_build": ((5, 0, 950), START),
    "old": (WINDOWS_2000, START),
    "new": (WINDOWS_2003, START2),
    "check": (WINDOWS_7, START2),
}
"""What a server says it is, and the method that is called then."""


def judge_fields(peer: Peer, sut: Sut, judge: Judge, reading: Reading, way: str) -> None:
    """Judge what goes into RemoteQMStartReceive (``old``) or RemoteQMStartReceive2 (``new``)."""
    reader = Reader(peer, sut, WINDOWS_2000 if way == "old" else WINDOWS_7)
    remote = reader.open()
    reader.let_reads_wait()
    request = reading.begin(reader, remote)
    call = reader.await_reads()[0]
    if way == "new" and call.name == START and not reader.server.named("RemoteQmGetVersion"):
        judge.give_up(Verdict.NOT_APPLICABLE, ALWAYS_OLD)
        return
    if call.name != {"old": START, "new": START2}[way]:
        raise ConformanceFailure(f"the SUT called {call.name}")
    asked, rules = description(call), reading.fields(way)
    for name, expected in reading.expected.items():
        if name in rules:
            holder = call.into.lpRemoteReadDesc2 if name == "SequentialId" else asked
            judge(rules[name], expected=expected, observed=getattr(holder, name), evidence=call.evidence)
    null = "NULL" if asked.lpBuffer is None else "a pointer"
    judge(rules["lpBuffer"], expected="NULL", observed=null, evidence=call.evidence)
    number = request.number
    reader.begin("cancel", request=number)
    cancel = reader.one("RemoteQMCancelReceive")
    evidence = [*call.evidence, *cancel.evidence]
    judge(rules["dwRequestID"], expected=cancel.into.dwRequestID, observed=asked.dwRequestID, evidence=evidence)


def judge_versions(peer: Peer, sut: Sut, judge: Judge, reading: Reading) -> None:
    """Judge which method is called for which version of the server."""
    reader = Reader(peer, sut)
    remote = reader.open()
    cursor = reader.open_cursor(remote) if reading.cursor else None
    methods = {}
    for about, (version, method) in VERSIONS.items():
        if about not in reading.rules:
            continue
        reader.tell_version(*version)
        before = len(reader.server.calls)
        reading.begin(reader, remote, cursor=cursor).wait()
        calls = reader.server.calls[before:]
        evidence = [frame for call in calls for frame in call.evidence]
        called = [call.name for call in calls if call.name in (START, START2)]
        asked = [call.name for call in calls[:1]] == ["RemoteQmGetVersion"]
        if not asked and about in ("new", "old"):
            methods[about] = called
            continue
        judge(reading.rule(about), expected=str([method]), observed=str(called), evidence=evidence)
        if about == "check" and "version" in reading.rules:
            judge(reading.rule("version"), expected=True, observed=asked, evidence=evidence)
    if methods:
        judge.give_up(Verdict.NOT_APPLICABLE, ALWAYS_OLD)


def judge_entries(peer: Peer, sut: Sut, judge: Judge, reading: Reading) -> None:
    """Judge what is noted of two pending reads, by cancelling them."""
    reader = Reader(peer, sut)
    remote = reader.open()
    reader.let_reads_wait()
    cursor = reader.open_cursor(remote) if reading.cursor else None
    requests = reading.begin_in_turn(reader, remote, 2, cursor)
    calls = reader.reads()
    numbers = [description(call).dwRequestID for call in calls]
    evidence = [frame for call in calls for frame in call.evidence]
    differ = len(set(numbers))
    for about in ("identifier", "unique"):
        judge(reading.rule(about), expected="2 identifiers", observed=f"{differ} identifiers", evidence=evidence)
    reader.begin("cancel", request=requests[1].number)
    cancels = reader.server.wait("RemoteQMCancelReceive")
    evidence += [frame for call in cancels for frame in call.evidence]
    found = [call.into.dwRequestID for call in cancels if call.into is not None]
    for about in ("create", "add"):
        judge(reading.rule(about), expected=str(numbers[1:]), observed=str(found), evidence=evidence)
    handles = [call.into.hQueue for call in cancels if call.into is not None]
    judge(reading.rule("handle"), expected=str([QUEUE_HANDLE]), observed=str(handles), evidence=evidence)


def judge_removal(peer: Peer, sut: Sut, judge: Judge, reading: Reading) -> None:
    """Judge that a read is forgotten when it is over, and not before."""
    reader = Reader(peer, sut)
    remote = reader.open()
    reader.let_reads_wait()
    request = reading.begin(reader, remote, READ_TIMEOUT_MS)
    call = reader.await_reads()[0]
    pending = len(reader.pending())
    reader.give(call)
    request.wait()
    counts = f"{pending} pending, then {len(reader.pending())}"
    judge(reading.rule("remove"), expected="1 pending, then 0", observed=counts, evidence=call.evidence)


def judge_message(peer: Peer, sut: Sut, judge: Judge, reading: Reading, way: str) -> None:
    """Judge what the application gets, and what the server is told of it."""
    reader = Reader(peer, sut, WINDOWS_2000 if way == "old" else WINDOWS_7)
    remote = reader.open()
    reply = reading.begin(reader, remote).wait()
    call = reader.await_reads()[0]
    found = reply.get("message") or {}
    observed = (base64.b64decode(found.get("body_base64", "")), found.get("label"))
    judge(reading.rule("message"), expected=str((BODY, LABEL)), observed=str(observed), evidence=call.evidence)
    if not reading.receives:
        return
    ends = reader.server.wait("RemoteQMEndReceive")
    judge(reading.rule("end"), expected=1, observed=len(ends), evidence=_of(call, *ends))
    handle = context(0x4EAD_0000 + description(call).dwRequestID)
    given = [end.into.pphContext.hex() for end in ends if end.into is not None]
    for about in ("read_handle", "context"):
        judge(reading.rule(about), expected=str([handle.hex()]), observed=str(given), evidence=_of(call, *ends))
    acks: list[Any] = [end.into.dwAck for end in ends if end.into is not None]
    judge(reading.rule("ack"), expected=str([RR_ACK]), observed=str(acks), evidence=_of(call, *ends))


def _of(*calls: ServedCall) -> list[Any]:
    return [frame for call in calls for frame in call.evidence]
