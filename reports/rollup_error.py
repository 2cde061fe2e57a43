"""The error of the roll-up for bad input; the text is one line."""

from __future__ import annotations


class RollupError(Exception):
    """Bad input, a missing Java or an unusable folder: one clear line for the terminal, exit code 2."""
