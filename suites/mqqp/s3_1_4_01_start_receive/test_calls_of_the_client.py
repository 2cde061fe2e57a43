"""MS-MQQP 3.1.4.1, 3.1.4.10, 3.1.4.11: the reads of a client. The SUT is the client."""

from __future__ import annotations

from functools import partial
from itertools import product

import pytest

from harness.expectations import none
from harness.judging.verdicts import Verdict
from harness.peer.rpc_server import ServedCall
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import Action, Method
from suites.mqqp.steps.reader import Reader, Reading

pytestmark = needs("remote_read")

READ_TIMEOUT_STATUS = 0xC00E_001B
"""The status MQ_ERROR_IO_TIMEOUT: no message arrived in time."""
SAMPLE_LOOKUP_ID = 0x0055_0000_0000_0007
NEVER_ASKS_VERSION = "the SUT always calls RemoteQMStartReceive, as Windows 2000 does"


RULES_BY_STARTING_METHOD = {
    Method.START_RECEIVE: ["MQQP-3.1.4.2-04", "MQQP-3.1.4.1-07", "MQQP-3.1.4.1-10"],
    Method.START_RECEIVE2: ["MQQP-3.1.4.2-04", "MQQP-3.1.4.10-04", "MQQP-3.1.4.10-10"],
    Method.START_RECEIVE_BY_LOOKUP_ID: ["MQQP-3.1.4.2-04", "MQQP-3.1.4.11-04", "MQQP-3.1.4.11-18"],
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=covers(*rules), id=name) for name, rules in RULES_BY_STARTING_METHOD.items()]
)
def test_client_ends_only_successful_receive(peer, sut, judge, name):
    """The peer returns a failure together with a message and a handle: the SUT does not call RemoteQMEndReceive. The
    next receive succeeds, and the SUT ends this receive. For a further receive, the SUT calls RemoteQMEndReceive once,
    although the peer returns a failure from that call. The check repeats these steps with each action of a read by
    LookupIdentifier that receives a message.
    """
    reader = Reader(peer, sut, Reader.WINDOWS_2000 if name == Method.START_RECEIVE else Reader.WINDOWS_7)
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
        *RULES_BY_STARTING_METHOD[name], expected=expected, observed=observed, evidence=came, case="calls of the client"
    )


READING_VERBS = {
    "receive": Reading.RECEIVE,
    "peek": Reading.PEEK,
    "receive by cursor": Reading.RECEIVE_BY_CURSOR,
    "peek by cursor": Reading.PEEK_CURRENT_BY_CURSOR,
    "peek next by cursor": Reading.PEEK_NEXT_BY_CURSOR,
}
ALLOWED_READ_ACTIONS = {Action.RECEIVE, Action.PEEK_CURRENT, Action.PEEK_NEXT}


@pytest.mark.parametrize(
    ("version", "action", "cursor"),
    [
        pytest.param(
            Reader.WINDOWS_2000,
            "MQQP-3.1.4.1-08",
            "MQQP-3.1.4.1-09",
            marks=covers("MQQP-3.1.4.1-08", "MQQP-3.1.4.1-09"),
            id="old",
        ),
        pytest.param(
            Reader.WINDOWS_7,
            "MQQP-3.1.4.10-07",
            "MQQP-3.1.4.10-08",
            marks=covers("MQQP-3.1.4.10-07", "MQQP-3.1.4.10-08"),
            id="new",
        ),
    ],
)
def test_client_read_has_listed_action_and_cursor_for_peek_next(peer, sut, judge, version, action, cursor):
    """The SUT peeks and receives, with and without a cursor: each ulAction is RECEIVE, PEEK_CURRENT or PEEK_NEXT, and
    each PEEK_NEXT has a nonzero hCursor.
    """
    reader = Reader(peer, sut, version)
    remote = reader.open()
    for way in READING_VERBS.values():
        reader.begin_read(way, remote).wait()
    calls = [call for call in reader.reads() if (call.name == Method.START_RECEIVE) == (version == Reader.WINDOWS_2000)]
    if not calls:
        judge.give_up(Verdict.NOT_EXERCISED, NEVER_ASKS_VERSION)
        return
    asked = [reader.get_read_description(call) for call in calls]
    others = [hex(one.ulAction) for one in asked if one.ulAction not in ALLOWED_READ_ACTIONS]
    judge(action, expected=none("ulAction that is not listed"), observed=others, evidence=calls)
    following = [call for call, one in zip(calls, asked, strict=True) if one.ulAction == Action.PEEK_NEXT]
    if not following:
        judge.mark_not_exercised(cursor, reason="the SUT never sent a PEEK_NEXT", evidence=calls)
        return
    without = [call.name for call in following if not reader.get_read_description(call).hCursor]
    judge(cursor, expected=none("PEEK_NEXT without a cursor"), observed=without, evidence=following)
