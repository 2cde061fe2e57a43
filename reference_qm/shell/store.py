"""Stores for ``Persist`` effects: their interface, and the one that lives in memory (sqlite_store: the other)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Protocol

Record = dict[str, object]


class StoreError(Exception):
    """Records could not be stored; one line."""


class StoreFailure(Exception):
    """The store did what it should not; one line. Nothing can be kept any more."""


class Store(Protocol):
    """Keeps records safely."""

    async def write(self, records: Sequence[Record]) -> None:
        """Store all the records, in order, or none of them and raise StoreError; on return they are safe."""

    def clear(self) -> None:
        """Forget everything, what is being written too; StoreError, and nothing is forgotten, when that fails."""

    def close(self) -> None:
        """Let go of whatever the store holds."""


class MemoryStore:
    """The core's own memory is the store: it survives ``restart``, and at the end of the process nothing does.

    Keeping the records as well would only keep them twice, for nobody. What a file would refuse is refused here too.
    """

    async def write(self, records: Sequence[Record]) -> None:
        """Refuse a record that is not JSON-ready."""
        try:
            for record in records:
                json.dumps(record, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise StoreError(f"a record is not JSON-ready: {error}") from error

    def clear(self) -> None:
        """Nothing is kept."""

    def close(self) -> None:
        """Nothing is open."""
