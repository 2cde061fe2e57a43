"""Converts values of a TOML file. Each converter takes a parsed value, and returns the usable value or raises
ValueError.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from reference_qm.codec import FormatError
from reference_qm.security import Sid

TomlValueConverter = Callable[[object], Any]
ConverterByKey = Mapping[str, TomlValueConverter]
TomlValues = dict[str, Any]


class SettingsError(Exception):
    """Raised when a file, key or flag is unusable. The one-line message names the file, key or flag, and the remedy."""


def require_string(value: object) -> str:
    """Return the value if it is a nonempty string. Otherwise raise ValueError."""
    if not isinstance(value, str) or not value:
        raise ValueError("must be a string")
    return value


def require_boolean(value: object) -> bool:
    """Return the value if it is true or false. Otherwise raise ValueError."""
    if not isinstance(value, bool):
        raise ValueError("must be true or false")
    return value


def make_integer_converter(low: int, high: int) -> TomlValueConverter:
    """Return a converter that accepts integers from ``low`` to ``high``."""

    def convert_integer(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise ValueError(f"must be an integer from {low} to {high}")
        return value

    return convert_integer


def make_choice_converter(known: Mapping[str, Any]) -> TomlValueConverter:
    """Return a converter that accepts only the given names, and returns the value that belongs to the name."""

    def convert_word(value: object) -> Any:
        if not isinstance(value, str) or value not in known:
            raise ValueError(f"must be one of {', '.join(known)}")
        return known[value]

    return convert_word


def convert_guid(value: object) -> UUID:
    """Return the UUID that a text in the form of a GUID represents. Raise ValueError for any other value."""
    try:
        return UUID(require_string(value))
    except ValueError:
        raise ValueError("must be a GUID like 6d71636f-6e66-4f72-8d00-000000000001") from None


def convert_sid(value: object) -> Sid:
    """Return the SID that a text represents. Raise ValueError for any other value."""
    try:
        return Sid.of(require_string(value))
    except FormatError:
        raise ValueError("must be a SID like S-1-5-21-1-2-3-1000") from None


def check_keys(tree: Mapping[str, object], known: Mapping[str, Any] | list[str], where: str, kind: str) -> None:
    """Raise SettingsError if a table of the TOML file contains an unknown key."""
    for key in tree:
        if key not in known:
            raise SettingsError(f"{where}: unknown {kind} {key!r}; known: {', '.join(known)}")


def convert_table(tree: object, known: ConverterByKey, where: str) -> TomlValues:
    """Return the converted values of a TOML table. Raise SettingsError for an unusable entry."""
    if not isinstance(tree, dict):
        raise SettingsError(f"{where} must be a table")
    check_keys(tree, known, where, "key")
    return {key: convert_value(value, known[key], f"{where} {key}") for key, value in tree.items()}


def convert_value(value: object, convert: TomlValueConverter, where: str) -> Any:
    """Return the converted value of a TOML key. Raise SettingsError for an unusable value."""
    try:
        return convert(value)
    except ValueError as error:
        raise SettingsError(f"{where} = {value!r}: {error}") from error
