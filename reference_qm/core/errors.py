"""Defines the error that command handlers raise."""

from __future__ import annotations


class CommandError(ValueError):
    """Raised when a command cannot be carried out. The message has one line and names the cause and the remedy."""
