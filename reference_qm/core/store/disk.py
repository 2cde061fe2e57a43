"""The disk, and the changes on their way there. Spec: MS-MQQB 3.1.1.3.2."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result
from reference_qm.surface.effects import Effect, Persist

Change: TypeAlias = dict[str, object]


ORDINAL_BLOCK = 0x4000
"""Ordinals reserved at once, while half of the last ones are left: that many are skipped at most at a restart."""


_HALF_OF_ALL = 1 << 31
"""Ordinals begin again after 32 bits: one that is further away than this is ahead."""


@dataclass(frozen=True, slots=True)
class Commit:
    """The meaning of a change that is on its way to disk. ``token``: the command that waits for it, None for none.

    ``repeat`` is the part of the change that is as true when it could not be written, and is tried again. ``sessions``:
    whose messages may be sent then.
    """

    change: Change
    repeat: Change
    token: int | None
    done: Callable[[], Result]
    undo: Callable[[], None]
    sessions: Sequence[Session] = ()


@dataclass(frozen=True, slots=True)
class Barrier:
    """A wait for all records that were on their way at a time: ``tokens`` are those that are yet to be written."""

    tokens: set[int]
    reached: Callable[[Now], None]
    missed: Callable[[str, Now], None]


class Disk:
    """The disk, if there is one, and the changes on their way there."""

    def __init__(self, emit: Callable[[Effect], None], next_token: Callable[[], int]) -> None:
        self.used = False
        """Whether a store outlives the process; without one nothing is written and nothing is waited for."""
        self.reserved = 0
        """The last ordinal that is not used again after a restart."""
        self.reserved_sequential = 0
        """The last SequentialID that is not used again after a restart."""
        self.error = ""
        """The reason for which the disk last refused a change."""
        self.pending: dict[int, Commit] = {}
        self._emit = emit
        self._next_token = next_token
        self._repeat: Change = {}
        self._barriers: list[Barrier] = []

    def commit(
        self,
        change: Change,
        token: int | None,
        done: Callable[[], Result],
        undo: Callable[[], None],
        sessions: Sequence[Session] = (),
    ) -> Result | None:
        """Let a command be ``done`` when its change is on disk, at once when there is none; ``undo`` if it fails."""
        if not (self.used and change):
            return done()
        self._write_change(change, {}, token, done, undo, sessions)
        return None

    def save(self, change: Change) -> None:
        """Write a change that nobody waits for; one that fails is written with the next."""
        if self.used and change:
            self._write_change({}, change, None, Result, lambda: None, ())

    def when_saved(self, reached: Callable[[Now], None], missed: Callable[[str, Now], None], now: Now) -> None:
        """Let something happen when all that was saved till now is on disk; ``missed`` when some of it could not be.

        What could not be written before is tried again.
        """
        if self.used and self._repeat:
            self._write_change({}, {}, None, Result, lambda: None, ())
        if self.pending:
            self._barriers.append(Barrier(set(self.pending), reached, missed))
        else:
            reached(now)

    def pass_barriers(self, token: int, error: str | None, now: Now) -> None:
        """Report to those that waited for a record that it is on disk, or why it is not."""
        waiting, self._barriers = self._barriers, []
        for barrier in waiting:
            if token in barrier.tokens and error is not None:
                barrier.missed(error, now)
                continue
            barrier.tokens.discard(token)
            if barrier.tokens:
                self._barriers.append(barrier)
            else:
                barrier.reached(now)

    def reserve(self, ordinal: int) -> Change:
        """Return the change that makes an ordinal and those after it safe to use; empty when they are. Spec: 3.1.1.3.

        An ordinal may be old, of a message of a transaction that ends much later: what is reserved never goes back.
        """
        if ORDINAL_BLOCK // 2 <= (self.reserved - ordinal & 0xFFFFFFFF) < _HALF_OF_ALL:
            return {}
        return {"ordinal": ordinal + ORDINAL_BLOCK & 0xFFFFFFFF}

    def reserve_sequential(self, sequential_id: int) -> Change:
        """Return the change that makes a SequentialID and those after it safe to use. Spec: MS-MQDMPR 3.1.1.1.

        Whatever is written later, a message that has it for instance, is on disk only when this is.
        """
        self.reserved_sequential = sequential_id + ORDINAL_BLOCK
        return {"sequential_id": self.reserved_sequential}

    def note_persisted(self, token: int) -> Commit | None:
        """Take note that a change is on disk; return what it means, None when it is not ours."""
        commit = self.pending.pop(token, None)
        if commit is not None and isinstance(reserved := commit.change.get("ordinal"), int):
            self.reserved = reserved
        return commit

    def note_failed(self, token: int, error: str) -> Commit | None:
        """Take note that a change is not on disk; what is still true of it is written with the next."""
        self.error = error
        commit = self.pending.pop(token, None)
        for name, value in commit.repeat.items() if commit is not None else ():
            newer = name in self._repeat or any(name in other.change for other in self.pending.values())
            if not newer:
                self._repeat[name] = value
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
        repeat = self._repeat | repeat
        self._repeat = {}
        number = self._next_token()
        self.pending[number] = Commit(repeat | change, repeat, token, done, undo, sessions)
        self._emit(Persist(number, dict(self.pending[number].change)))
