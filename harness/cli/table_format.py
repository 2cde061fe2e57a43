"""How commands show what is a table."""

from __future__ import annotations

from enum import StrEnum


class TableFormat(StrEnum):
    """For people, or for programs."""

    TABLE = "table"
    JSON = "json"
