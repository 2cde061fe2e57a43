"""Adds symbolic names to the numbers in expected and observed values. The code is found through an entry point, because
the package `reports` contains no protocol code.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.metadata import entry_points

VALUE_NAME_ENTRY_POINT_GROUP = "mqconform.values"
"""The entry point whose function returns a text with symbolic names added to its numbers."""
ValueNameAdder = Callable[[str], str]


@cache
def get_value_name_adder() -> ValueNameAdder:
    """Return the function that adds symbolic names to the numbers in a text. If no such function is installed, return a
    function that leaves texts unchanged.
    """
    for entry in entry_points(group=VALUE_NAME_ENTRY_POINT_GROUP):
        found: ValueNameAdder = entry.load()
        return found
    return str
