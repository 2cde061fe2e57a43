"""Find, in the observation of a verdict, the SUT's reasons for refusals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.sut.outcomes import Refused


def find_refusal_reasons(observed: Any) -> str | None:
    """Return, in one line, the SUT's reasons for the refusals in an observation, or None if the observation
    contains no refusal.
    """
    return "; ".join(dict.fromkeys(_find_refusal_reasons_in_value(observed))) or None


def _find_refusal_reasons_in_value(observed: Any) -> Iterator[str]:
    if isinstance(observed, Refused):
        yield observed.why
    elif isinstance(observed, Mapping):
        for each in observed.values():
            yield from _find_refusal_reasons_in_value(each)
    elif isinstance(observed, list | tuple):
        for each in observed:
            yield from _find_refusal_reasons_in_value(each)
