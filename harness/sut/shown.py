"""Read the data that a SUT shows about itself and its messages. A missing element means that it cannot be observed, not
that the check is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.sut.wires import MissingElement, Reply


class NotShown(MissingElement):
    """The SUT does not show an element of the abstract data model or a property of a message."""


class Shown(Reply):
    """An object of the abstract data model."""

    __slots__ = ()

    def __missing__(self, name: str) -> Any:
        raise NotShown(f"the SUT does not show {name} in its abstract data model")


class Answered(Reply):
    """A JSON object of an answer that was checked against the contract. Elements that the contract makes optional may
    be missing; reading one of them raises NotShown.
    """

    __slots__ = ()

    def __missing__(self, name: str) -> Any:
        raise NotShown(f"the SUT's control channel does not show {name!r}")


def parse_reply(value: Any, kind: type[Reply] = Shown) -> Any:
    """Return a JSON value whose objects are of the given kind, by default objects of the abstract data model."""
    if isinstance(value, dict):
        return kind({name: parse_reply(each, kind) if type(each) in _NESTED else each for name, each in value.items()})
    return [parse_reply(each, kind) for each in value] if isinstance(value, list) else value


_NESTED = (dict, list)


def lookup_id(message: Mapping[str, Any]) -> int:
    """Return the LookupIdentifier of a message; NotShown if the control channel omits it or shows null."""
    found: int | None = message.get("lookup_id")
    if found is None:
        raise NotShown(f"the SUT's control channel does not show the LookupIdentifier of {message['message_id']}")
    return found
