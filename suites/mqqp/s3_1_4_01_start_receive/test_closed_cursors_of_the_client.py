"""MS-MQQP 3.1.4.1, 3.1.4.10: the cursors of a client that closes and opens cursors. The SUT is the client."""

from __future__ import annotations

from functools import partial

import pytest

from harness.judging.verdicts import Verdict
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import Action, Method
from suites.mqqp.steps.reader import Reader, Reading

pytestmark = needs("remote_read")

CURSOR_HANDLE_STEP = Reader.SECOND_CURSOR_HANDLE - Reader.FIRST_CURSOR_HANDLE
IO_TIMEOUT_STATUS = 0xC00E_001B
PEEKS_BY_CURSOR = (Reading.PEEK_CURRENT_BY_CURSOR, Reading.PEEK_NEXT_BY_CURSOR, Reading.PEEK_NEXT_BY_CURSOR)


class _PeekingClient:
    """Lets the SUT peek by cursors, and stores the cursor handles that its calls must have."""

    def __init__(self, reader: Reader, method: str) -> None:
        self.reader = reader
        self.method = method
        self.expected: list[int] = []
        """For each PEEK_NEXT of the SUT, the handle of the cursor that its application used."""
        self._opened = 0

    def open_cursor(self, remote: int) -> tuple[int, int]:
        """Let the SUT open a cursor; return the cursor and its handle."""
        cursor = self.reader.open_cursor(remote)
        self._opened += 1
        return cursor, Reader.FIRST_CURSOR_HANDLE + (self._opened - 1) * CURSOR_HANDLE_STEP

    def peek(self, remote: int, opened: tuple[int, int], *readings: Reading) -> None:
        """Let the SUT peek by a cursor."""
        cursor, handle = opened
        for reading in readings or PEEKS_BY_CURSOR:
            before = len(self.list_peeks_next())
            self.reader.begin_read(reading, remote, cursor=cursor).outcome()
            self.expected += [handle] * (len(self.list_peeks_next()) - before)

    def close_cursor(self, opened: tuple[int, int]) -> None:
        """Let the SUT close a cursor."""
        self.reader.begin("remote_close_cursor", cursor=opened[0]).outcome()

    def list_peeks_next(self) -> list[int]:
        """Return hCursor of each PEEK_NEXT of the SUT by the method of the check."""
        asked = [self.reader.get_read_description(call) for call in self.reader.server.list_calls_of(self.method)]
        return [one.hCursor for one in asked if one.ulAction == Action.PEEK_NEXT]


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
    client = _PeekingClient(reader, method)
    remote, beside = reader.open(), reader.open()
    first = client.open_cursor(remote)
    client.peek(remote, first)
    client.close_cursor(first)
    second = client.open_cursor(remote)
    client.peek(remote, second)
    other = client.open_cursor(beside)
    client.peek(beside, other)
    reader.server.answers[method] = partial(reader.answer_read, data=None, status=IO_TIMEOUT_STATUS)
    client.peek(beside, other, Reading.PEEK_NEXT_BY_CURSOR)
    reader.server.answers[method] = reader.answer_with_message
    for remote_of_cursor, cursor in ((beside, other), (remote, second)):
        client.peek(remote_of_cursor, cursor, Reading.PEEK_NEXT_BY_CURSOR)
    client.close_cursor(other)
    client.peek(remote, second, Reading.PEEK_NEXT_BY_CURSOR)
    client.close_cursor(second)
    calls = reader.server.list_calls_of(method)
    if not client.expected:
        judge.give_up(Verdict.NOT_EXERCISED, f"the SUT sends no PEEK_NEXT by {method}")
        return
    judge(
        rule,
        expected=client.expected,
        observed=client.list_peeks_next(),
        evidence=calls,
        case="hCursor of the reads with PEEK_NEXT",
    )
