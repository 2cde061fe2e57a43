"""The ways to read a queue of the peer: peeking and receiving, without a cursor and with one.

Spec: MS-MQQP 3.2.4.2, 3.2.4.3, 3.2.4.5, 3.2.4.6.
"""

from __future__ import annotations

from dataclasses import dataclass

from harness.wire.rpc_qm2qm import PEEK_CURRENT, PEEK_NEXT, RECEIVE
from suites.mqqp.steps.reader import Reader, Request

TIMEOUT_MS = 1_500
READ_TIMEOUT_MS = 60_000
"""timeout_ms of reads that the peer lets wait."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to read. ``verb``: of the control channel; ``action``: the ulAction that is to be asked for."""

    verb: str
    cursor: bool
    action: int

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


PEEKING = Reading("remote_peek", cursor=False, action=PEEK_CURRENT)
RECEIVING = Reading("remote_receive", cursor=False, action=RECEIVE)
PEEKING_BY_CURSOR = Reading("remote_peek", cursor=True, action=PEEK_NEXT)
PEEKING_CURRENT_BY_CURSOR = Reading("remote_peek", cursor=True, action=PEEK_CURRENT)
RECEIVING_BY_CURSOR = Reading("remote_receive", cursor=True, action=RECEIVE)
