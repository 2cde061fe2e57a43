"""Defines the error that ends a command of `reports` for unusable input, with a one-line message."""

from __future__ import annotations


class RollupError(Exception):
    """An error that ends the command with exit code 2, for example because the input is invalid, Java is missing, or a
    folder is unusable. The message has one line.
    """
