"""Converts directory objects to JSON-ready records and back."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from types import NoneType
from typing import Any, Final, get_args, get_origin, get_type_hints
from uuid import UUID

from reference_qm.directory.objects import STORED_TYPE_BY_NAME, DirectoryObject, list_directory_attributes

Record = dict[str, object]

_FIELD_TYPES_BY_OBJECT_TYPE: Final = {kind: get_type_hints(kind) for kind in STORED_TYPE_BY_NAME.values()}
_RECORD_WRITER_BY_VALUE_TYPE: Final[dict[type, Callable[[Any], object]]] = {UUID: str, bytes: bytes.hex}
_RECORD_READER_BY_VALUE_TYPE: Final[dict[type, Callable[[str], object]]] = {UUID: UUID, bytes: bytes.fromhex, str: str}


class RecordError(Exception):
    """Raised when a record does not describe a directory object. The message has one line."""


def convert_to_record(element: DirectoryObject) -> Record:
    """Return a record that contains the type and the directory attributes of an element."""
    names = list_directory_attributes(type(element))
    return {"type": type(element).__name__} | {name: _encode_attribute_value(getattr(element, name)) for name in names}


def convert_from_record(record: object) -> DirectoryObject:
    """Return the directory object that a record describes. Raise RecordError if the record is invalid."""
    if not isinstance(record, dict):
        raise RecordError("a directory object must be a JSON object")
    kind = STORED_TYPE_BY_NAME.get(str(record.get("type")))
    if kind is None:
        raise RecordError(f"type: must be one of {', '.join(STORED_TYPE_BY_NAME)}, not {record.get('type')!a:.40}")
    values: Record = {name: value for name, value in record.items() if name != "type"}
    unknown = values.keys() - set(list_directory_attributes(kind))
    if unknown:
        raise RecordError(f"{kind.__name__} has no attributes {', '.join(sorted(unknown))}")
    read: dict[str, Any] = {
        name: _read_value(f"{kind.__name__}.{name}", _FIELD_TYPES_BY_OBJECT_TYPE[kind][name], value)
        for name, value in values.items()
    }
    return kind(**read)


def _encode_attribute_value(value: Any) -> object:
    if isinstance(value, tuple):
        return [_encode_attribute_value(one) for one in value]
    if isinstance(value, Enum):
        return value.value
    write = _RECORD_WRITER_BY_VALUE_TYPE.get(type(value))
    return write(value) if write else value


def _read_value(name: str, hint: Any, value: object) -> object:
    """Read a value whose declared type is a simple type, a simple type or None, or a tuple of values of a simple
    type.
    """
    kinds = get_args(hint)
    if get_origin(hint) is tuple:
        if not isinstance(value, list):
            raise RecordError(f"{name}: a list is expected, not {value!a:.40}")
        return tuple(_read_value(name, kinds[0], one) for one in value)
    if NoneType in kinds:
        return None if value is None else _read_value(name, next(kind for kind in kinds if kind is not NoneType), value)
    reader = hint if issubclass(hint, Enum) else _RECORD_READER_BY_VALUE_TYPE.get(hint)
    if reader is None:
        if type(value) is not hint:
            raise RecordError(f"{name}: {hint.__name__} is expected, not {value!a:.40}")
        return value
    try:
        if not isinstance(value, str):
            raise ValueError(value)
        return reader(value)
    except ValueError as error:
        raise RecordError(f"{name}: {hint.__name__} is expected, not {value!a:.40}") from error
