"""The error of the roll-up for unusable input, with a one-line message."""

from __future__ import annotations


class RollupError(Exception):
    """The input is bad, Java is missing, or a folder is unusable; the message has one line, and the exit code is 2."""
