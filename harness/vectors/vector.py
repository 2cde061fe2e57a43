"""Define a test vector, which contains the bytes of a packet or stub and the values of its fields."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

VectorResult = Literal["valid", "invalid", "acceptable"]
"""The type of a vector's result. The result is ``acceptable`` if a receiver may accept or refuse the bytes, or if
the bytes break a rule that binds only senders.
"""


@dataclass(frozen=True, slots=True)
class VectorRow:
    """A test vector whose fields have not been read yet.

    ``data``: the bytes of a complete packet, a datagram, or a stub. ``rules``: the ids of the rules that the bytes
    keep or break. ``errata``: the ids in ``suites/errata.toml`` of the choices that the result depends on.
    """

    name: str
    data: bytes
    result: VectorResult
    comment: str
    rules: tuple[str, ...] = ()
    errata: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReadField:
    """A field that was read. It has a dotted name, a JSON value, and the int offset and size of its bytes.

    Numbers are int; GUIDs, texts and bytes (hexadecimal digits) are str. A parameter of a stub has no offset.
    """

    name: str
    value: Any
    offset: int | None = None
    size: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the field as an object of ``schema.json``."""
        place = {} if self.offset is None else {"offset": self.offset, "size": self.size}
        return {"name": self.name, "value": self.value, **place}


@dataclass(frozen=True, slots=True)
class CodecRefusal:
    """The reason why the reference's strict codec refuses the bytes of a packet. It contains the field's name in the
    document, the field's int offset, the section, and a sentence.
    """

    field: str
    offset: int
    section: str
    message: str


@dataclass(frozen=True, slots=True)
class CodecTestVector:
    """A test vector with its fields. If the bytes are invalid, it has the reason for the refusal instead."""

    row: VectorRow
    fields: Sequence[ReadField] = field(default=())
    refusal: CodecRefusal | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the vector as an object of ``schema.json``."""
        row = self.row
        made: dict[str, Any] = {"name": row.name, "comment": row.comment, "bytes": row.data.hex(), "result": row.result}
        if row.rules:
            made["rules"] = list(row.rules)
        if row.errata:
            made["errata"] = list(row.errata)
        if self.refusal is not None:
            made["refusal"] = {name: getattr(self.refusal, name) for name in CodecRefusal.__slots__}
        elif row.result != "invalid":
            made["fields"] = [one.to_json() for one in self.fields]
        return made
