"""Describe the stubs of RPC operations as tables for programs in other languages. The tables are made from the
scapy fields of the stubs.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

from scapy.layers.dcerpc import (
    NDRAlign,
    NDRByteField,
    NDRConfVarStrNullFieldUtf16,
    NDRFullEmbPointerField,
    NDRFullPointerField,
    NDRInt3264EnumField,
    NDRIntField,
    NDRLongField,
    NDRPacketField,
    NDRShortField,
    NDRUnionField,
)

from harness.wire.rpc_stub import ConformantByteArray

SIZES_BY_FIELD_TYPE = {
    NDRByteField: (1, 1),
    NDRShortField: (2, 2),
    NDRInt3264EnumField: (2, 4),
    NDRIntField: (4, 4),
    NDRLongField: (8, 8),
}
"""int bytes: the sizes of primitive values, each in NDR and in NDR64. Spec: C706 14.2; MS-RPCE 2.2.5.2."""
TAG_BYTES_BY_FORMAT = {"B": 1, "I": 4}
GUID_SIZE = 16
LARGEST_UNION_TAG = 16
"""The largest union discriminant that is tried when the members of a union are searched for."""

StubLayoutRow = dict[str, Any]


def describe_stub(fields: Iterable[Any]) -> list[StubLayoutRow]:
    """Return a row for each parameter of a stub. The row contains the kind of the parameter, the path of its
    display filter, and its sizes and alignments; the value for NDR precedes the value for NDR64.
    """
    return [_describe_field(field, field.name) for field in fields]


def _describe_field(field: Any, path: str) -> StubLayoutRow:
    if (sizes := SIZES_BY_FIELD_TYPE.get(type(field))) is not None:
        return {"kind": "number", "path": path, "sizes": sizes}
    match field:
        case NDRFullPointerField() | NDRFullEmbPointerField():
            embedded = isinstance(field, NDRFullEmbPointerField)
            return {"kind": "pointer", "path": path, "embedded": embedded, "target": _describe_field(field.fld, path)}
        case NDRPacketField():
            kind = field.fld.cls
            fields = [_describe_field(each, f"{path}.{each.name}") for each in kind.fields_desc]
            return {"kind": "struct", "path": path, "aligns": kind.ALIGNMENT, "fields": fields}
        case NDRUnionField():
            return _describe_union(field, path)
        case NDRConfVarStrNullFieldUtf16():
            return {"kind": "text", "path": path}
        case ConformantByteArray():
            return {"kind": "octets", "path": path}
        case NDRAlign():
            kind = "guid" if field.fld.sz == GUID_SIZE else "bytes"
            return {"kind": kind, "path": path, "size": field.fld.sz, "aligns": field._align}
    raise TypeError(f"{type(field).__name__} {path} has no description")


def _describe_union(field: Any, path: str) -> StubLayoutRow:
    """Return the description of a union. The members are found by evaluating, for each discriminant, the conditions of
    the union's fields. Members of different kinds have different display filters.
    """
    arms = {
        tag: _describe_field(arm, f"{path}.value")
        for tag in range(LARGEST_UNION_TAG + 1)
        for arm, (matches, _) in field.flds
        if matches(SimpleNamespace(tag=tag))
    }
    for arm in arms.values():
        if arm["kind"] in ("guid", "bytes"):
            arm["path"] = f"{path}.{arm['kind']}"
    sizes = [TAG_BYTES_BY_FORMAT[each] for each in field.switch_fmt]
    return {"kind": "union", "path": f"{path}.tag", "sizes": sizes, "aligns": field.align, "arms": arms}
