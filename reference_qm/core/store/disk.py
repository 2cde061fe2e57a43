"""Manages the changes that are being written to the disk. Spec: MS-MQQB 3.1.1.3.2."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result
from reference_qm.surface.effects import Effect, Persist

Change: TypeAlias = dict[str, object]


RESERVED_ORDINAL_COUNT = 0x4000
"""The number of ordinals that are reserved in one block. The next block is reserved when less than half of the
current block remains. A restart skips at most one block.
"""


_HALF_OF_ORDINAL_RANGE = 1 << 31
"""Half of the range of ordinals, which wrap after 32 bits. An ordinal that is lower than another ordinal by more
than this number is the later ordinal.
"""


@dataclass(frozen=True, slots=True)
class PendingDiskChange:
    """A change that is being written to the disk. ``token`` is the token of the command that waits for the change, or
    None if no command waits.

    ``change_to_repeat`` is the part of the change that is still valid after a failed write and must be written again.
    ``sessions`` are the sessions that may send messages after the write.
    """

    change: Change
    change_to_repeat: Change
    token: int | None
    on_saved: Callable[[], Result]
    undo_change: Callable[[], None]
    sessions: Sequence[Session] = ()


@dataclass(frozen=True, slots=True)
class DiskWriteBarrier:
    """A wait for the records whose writing began before the wait. It ends when all of these records are on disk.
    ``tokens`` identify the records that are not on disk yet.
    """

    tokens: set[int]
    on_all_saved: Callable[[Now], None]
    on_write_failed: Callable[[str, Now], None]


class Disk:
    """Writes changes to the disk if the queue manager has a disk, and keeps the changes that are not on disk yet."""

    def __init__(self, emit: Callable[[Effect], None], next_token: Callable[[], int]) -> None:
        self.used = False
        """Whether the queue manager has a store that keeps its entries when the process ends. Without a store, no
        command waits for the disk.
        """
        self.reserved = 0
        """The last ordinal of the reserved block. After a restart, numbering continues after this ordinal."""
        self.reserved_sequential = 0
        """The last SequentialID of the reserved block. After a restart, numbering continues after this
        SequentialID.
        """
        self.error = ""
        """The reason why the last failed change could not be written."""
        self.pending: dict[int, PendingDiskChange] = {}
        self._emit = emit
        self._next_token = next_token
        self._change_to_repeat: Change = {}
        self._barriers: list[DiskWriteBarrier] = []

    def commit(
        self,
        change: Change,
        token: int | None,
        done: Callable[[], Result],
        undo: Callable[[], None],
        sessions: Sequence[Session] = (),
    ) -> Result | None:
        """Write the store entries that must be on disk before a command is answered.

        When the entries are on disk (at once if there is no disk), ``done`` is called. If the write fails, ``undo`` is
        called.
        """
        if not (self.used and change):
            return done()
        self._write_change(change, {}, token, done, undo, sessions)
        return None

    def save(self, change: Change) -> None:
        """Write store entries for which no command waits. If the write fails, the entries are written together with the
        next ones.
        """
        if self.used and change:
            self._write_change({}, change, None, Result, lambda: None, ())

    def call_when_changes_saved(
        self, reached: Callable[[Now], None], missed: Callable[[str, Now], None], now: Now
    ) -> None:
        """Call ``reached`` when all changes saved before this call are on disk, or ``missed`` if the write of one of
        them fails.

        Changes whose write failed earlier are written again.
        """
        if self.used and self._change_to_repeat:
            self._write_change({}, {}, None, Result, lambda: None, ())
        if self.pending:
            self._barriers.append(DiskWriteBarrier(set(self.pending), reached, missed))
        else:
            reached(now)

    def report_record_to_barriers(self, token: int, error: str | None, now: Now) -> None:
        """Report that a record is on disk, or could not be written, to every operation (DiskWriteBarrier) that waits
        for this record.
        """
        waiting, self._barriers = self._barriers, []
        for barrier in waiting:
            if token in barrier.tokens and error is not None:
                barrier.on_write_failed(error, now)
                continue
            barrier.tokens.discard(token)
            if barrier.tokens:
                self._barriers.append(barrier)
            else:
                barrier.on_all_saved(now)

    def build_ordinal_reservation(self, ordinal: int) -> Change:
        """Return the store entry that reserves an ordinal and a block of later ordinals, or nothing if the ordinal is
        already reserved.

        Spec: MS-MQQB 3.1.1.3. A message of a long transaction may have an old ordinal. Therefore a reservation is
        never reduced.
        """
        if RESERVED_ORDINAL_COUNT // 2 <= (self.reserved - ordinal & 0xFFFFFFFF) < _HALF_OF_ORDINAL_RANGE:
            return {}
        return {"ordinal": ordinal + RESERVED_ORDINAL_COUNT & 0xFFFFFFFF}

    def build_sequential_id_reservation(self, sequential_id: int) -> Change:
        """Return the store entry that reserves a SequentialID and a block of later numbers. Spec: MS-MQDMPR 3.1.1.1.

        The records that follow, such as the record of the message with this number, reach the disk only after this
        change.
        """
        self.reserved_sequential = sequential_id + RESERVED_ORDINAL_COUNT
        return {"sequential_id": self.reserved_sequential}

    def take_persisted_change(self, token: int) -> PendingDiskChange | None:
        """Record that the change with the given token is on disk. Return the change, or None if the token is
        unknown.
        """
        commit = self.pending.pop(token, None)
        if commit is not None and isinstance(reserved := commit.change.get("ordinal"), int):
            self.reserved = reserved
        return commit

    def handle_failed_write(self, token: int, error: str) -> PendingDiskChange | None:
        """Handle store entries that could not be written. Those that no newer entry has replaced are written together
        with the next entries.
        """
        self.error = error
        commit = self.pending.pop(token, None)
        for name, value in commit.change_to_repeat.items() if commit is not None else ():
            newer = name in self._change_to_repeat or any(name in other.change for other in self.pending.values())
            if not newer:
                self._change_to_repeat[name] = value
        return commit

    def _write_change(
        self,
        change: Change,
        repeat: Change,
        token: int | None,
        done: Callable[[], Result],
        undo: Callable[[], None],
        sessions: Sequence[Session],
    ) -> None:
        repeat = self._change_to_repeat | repeat
        self._change_to_repeat = {}
        number = self._next_token()
        self.pending[number] = PendingDiskChange(repeat | change, repeat, token, done, undo, sessions)
        self._emit(Persist(number, dict(self.pending[number].change)))
