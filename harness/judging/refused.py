"""What a system answers to a request that it refuses, with its own words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


class Refused(str):
    """How a request ended that was refused, in the word that a check compares; ``why``: what the SUT said of it."""

    __slots__ = ("why",)
    why: str

    def __new__(cls, word: str, why: str) -> Refused:
        made = super().__new__(cls, word)
        made.why = why
        return made

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]  # str has one argument, this has two
        """Return what a copy is made of: it goes from worker to worker."""
        return str(self), self.why


def said_of(observed: Any) -> str | None:
    """Return in one line what the SUT said of what it refused; None when nothing observed was a refusal."""
    return "; ".join(dict.fromkeys(_found(observed))) or None


def _found(observed: Any) -> Iterator[str]:
    if isinstance(observed, Refused):
        yield observed.why
    elif isinstance(observed, Mapping):
        for each in observed.values():
            yield from _found(each)
    elif isinstance(observed, list | tuple):
        for each in observed:
            yield from _found(each)
