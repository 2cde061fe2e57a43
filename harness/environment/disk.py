"""A disk in memory: what a core puts there outlives its process."""

from __future__ import annotations

import json
from collections.abc import Mapping

Record = Mapping[str, object]


class VirtualDisk:
    """Entries by name, as the store of ``serve`` keeps them: as text, so that a core gets back what can be written."""

    def __init__(self) -> None:
        self._entries: dict[str, str] = {}

    def write(self, record: Record) -> None:
        """Change the entries that a record names, all or none; None is for one that is gone.

        TypeError or ValueError when a value is not JSON-ready.
        """
        new = {name: json.dumps(value, allow_nan=False) for name, value in record.items() if value is not None}
        for name in record.keys() - new.keys():
            self._entries.pop(name, None)
        self._entries.update(new)

    def read(self) -> dict[str, object]:
        """Return every entry."""
        return {name: json.loads(text) for name, text in self._entries.items()}

    def clear(self) -> None:
        """Forget every entry."""
        self._entries.clear()
