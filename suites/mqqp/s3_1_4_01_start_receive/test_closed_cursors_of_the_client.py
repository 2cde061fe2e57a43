"""MS-MQQP 3.1.4.1, 3.1.4.10: the cursors of a client that closes and opens cursors. The SUT is the client."""

from __future__ import annotations

from functools import partial

import pytest

from harness.judging.verdicts import Verdict
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import Action, Method
from suites.mqqp.s3_1_4_01_start_receive.test_calls_of_the_client import (
    READ_TIMEOUT_STATUS,
    ClientReadSession,
    build_cursor_handle,
)
from suites.mqqp.steps.reader import Reader, Reading

pytestmark = needs("remote_read")

PEEKS_BY_CURSOR = (Reading.PEEK_CURRENT_BY_CURSOR, Reading.PEEK_NEXT_BY_CURSOR, Reading.PEEK_NEXT_BY_CURSOR)


@pytest.mark.parametrize(
    ("method", "version", "rule"),
    [
        pytest.param(method, version, rule, marks=covers(rule), id=method)
        for method, version, rule in (
            (Method.START_RECEIVE, Reader.WINDOWS_2000_VERSION, "MQQP-3.1.4.1-09"),
            (Method.START_RECEIVE2, Reader.WINDOWS_7_VERSION, "MQQP-3.1.4.10-08"),
        )
    ],
)
def test_client_peek_next_has_cursor_that_is_open(peer, sut, judge, method, version, rule):
    """The SUT peeks by a cursor of a queue, closes the cursor, and peeks by a second cursor. It then peeks by a cursor
    of a second queue, gets no message for one of these peeks, and peeks by the second cursor again. Each PEEK_NEXT has
    the cursor that the application used, and never the closed cursor.
    """
    reader = Reader(peer, sut, version)
    session = ClientReadSession(reader)
    remote, beside = session.remotes
    first = session.open_cursor(remote)
    _peek_repeatedly(session, remote, first)
    _close_cursor(session, first)
    second = session.open_cursor(remote)
    _peek_repeatedly(session, remote, second)
    other = session.open_cursor(beside)
    _peek_repeatedly(session, beside, other)
    reader.server.answers[method] = partial(reader.answer_read, data=None, status=READ_TIMEOUT_STATUS)
    session.read(Reading.PEEK_NEXT_BY_CURSOR, beside, other)
    reader.server.answers[method] = reader.answer_with_message
    for remote_of_cursor, cursor in ((beside, other), (remote, second)):
        session.read(Reading.PEEK_NEXT_BY_CURSOR, remote_of_cursor, cursor)
    _close_cursor(session, other)
    session.read(Reading.PEEK_NEXT_BY_CURSOR, remote, second)
    _close_cursor(session, second)
    handles = [
        (asked.hCursor, build_cursor_handle(cursor))
        for call, _, cursor in session.calls
        if call.name == method and (asked := reader.get_read_description(call)).ulAction == Action.PEEK_NEXT
    ]
    if not handles:
        judge.give_up(Verdict.NOT_EXERCISED, f"the SUT sends no PEEK_NEXT by {method}")
        return
    judge(
        rule,
        expected=[handle for _, handle in handles],
        observed=[given for given, _ in handles],
        evidence=reader.server.list_calls_of(method),
        case="hCursor of the reads with PEEK_NEXT",
    )


def _peek_repeatedly(session: ClientReadSession, remote: int, cursor: int) -> None:
    """Let the SUT peek at the message of a cursor and at the two following messages."""
    for reading in PEEKS_BY_CURSOR:
        session.read(reading, remote, cursor)


def _close_cursor(session: ClientReadSession, cursor: int) -> None:
    """Let the SUT close a cursor."""
    session.reader.begin("remote_close_cursor", cursor=session.cursors[cursor]).outcome()
