"""Converts the persistent attributes of a queue to values in the store and back. Spec: MS-MQDMPR 3.1.1, 3.1.1.2."""

from __future__ import annotations

import base64
from collections.abc import Callable
from functools import lru_cache
from typing import Any
from uuid import UUID

from reference_qm.directory.enums import PrivacyLevel, QueueType
from reference_qm.model.adm import Queue
from reference_qm.security import SecurityDescriptor


def convert_queue_to_values(queue: Queue) -> dict[str, object]:
    """Return the persistent attributes of a queue as JSON-ready values."""
    return {name: write(getattr(queue, name)) for name, (write, _) in CONVERTERS_BY_QUEUE_ATTRIBUTE.items()}


def _require_text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!a} is not a string")
    return value


def _require_boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{value!a} is neither true nor false")
    return value


def _require_number(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not -0x8000 <= value <= 0xFFFFFFFF:
        raise ValueError(f"{value!a} is not a number of 32 bits")
    return value


@lru_cache(maxsize=1024)  # all queues have one of the same few descriptors
def _encode_descriptor(descriptor: SecurityDescriptor) -> str:
    return base64.b64encode(descriptor.build()).decode()


def _return_unchanged(value: Any) -> Any:
    return value


def _make_none_accepting_converter(convert: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else convert(value)


_TEXT_CONVERTERS, _BOOLEAN_CONVERTERS, _NUMBER_CONVERTERS = (
    (_return_unchanged, _require_text),
    (_return_unchanged, _require_boolean),
    (_return_unchanged, _require_number),
)
_GUID_CONVERTERS = (str, UUID)
CONVERTERS_BY_QUEUE_ATTRIBUTE: dict[str, tuple[Callable[[Any], object], Callable[[Any], Any]]] = {
    "Pathname": _TEXT_CONVERTERS,
    "QualifiedPathname": _TEXT_CONVERTERS,
    "Identifier": _GUID_CONVERTERS,
    "Label": _TEXT_CONVERTERS,
    "CreateTime": _NUMBER_CONVERTERS,
    "ModifyTime": _NUMBER_CONVERTERS,
    "Type": _GUID_CONVERTERS,
    "Journaling": _BOOLEAN_CONVERTERS,
    "Quota": _NUMBER_CONVERTERS,
    "JournalQuota": _NUMBER_CONVERTERS,
    "Authentication": _BOOLEAN_CONVERTERS,
    "PrivacyLevel": (lambda value: value.value, PrivacyLevel),
    "Transactional": _BOOLEAN_CONVERTERS,
    "MulticastAddress": (_return_unchanged, _make_none_accepting_converter(_require_text)),
    "Security": (_encode_descriptor, lambda value: SecurityDescriptor.parse(base64.b64decode(value, validate=True))),
    "BasePriority": _NUMBER_CONVERTERS,
    "FullPath": _TEXT_CONVERTERS,
    "DirectoryPath": _TEXT_CONVERTERS,
    "QueueType": (lambda value: value.value, QueueType),
}
"""For each persistent attribute: the function that converts its value for the store, and the function that converts
the value back.
"""
REQUIRED_QUEUE_ATTRIBUTES = ("Pathname", "Transactional", "BasePriority")
