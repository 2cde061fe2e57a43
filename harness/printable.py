"""Make untrusted texts safe to print: replace invisible characters by escape sequences, and limit the length."""

from __future__ import annotations


def escape_unprintable(text: str) -> str:
    """Return a text in which each unprintable character is replaced by an escape sequence with its code point."""
    return "".join(char if char.isprintable() else f"<U+{ord(char):04X}>" for char in text)


def one_line(text: str, longest: int) -> str:
    """Return a text on one line, truncated to the given number of characters."""
    line = escape_unprintable(" ".join(text.split()))
    return line if len(line) <= longest else line[: longest - 1] + "…"
