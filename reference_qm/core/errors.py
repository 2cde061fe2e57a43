"""Errors that command handlers raise."""

from __future__ import annotations


class CommandError(ValueError):
    """A command cannot be carried out; the one-line message names the cause and the remedy."""
