"""Strings from outside, as a person may see them: nothing invisible, nothing endless."""

from __future__ import annotations


def printable(text: str) -> str:
    """Return a text in which every character that is not printable stands as its number."""
    return "".join(char if char.isprintable() else f"<U+{ord(char):04X}>" for char in text)


def one_line(text: str, longest: int) -> str:
    """Return a text on one line, of at most so many characters."""
    line = printable(" ".join(text.split()))
    return line if len(line) <= longest else line[: longest - 1] + "…"
