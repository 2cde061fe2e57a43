"""MS-MQQP 3.1.4.1, 3.1.4.10, 3.1.4.11: the reads of a client. The SUT is the client."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

import pytest

from harness.expectations import between, fields, none
from harness.judging.verdicts import Verdict
from harness.peer.rpc_server import ServedCall
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import Action, Method
from suites.mqqp.steps.reader import Reader, Reading, build_numbered_handles

pytestmark = needs("remote_read")

READ_TIMEOUT_STATUS = 0xC00E_001B
"""The status MQ_ERROR_IO_TIMEOUT: no message arrived in time."""
SAMPLE_LOOKUP_ID = 0x0055_0000_0000_0007
VERSION_NOT_REQUESTED_REASON = "the SUT always calls RemoteQMStartReceive, as Windows 2000 does"


RULES_BY_READ_STARTING_METHOD = {
    Method.START_RECEIVE: ["MQQP-3.1.4.2-04", "MQQP-3.1.4.1-07", "MQQP-3.1.4.1-10"],
    Method.START_RECEIVE2: ["MQQP-3.1.4.2-04", "MQQP-3.1.4.10-04", "MQQP-3.1.4.10-10"],
    Method.START_RECEIVE_BY_LOOKUP_ID: ["MQQP-3.1.4.2-04", "MQQP-3.1.4.11-04", "MQQP-3.1.4.11-18"],
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=covers(*rules), id=name) for name, rules in RULES_BY_READ_STARTING_METHOD.items()]
)
def test_client_ends_only_successful_receive(peer, sut, judge, name):
    """The peer returns a failure together with a message and a handle. The SUT does not call RemoteQMEndReceive. The
    next receive succeeds, and the SUT ends it. For a further receive, the SUT calls RemoteQMEndReceive once, although
    that call returns a failure. The check repeats these steps for each lookup action that receives a message.
    """
    reader = Reader(
        peer, sut, Reader.WINDOWS_2000_VERSION if name == Method.START_RECEIVE else Reader.WINDOWS_7_VERSION
    )
    remote = reader.open()
    seeks = ("current", "next", "previous") if name == Method.START_RECEIVE_BY_LOOKUP_ID else ("",)
    for seek, (fails, end_status) in product(seeks, ((True, 0), (False, 0), (False, READ_TIMEOUT_STATUS))):
        reader.server.answers[Method.END_RECEIVE] = partial(ServedCall.respond, Return=end_status)
        reader.server.answers[name] = (
            (lambda call: reader.answer_read(call, reader.build_message(), READ_TIMEOUT_STATUS))
            if fails
            else reader.answer_with_message
        )
        if name == Method.START_RECEIVE_BY_LOOKUP_ID:
            reader.begin("remote_receive_by_lookup_id", remote=remote, lookup_id=SAMPLE_LOOKUP_ID, seek=seek).wait()
        else:
            reader.begin_read(Reading.RECEIVE, remote).wait()
    came = [call for call in reader.server.calls if call.name in (name, "RemoteQMEndReceive")]
    if not any(call.name == name for call in came):
        judge.give_up(Verdict.NOT_EXERCISED, f"the SUT does not call {name}")
        return
    expected = [name, name, "RemoteQMEndReceive", name, "RemoteQMEndReceive"] * len(seeks)
    observed = [call.name for call in came]
    judge(
        *RULES_BY_READ_STARTING_METHOD[name],
        expected=expected,
        observed=observed,
        evidence=came,
        case="calls of the client",
    )


ALLOWED_READ_ACTIONS = {Action.RECEIVE, Action.PEEK_CURRENT, Action.PEEK_NEXT}
INFINITE_TIMEOUT = None
"""The time limit of a command that waits without a limit."""


class ClientReadSession:
    """Reads with which the SUT, as the client, uses several queues and cursors of the peer."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.remotes = [reader.open(), reader.open()]
        self.numbers = {remote: number for number, remote in enumerate(self.remotes)}
        """For each queue, the number of queues that the SUT had opened before."""
        self.cursors: list[int] = []
        self.calls: list[tuple[ServedCall, int, int]] = []
        """Each read that arrived, with its queue, and with the number of its cursor, or -1 without a cursor."""

    def open(self, **how: Any) -> int:
        """Let the SUT open a further queue, and return the queue."""
        remote = self.reader.open(**how)
        self.numbers[remote] = len(self.numbers)
        return remote

    def open_cursor(self, remote: int) -> int:
        """Let the SUT open a cursor of a queue; return the number of cursors that it had opened before."""
        self.cursors.append(self.reader.open_cursor(remote))
        return len(self.cursors) - 1

    def read(
        self, reading: Reading, remote: int, cursor: int = -1, timeout_ms: int | None = Reader.READ_TIMEOUT_MS
    ) -> None:
        """Let the SUT read, and wait for the outcome."""
        before = len(self.reader.reads())
        where = {"remote": remote} if cursor < 0 else {"cursor": self.cursors[cursor]}
        more = {"next": True} if reading.action == Action.PEEK_NEXT else {}
        self.reader.begin(reading.verb, **where, timeout_ms=timeout_ms, **more).outcome()
        self.calls += [(call, remote, cursor) for call in self.reader.reads()[before:]]

    def read_with_each_action(self) -> None:
        """Let the SUT read from several queues, with and without cursors, and with and without a time limit."""
        first, second = self.remotes
        at_first, at_second, closed = (self.open_cursor(one) for one in (first, second, second))
        self.reader.begin("remote_close_cursor", cursor=self.cursors[closed]).outcome()
        for remote, cursor in ((second, at_second), (first, at_first)):
            for reading in Reading:
                self.read(reading, remote, cursor if reading.by_cursor else -1)
            self.read(Reading.PEEK_NEXT_BY_CURSOR, remote, cursor)
            for reading in Reading:
                self.read(reading, remote, cursor if reading.by_cursor else -1, INFINITE_TIMEOUT)
        self.read(Reading.PEEK, self.open(access="peek"))
        self.reader.begin("remote_close", remote=first).outcome()
        again = self.open()
        self.read(Reading.PEEK, again)
        self.read(Reading.RECEIVE, again)


