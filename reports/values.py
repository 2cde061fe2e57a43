"""Adds the names of numbers to expected and observed values through an entry point, because reports contain no code of
the protocol.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.metadata import entry_points

ENTRY_POINT_GROUP = "mqconform.values"
"""The entry point whose function returns a text with names added to its numbers."""
WithNames = Callable[[str], str]


@cache
def get_value_namer() -> WithNames:
    """Return the function that adds names to the numbers in a text. If no such function is installed, texts stay
    unchanged.
    """
    for entry in entry_points(group=ENTRY_POINT_GROUP):
        found: WithNames = entry.load()
        return found
    return str
