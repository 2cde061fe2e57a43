"""Declares the types PROPVARIANT and OBJECT_FORMAT. Spec: MS-MQMQ 2.2.12 to 2.2.16; MS-MQMP 2.2.3.5.

Signed numbers are read as unsigned numbers with the same bits. A vector of variants may contain further vectors, up
to the depth MAX_VARIANT_DEPTH.
"""

from __future__ import annotations

from enum import IntEnum

from reference_qm.rpc.interfaces.qmcomm_types import QUEUE_FORMAT, QUEUE_NAME_POINTER
from reference_qm.rpc.ndr import (
    GUID,
    U8,
    U16,
    U32,
    U64,
    ConformantArray,
    NdrType,
    Struct,
    Union,
    declare_unique_pointer,
)

MAX_VARIANT_DEPTH = 3
"""The maximum depth of nested vectors of variants."""


class VarType(IntEnum):
    """The values of VARENUM. Spec: MS-MQMQ 2.2.12."""

    VT_EMPTY = 0
    VT_NULL = 1
    VT_I2 = 2
    VT_I4 = 3
    VT_BOOL = 11
    VT_VARIANT = 12
    VT_I1 = 16
    VT_UI1 = 17
    VT_UI2 = 18
    VT_UI4 = 19
    VT_I8 = 20
    VT_UI8 = 21
    VT_LPWSTR = 31
    VT_BLOB = 65
    VT_CLSID = 72
    VT_VECTOR = 0x1000


def _declare_counted_array(name: str, section: str, element: NdrType) -> Struct:
    return Struct(name, section, cElems=U32, pElems=declare_unique_pointer(ConformantArray(element, "cElems")))


BLOB = Struct("BLOB", "MS-MQMQ 2.2.15", cbSize=U32, pBlobData=declare_unique_pointer(ConformantArray(U8, "cbSize")))
_VECTOR_TYPES = {
    VarType.VT_UI1: _declare_counted_array("CAUB", "MS-MQMQ 2.2.16.1", U8),
    VarType.VT_UI2: _declare_counted_array("CAUI", "MS-MQMQ 2.2.16.2", U16),
    VarType.VT_I4: _declare_counted_array("CAL", "MS-MQMQ 2.2.16.3", U32),
    VarType.VT_UI4: _declare_counted_array("CAUL", "MS-MQMQ 2.2.16.4", U32),
    VarType.VT_UI8: _declare_counted_array("CAUH", "MS-MQMQ 2.2.16.5", U64),
    VarType.VT_CLSID: _declare_counted_array("CACLSID", "MS-MQMQ 2.2.16.6", GUID),
    VarType.VT_LPWSTR: _declare_counted_array("CALPWSTR", "MS-MQMQ 2.2.16.7", QUEUE_NAME_POINTER),
}
_UNION_ARM_BY_TYPE: dict[int, NdrType | None] = {
    VarType.VT_EMPTY: None,
    VarType.VT_NULL: None,
    VarType.VT_I1: U8,
    VarType.VT_UI1: U8,
    VarType.VT_I2: U16,
    VarType.VT_UI2: U16,
    VarType.VT_I4: U32,
    VarType.VT_UI4: U32,
    VarType.VT_I8: U64,
    VarType.VT_UI8: U64,
    VarType.VT_BOOL: U16,
    VarType.VT_CLSID: declare_unique_pointer(GUID),
    VarType.VT_BLOB: BLOB,
    VarType.VT_LPWSTR: QUEUE_NAME_POINTER,
    **{VarType.VT_VECTOR | one: vector for one, vector in _VECTOR_TYPES.items()},
}


def _declare_propvariant(deeper: int) -> Struct:
    arms = dict(_UNION_ARM_BY_TYPE)
    if deeper:
        arms[VarType.VT_VECTOR | VarType.VT_VARIANT] = _declare_counted_array(
            "CAPROPVARIANT", "MS-MQMQ 2.2.16.8", _declare_propvariant(deeper - 1)
        )
    return Struct(
        "PROPVARIANT",
        "MS-MQMQ 2.2.13.1",
        vt=U16,
        wReserved1=U8,
        wReserved2=U8,
        wReserved3=U32,
        _varUnion=Union("PROPVARIANT", U16, "vt", arms),
    )


PROPVARIANT = _declare_propvariant(MAX_VARIANT_DEPTH)

OBJECT_FORMAT = Struct(
    "OBJECT_FORMAT",
    "MS-MQMP 2.2.3.5",
    ObjType=U32.with_value_range(1, 2),
    union=Union("OBJECT_FORMAT", U32, "ObjType", {1: declare_unique_pointer(QUEUE_FORMAT)}),
)
