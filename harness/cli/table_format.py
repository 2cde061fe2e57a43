"""The output formats of commands whose result is a table."""

from __future__ import annotations

from enum import StrEnum


class TableFormat(StrEnum):
    """A table for people, or JSON for programs."""

    TABLE = "table"
    JSON = "json"
