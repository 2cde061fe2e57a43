"""Adds symbolic names to the numbers in expected and observed values. The code is found through an entry point, because
the package `reports` contains no protocol code.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.metadata import entry_points

ENTRY_POINT_GROUP = "mqconform.values"
"""The entry point whose function returns a text with symbolic names added to its numbers."""
ValueNamer = Callable[[str], str]


@cache
def get_value_namer() -> ValueNamer:
    """Return the function that adds symbolic names to the numbers in a text. If no such function is installed, return a
    function that leaves texts unchanged.
    """
    for entry in entry_points(group=ENTRY_POINT_GROUP):
        found: ValueNamer = entry.load()
        return found
    return str
