"""The error of the roll-up for unusable input, with a text of one line."""

from __future__ import annotations


class RollupError(Exception):
    """The input is bad, Java is missing, or a folder is unusable; the text is one line, and the exit code is 2."""
