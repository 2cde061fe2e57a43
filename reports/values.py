"""The names of numbers in what was expected and observed, by whoever has them: reports know no protocol."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.metadata import entry_points

GROUP = "mqconform.values"
"""The entry point of what returns a text with the names of the numbers in it."""
WithNames = Callable[[str], str]


@cache
def value_names() -> WithNames:
    """Return what writes names beside numbers; where nothing is installed for it, texts stay as they are."""
    for entry in entry_points(group=GROUP):
        found: WithNames = entry.load()
        return found
    return str
