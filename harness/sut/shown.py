"""Read the data that a SUT shows about itself and its messages. If an element is missing, this is not an error in the
check: each rule that needs the element counts as not observable.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.sut.wires import ControlReply, MissingElement


class NotShown(MissingElement):
    """Raised when the SUT does not show an element of its abstract data model or a property of a message."""


class DataModelObjectShownBySut(ControlReply):
    """An object of the SUT's abstract data model. Reading a missing element raises NotShown."""

    __slots__ = ()

    def __missing__(self, name: str) -> Any:
        raise NotShown(f"the SUT does not show {name} in its abstract data model")


class CheckedAnswerObject(ControlReply):
    """A JSON object in an answer that was checked against the contract of the control protocol. Elements that the
    contract makes optional may be missing; reading a missing element raises NotShown.
    """

    __slots__ = ()

    def __missing__(self, name: str) -> Any:
        raise NotShown(f"the SUT's control channel does not show {name!r}")


def parse_reply(value: Any, kind: type[ControlReply] = DataModelObjectShownBySut) -> Any:
    """Convert the objects in a JSON value to the given type, which is by default the type of objects in the
    abstract data model.
    """
    if isinstance(value, dict):
        return kind(
            {name: parse_reply(each, kind) if type(each) in _NESTED_TYPES else each for name, each in value.items()}
        )
    return [parse_reply(each, kind) for each in value] if isinstance(value, list) else value


_NESTED_TYPES = (dict, list)


def lookup_id(message: Mapping[str, Any]) -> int:
    """Return the LookupIdentifier of a message. Raise NotShown if the control channel omits it or returns null for
    it.
    """
    found: int | None = message.get("lookup_id")
    if found is None:
        raise NotShown(f"the SUT's control channel does not show the LookupIdentifier of {message['message_id']}")
    return found
