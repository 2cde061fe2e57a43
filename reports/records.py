"""Reads untrusted JSON field by field. An error names the field and its file."""

from __future__ import annotations

from datetime import UTC, datetime

from reports.rollup_error import RollupError
from reports.text import one_line

SCHEMA_VERSIONS = (1, 2)
"""The versions of run folders that can be read."""
VALID_YEARS = (1970, 9000)
"""The range of years in which a run may have started. Common programming languages can represent all times in this
range.
"""


def replace_lone_surrogates(text: str) -> str:
    """Replace lone surrogates with the characters that Java writes for them. JSON can contain lone surrogates, but
    UTF-8 cannot.
    """
    return text.encode("utf-8", "replace").decode("utf-8")


class Record:
    """A JSON object that is read field by field. The errors of its methods name the object and the key."""

    def __init__(self, values: object, where: str) -> None:
        if not isinstance(values, dict):
            raise RollupError(f"{where} must be a JSON object")
        self.values: dict[str, object] = values
        self.where = where
        if self.has_value("schema") and self.values["schema"] not in SCHEMA_VERSIONS:
            raise RollupError(
                f"{where}: schema {one_line(repr(self.values['schema']), 20)} is unknown: a newer mqconform wrote it; "
                "use that version"
            )

    def has_value(self, key: str) -> bool:
        return self.values.get(key) is not None

    def get_record(self, key: str) -> Record:
        return Record(self.values.get(key), f"{self.where}: {one_line(key, 60)}")

    def get_records(self, key: str) -> list[Record]:
        values = self.values.get(key, [])
        if not isinstance(values, list):
            raise RollupError(f"{self.where}: {key} must be a list")
        return [Record(value, f"{self.where}: {key} {number}") for number, value in enumerate(values)]

    def get_boolean(self, key: str) -> bool | None:
        value = self.values.get(key)
        if value is not None and not isinstance(value, bool):
            raise RollupError(f"{self.where}: {key} must be true or false")
        return value

    def get_text(self, key: str, default: str | None = None) -> str:
        value = self.values.get(key)
        if value is None and default is not None:
            return default
        if not isinstance(value, str):
            raise RollupError(f"{self.where}: {key} must be a string")
        return replace_lone_surrogates(value)

    def get_texts(self, key: str) -> list[str]:
        values = self.values.get(key, [])
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            raise RollupError(f"{self.where}: {one_line(key, 60)} must be a list of strings")
        return [replace_lone_surrogates(value) for value in values]

    def get_time(self, key: str) -> datetime:
        try:
            moment = datetime.fromisoformat(self.get_text(key))
        except ValueError as error:
            raise RollupError(f"{self.where}: {key} must be a time such as 2026-11-21T10:00:00Z") from error
        if moment.year not in range(*VALID_YEARS):
            raise RollupError(f"{self.where}: {key} is in the year {moment.year}, which cannot be the year of a run")
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)

    def get_integer(self, key: str) -> int | None:
        value = self.values.get(key)
        if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
            raise RollupError(f"{self.where}: {key} must be an integer")
        return value
