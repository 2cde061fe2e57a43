"""Defines the interface of stores for ``Persist`` effects, and the store in memory.

The store in a file is ``shell.sqlite_store``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Protocol

Record = dict[str, object]

MEMORY_STORE_LIMIT_CHARACTERS = 2 * 1024 * 1024 * 1024
"""The size limit of a store in characters. A queue manager that uses all of its default quota needs less (MS-MQDMPR
3.1.1.1).
"""
_encode_json = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode


class StoreError(Exception):
    """Raised when a store cannot store or read records. The message has one line."""


class PermanentStoreFailure(Exception):
    """Raised when a store has failed internally and can store no further records. The message has one line."""


class Store(Protocol):
    """The interface of stores, which keep entries safe from a crash. A record is a change of entries: it contains the
    name of each changed entry with its new value, or None if the entry is removed.
    """

    async def write(self, records: Sequence[Record]) -> None:
        """Store all records in order, or raise StoreError and store none. When the method returns, the records are safe
        from a crash.
        """

    def read(self) -> dict[str, object]:
        """Return every entry after the pending writes. Raise StoreError if an entry cannot be read."""

    def clear(self) -> None:
        """Remove every entry and every pending write. If StoreError is raised, every entry stays."""

    def describe_shortage(self) -> str:
        """Return one line that reports a shortage of space, or an empty text if the space is sufficient."""

    def close(self) -> None:
        """Release the resources of the store."""


class MemoryStore:
    """A store whose entries survive a restart of the core, but not the end of the process. It keeps the entries as JSON
    texts, as a store in a file does.
    """

    def __init__(self, limit: int = MEMORY_STORE_LIMIT_CHARACTERS) -> None:
        self._limit = limit
        self._entries: dict[str, str] = {}
        self._size = 0

    async def write(self, records: Sequence[Record]) -> None:
        """Store all records in order. If StoreError is raised, no record is stored."""
        self.write_at_once(records)

    def write_at_once(self, records: Sequence[Record]) -> None:
        """Store all records as ``write`` does, but synchronously."""
        texts = encode_changed_entries(records)
        grown = sum(
            _measure_entry_size(name, text) - _measure_entry_size(name, self._entries.get(name))
            for name, text in texts.items()
        )
        if grown > 0 and self._size + grown > self._limit:
            raise StoreError(f"the store in memory is full at {self._limit} characters; use a file (--store)")
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
        """Remove every entry."""
        self._entries.clear()
        self._size = 0

    def describe_shortage(self) -> str:
        """Return an empty text, because a store in memory never runs short of space."""
        return ""

    def close(self) -> None:
        """Do nothing, because a store in memory has no resources to release."""


def encode_changed_entries(records: Sequence[Record]) -> dict[str, str | None]:
    """Return, for each entry in records, its new value as JSON, or None if the entry was removed.

    Raise StoreError if a value is not JSON-ready.
    """
    changes: dict[str, object] = {}
    for record in records:
        changes.update(record)
    try:
        return {name: None if value is None else _encode_json(value) for name, value in changes.items()}
    except (TypeError, ValueError) as error:
        raise StoreError(f"a record cannot be written as JSON: {error}") from error


def _measure_entry_size(name: str, text: str | None) -> int:
    return 0 if text is None else len(name) + len(text)
