"""The abstract data model as a SUT shows it: what it does not show cannot be observed, and is no mistake of a check."""

from __future__ import annotations

from typing import Any

from harness.sut.wires import MissingElement, Reply


class NotShown(MissingElement):
    """An element of the abstract data model that the SUT does not show."""


class Shown(Reply):
    """An object of the abstract data model."""

    __slots__ = ()

    def __missing__(self, name: str) -> Any:
        raise NotShown(f"the SUT's abstract data model, as it shows it, has no {name}")


def shown(value: Any) -> Any:
    """Return a JSON value with its objects as objects of the abstract data model."""
    if isinstance(value, dict):
        return Shown({name: shown(each) for name, each in value.items()})
    return [shown(each) for each in value] if isinstance(value, list) else value
