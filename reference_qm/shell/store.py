"""Where ``Persist`` effects go: the surface of a store, and the one that lives in memory."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Protocol

Record = dict[str, object]


class StoreError(Exception):
    """Records could not be stored; one line."""


class Store(Protocol):
    """Keeps records safely."""

    async def write(self, records: Sequence[Record]) -> None:
        """Store all the records, in order, or none of them and raise StoreError; on return they are safe."""

    def close(self) -> None:
        """Let go of whatever the store holds."""


class MemoryStore:
    """Records that live as long as the process: enough for ``restart``, which keeps the core's own memory.

    Nothing reads them back before there is a file to read, so only their number and size are kept: the process that
    would need them after its end is gone with them.
    """

    def __init__(self) -> None:
        self.records = 0
        self.size = 0

    async def write(self, records: Sequence[Record]) -> None:
        """Count the records; one that is not JSON-ready is refused, as a file would refuse it."""
        try:
            sizes = [len(json.dumps(record)) for record in records]
        except (TypeError, ValueError) as error:
            raise StoreError(f"a record is not JSON-ready: {error}") from error
        self.records += len(sizes)
        self.size += sum(sizes)

    def close(self) -> None:
        """Nothing is open."""
