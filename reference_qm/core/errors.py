"""Errors that command handlers raise."""

from __future__ import annotations


class CommandError(ValueError):
    """A command cannot be carried out; the text is one line that names the cause and the remedy."""
