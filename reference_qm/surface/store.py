"""Stores for ``Persist`` effects: their interface, and the one that lives in memory (shell.sqlite_store: the other)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Protocol

Record = dict[str, object]

MEMORY_LIMIT = 2 * 1024 * 1024 * 1024
"""Characters in memory: more than what queues hold by their default quota, as records (MS-MQDMPR 3.1.1.1)."""
_encode = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode


class StoreError(Exception):
    """Records could not be stored, or not be read; one line."""


class StoreFailure(Exception):
    """The store did what it should not; one line. Nothing can be kept any more."""


class Store(Protocol):
    """Keeps records safely. A record is a change: names of entries with their new values, None for one that is gone."""

    async def write(self, records: Sequence[Record]) -> None:
        """Store all the records, in order, or none of them and raise StoreError; on return they are safe."""

    def read(self) -> dict[str, object]:
        """Return every entry, after whatever is being written; StoreError when that fails."""

    def clear(self) -> None:
        """Forget everything, what is being written too; StoreError, and nothing is forgotten, when that fails."""

    def shortage(self) -> str:
        """Say in one line that there is hardly any room left for more; empty when there is."""

    def close(self) -> None:
        """Let go of whatever the store holds."""


class MemoryStore:
    """Entries that outlive a core, but not the process; as text, so that a core gets back what could be written."""

    def __init__(self, limit: int = MEMORY_LIMIT) -> None:
        self._limit = limit
        self._entries: dict[str, str] = {}
        self._size = 0

    async def write(self, records: Sequence[Record]) -> None:
        """Keep all the records, in order, or none of them and raise StoreError."""
        self.keep(records)

    def keep(self, records: Sequence[Record]) -> None:
        """Do the same at once."""
        texts = as_text(records)
        grown = sum(
            _entry_size(name, text) - _entry_size(name, self._entries.get(name)) for name, text in texts.items()
        )
        if grown > 0 and self._size + grown > self._limit:
            raise StoreError(f"the store in memory is full: it holds {self._limit} characters; use a file (--store)")
        self._size += grown
        for name, text in texts.items():
            if text is None:
                self._entries.pop(name, None)
            else:
                self._entries[name] = text

    def read(self) -> dict[str, object]:
        """Return every entry."""
        return {name: json.loads(text) for name, text in self._entries.items()}

    def clear(self) -> None:
        """Forget every entry."""
        self._entries.clear()
        self._size = 0

    def shortage(self) -> str:
        """Say nothing: its limit is that of a mistake, not of a disk."""
        return ""

    def close(self) -> None:
        """Nothing is open."""


def as_text(records: Sequence[Record]) -> dict[str, str | None]:
    """Return what records make of entries, in order: their new values as JSON, None for those that are gone.

    StoreError when a value is not JSON-ready.
    """
    changes: dict[str, object] = {}
    for record in records:
        changes.update(record)
    try:
        return {name: None if value is None else _encode(value) for name, value in changes.items()}
    except (TypeError, ValueError) as error:
        raise StoreError(f"a record is not JSON-ready: {error}") from error


def _entry_size(name: str, text: str | None) -> int:
    return 0 if text is None else len(name) + len(text)
