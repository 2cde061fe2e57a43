"""Find the fields of the reference's data classes that can be confused with each other because they have the same
type.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from types import ModuleType
from typing import Any

import reference_qm


class FieldTypes:
    """The types of the fields of each data class, as they are written in the source."""

    def __init__(self, records: list[type]) -> None:
        self._types_of_classes_by_field_name: dict[str, list[Mapping[str, str]]] = defaultdict(list)
        for record in records:
            types = self.of(record)
            for name in types:
                self._types_of_classes_by_field_name[name].append(types)

    def of(self, record: Any) -> Mapping[str, str]:
        """Return the fields of a data class with their types. For other classes, return no fields."""
        if not (isinstance(record, type) and dataclasses.is_dataclass(record)):
            return {}
        return {field.name: str(field.type) for field in dataclasses.fields(record)}

    def find_next_field_of_same_type(self, name: str) -> str | None:
        """Find the data class that has a field with the given name; return the next field of this class that has the
        same type, or the first such field if there is no later one. Return None if no other field has this type, or if
        several data classes have a field with the given name.
        """
        if len(self._types_of_classes_by_field_name.get(name, ())) != 1:
            return None
        types = self._types_of_classes_by_field_name[name][0]
        alike = [other for other, written in types.items() if written == types[name]]
        return alike[(alike.index(name) + 1) % len(alike)] if len(alike) > 1 else None


@cache
def read_field_types() -> FieldTypes:
    """Return the field types of all data classes of the reference."""
    records = {
        f"{record.__module__}.{record.__qualname__}": record
        for module in _list_reference_modules()
        for _, record in inspect.getmembers(module, inspect.isclass)
        if dataclasses.is_dataclass(record) and record.__module__ == module.__name__
    }
    return FieldTypes([records[name] for name in sorted(records)])


def _list_reference_modules() -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages(reference_qm.__path__, "reference_qm."):
        if not found.name.endswith("__main__"):
            yield importlib.import_module(found.name)
