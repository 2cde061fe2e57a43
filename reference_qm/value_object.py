"""Defines a decorator for classes whose instances are values: two instances are equal if their fields are equal, and
the fields do not change.

mypy reports assignments to a field; at run time, an assignment is not refused. A dataclass that refuses assignments at
run time (``frozen=True``) sets each field through ``object.__setattr__``. According to measurements, parsing packets
would then take nearly twice as long, and handling a message a third longer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform, overload

ValueClass = TypeVar("ValueClass")


@overload
def value_object(cls: type[ValueClass], /) -> type[ValueClass]: ...


@overload
def value_object(*, kw_only: bool = False, order: bool = False) -> Callable[[type[ValueClass]], type[ValueClass]]: ...


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def value_object(
    cls: type[ValueClass] | None = None, /, *, kw_only: bool = False, order: bool = False
) -> type[ValueClass] | Callable[[type[ValueClass]], type[ValueClass]]:
    """Make a class a slotted dataclass. ``kw_only`` and ``order``: as in ``dataclasses.dataclass``."""
    make = dataclass(slots=True, unsafe_hash=True, kw_only=kw_only, order=order)
    return make if cls is None else make(cls)
