"""A user whom RPC authenticates: a test user, whose password a configuration has."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class User:
    """A test user. Without ``domain`` it is known under whatever domain a client names, as a local account is."""

    name: str
    password: str = field(repr=False)
    domain: str = ""

    @property
    def qualified(self) -> str:
        """The name with its domain, if it has one."""
        return f"{self.domain}\\{self.name}" if self.domain else self.name