@pytest.mark.parametrize(
    ("version", "rules"),
    [
        pytest.param(version, rules, marks=covers(*rules.values()), id=name)
        for name, version, rules in (
            (
                "old",
                Reader.WINDOWS_2000_VERSION,
                {
                    "context": "MQQP-3.1.4.1-04",
                    "action": "MQQP-3.1.4.1-08",
                    "cursor": "MQQP-3.1.4.1-09",
                    "opened": "MQQP-3.1.4.1-03",
                    "ended": "MQQP-3.1.4.1-D01",
                },
            ),
            (
                "new",
                Reader.WINDOWS_7_VERSION,
                {
                    "context": "MQQP-3.1.4.10-01",
                    "action": "MQQP-3.1.4.10-07",
                    "cursor": "MQQP-3.1.4.10-08",
                    "handles": "MQQP-3.1.4.10-06",
                },
            ),
        )
    ],
)
def test_client_read_has_listed_action_and_cursor_for_peek_next(peer, sut, judge, version, rules):
    """The SUT peeks and receives repeatedly, with and without cursors and time limits, from two queues, from a queue
    that is open only to peek, and from a queue that was closed and opened again; one cursor is closed. Each call uses
    an accepted presentation context and the handles of its queue. Each ulAction is RECEIVE, PEEK_CURRENT or PEEK_NEXT,
    and each PEEK_NEXT has the cursor that the application uses. RemoteQMOpenQueue precedes the reads of each queue.
    RemoteQMEndReceive does not follow a peek.
    """
    reader = Reader(peer, sut, version)
    session = ClientReadSession(reader)
    session.read_with_each_action()
    unbound = [(frame, reason) for frame, reason in reader.server.malformed if reason.startswith("context")]
    old = version == Reader.WINDOWS_2000_VERSION
    reads = [one for one in session.calls if (one[0].name == Method.START_RECEIVE) == old]
    if not reads and not unbound:
        judge.give_up(Verdict.NOT_EXERCISED, VERSION_NOT_REQUESTED_REASON)
        return
    calls = [call for call, _, _ in reads]
    judge(
        rules["context"],
        expected=none("call on a context that was not accepted"),
        observed=[reason for _, reason in unbound],
        evidence=[*calls, *(frame for frame, _ in unbound)],
    )
    if not reads:
        later = [rule for name, rule in rules.items() if name != "context"]
        judge.mark_not_exercised(*later, reason="no read arrived on a presentation context that the peer accepted")
        return
    asked = [reader.get_read_description(call) for call in calls]
    others = [hex(one.ulAction) for one in asked if one.ulAction not in ALLOWED_READ_ACTIONS]
    judge(rules["action"], expected=none("ulAction that is not listed"), observed=others, evidence=calls)
    following = [
        (call, one.hCursor, build_cursor_handle(cursor))
        for (call, _, cursor), one in zip(reads, asked, strict=True)
        if one.ulAction == Action.PEEK_NEXT
    ]
    if following:
        judge(
            rules["cursor"],
            expected=[handle for _, _, handle in following],
            observed=[given for _, given, _ in following],
            evidence=[call for call, _, _ in following],
            case="hCursor of the reads with PEEK_NEXT",
        )
    else:
        judge.mark_not_exercised(rules["cursor"], reason="the SUT never sent a PEEK_NEXT", evidence=calls)
    if "handles" in rules:
        for (_, remote, _), one, call in zip(reads, asked, calls, strict=True):
            handles = build_numbered_handles(session.numbers[remote])
            given = fields(hRemoteQueue=handles.queue, dwQueue=handles.descriptor, dwRequestID=between(1, 0xFFFF_FFFF))
            judge(rules["handles"], expected=given, observed=one, evidence=call.evidence)
    came = reader.server.calls
    names = [call.name for call in came]
    if "opened" in rules:
        late = [
            call.name
            for call, remote, _ in reads
            if names[: came.index(call)].count(Method.OPEN_QUEUE) <= session.numbers[remote]
        ]
        judge(
            rules["opened"],
            expected=none("read before the RemoteQMOpenQueue of its queue"),
            observed=late,
            evidence=calls,
        )
    if "ended" in rules:
        after = [
            came[came.index(call) + 1]
            for call, one in zip(calls, asked, strict=True)
            if one.ulAction != Action.RECEIVE and came.index(call) + 1 < len(came)
        ]
        ends = [call.name for call in after if call.name == Method.END_RECEIVE]
        judge(rules["ended"], expected=none("RemoteQMEndReceive after a peek"), observed=ends, evidence=calls)


def build_cursor_handle(number: int) -> int:
    """Return the hCursor of a cursor; ``number``: the number of cursors that the SUT has opened before."""
    return Reader.FIRST_CURSOR_HANDLE + number * (Reader.SECOND_CURSOR_HANDLE - Reader.FIRST_CURSOR_HANDLE)
