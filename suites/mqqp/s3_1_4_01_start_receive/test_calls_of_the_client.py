"""MS-MQQP 3.1.4.1 to 3.1.4.11: when and with what a client calls the methods; here the SUT is the one that calls."""

from __future__ import annotations

import pytest

from harness.expectations import none
from harness.judging.verdicts import Verdict
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import (
    PEEK_CURRENT,
    PEEK_NEXT,
    RECEIVE,
)
from suites.mqqp.steps.reader import (
    START,
    START2,
    WINDOWS_7,
    WINDOWS_2000,
    Reader,
    description,
    give,
    message,
)
from suites.mqqp.steps.reads import (
    PEEKING,
    PEEKING_BY_CURSOR,
    PEEKING_CURRENT_BY_CURSOR,
    RECEIVING,
    RECEIVING_BY_CURSOR,
)

pytestmark = needs("remote_read")

LOOKUP = "RemoteQMStartReceiveByLookupId"
NO_MESSAGE = 0xC00E_001B
"""MQ_ERROR_IO_TIMEOUT."""
IDENTIFIER = 0x0055_0000_0000_0007
ALWAYS_OLD = "the SUT always calls RemoteQMStartReceive, as Windows 2000 does"


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
    judge(*BEGUN[name], expected=expected, observed=observed, evidence=came)


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
    judge(action, expected=none("ulAction that no table has"), observed=others, evidence=calls)
    following = [call for call, one in zip(calls, asked, strict=True) if one.ulAction == PEEK_NEXT]
    if not following:
        judge.mark_not_exercised(cursor, reason="the SUT never peeked at the next message", evidence=calls)
        return
    without = [call.name for call in following if not description(call).hCursor]
    judge(cursor, expected=none("PEEK_NEXT without a cursor"), observed=without, evidence=following)
