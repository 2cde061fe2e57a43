"""Defines a test user of RPC authentication, whose password is in the configuration."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class User:
    """A test user. A user without ``domain`` matches any domain that a client names, like a local account."""

    name: str
    password: str = field(repr=False)
    domain: str = ""

    @property
    def qualified_name(self) -> str:
        """The user name with its domain, if any."""
        return f"{self.domain}\\{self.name}" if self.domain else self.name
