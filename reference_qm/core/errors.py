"""Errors that command handlers raise."""

from __future__ import annotations


class CommandError(ValueError):
    """A command that cannot be carried out: one line naming the thing and the way out."""
