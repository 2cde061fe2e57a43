"""Checks the arguments of commands. Each function raises CommandError for an invalid argument."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from reference_qm.core.errors import CommandError

ArgumentValue = TypeVar("ArgumentValue")


def require_number_in_range(name: str, value: int, lowest: int, highest: int) -> int:
    """Return a number if it is in its valid range; otherwise raise CommandError."""
    if not lowest <= value <= highest:
        raise CommandError(f"{name}: {value} is outside {lowest} to {highest}")
    return value


def convert_argument_word(name: str, word: str, known: Mapping[str, ArgumentValue]) -> ArgumentValue:
    """Return the value that belongs to a word in an argument; raise CommandError for an unknown word."""
    if word not in known:
        raise CommandError(f"{name}: {word!a} is not one of {', '.join(known)}")
    return known[word]
