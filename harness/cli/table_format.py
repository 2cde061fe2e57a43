"""Define the output formats of commands whose result is a table."""

from __future__ import annotations

from enum import StrEnum


class TableFormat(StrEnum):
    """The output format of a table: text for people, or JSON for programs."""

    TABLE = "table"
    JSON = "json"
