"""Name types in messages about values in the user's files."""

from __future__ import annotations

_NAMES_OF_TYPES = {
    str: "a string",
    int: "an integer",
    float: "a number",
    bool: "a boolean",
    list: "a list",
    dict: "a table",
}


def get_type_name_with_article(kind: type) -> str:
    """Return a type's name with its article."""
    return _NAMES_OF_TYPES.get(kind, f"a {kind.__name__}")
