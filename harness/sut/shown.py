"""Reads what a SUT shows about itself and its messages.

A missing element cannot be observed; it is not an error of the check.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.sut.wires import MissingElement, Reply


class NotShown(MissingElement):
    """An element of the abstract data model, or a property of a message, that the SUT does not show."""


class Shown(Reply):
    """An object of the abstract data model."""

    __slots__ = ()

    def __missing__(self, name: str) -> Any:
        raise NotShown(f"the SUT's abstract data model, as it shows it, has no {name}")


class Answered(Reply):
    """An object of an answer that meets the contract, so it may omit elements."""

    __slots__ = ()

    def __missing__(self, name: str) -> Any:
        raise NotShown(f"the SUT's control channel does not show {name!r}")


def parse_reply(value: Any, kind: type[Reply] = Shown) -> Any:
    """Return a JSON value with its objects as objects of the abstract data model, or of another kind."""
    if isinstance(value, dict):
        return kind({name: parse_reply(each, kind) for name, each in value.items()})
    return [parse_reply(each, kind) for each in value] if isinstance(value, list) else value


def lookup_id(message: Mapping[str, Any]) -> int:
    """Return the LookupIdentifier of a message; NotShown if the control channel omits it or shows null."""
    found: int | None = message.get("lookup_id")
    if found is None:
        raise NotShown(f"the SUT's control channel does not show the LookupIdentifier of {message['message_id']}")
    return found
