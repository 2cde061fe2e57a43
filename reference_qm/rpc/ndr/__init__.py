"""Declares the types of NDR and NDR64 in tables, and reads and writes them strictly. Spec: C706 14; MS-RPCE 2.2.5."""

from reference_qm.rpc.ndr.arrays import ConformantArray, ConformantVaryingArray, FixedArray, WideString
from reference_qm.rpc.ndr.constructed import Pointer, Struct, Union, declare_full_pointer, declare_unique_pointer
from reference_qm.rpc.ndr.handles import ContextHandleType
from reference_qm.rpc.ndr.stream import NdrReader, NdrWriter, StubEncoding
from reference_qm.rpc.ndr.types import ENUM, GUID, U8, U16, U32, U64, WCHAR, NdrType

__all__ = [
    "ENUM",
    "GUID",
    "U8",
    "U16",
    "U32",
    "U64",
    "WCHAR",
    "ConformantArray",
    "ConformantVaryingArray",
    "ContextHandleType",
    "FixedArray",
    "NdrReader",
    "NdrType",
    "NdrWriter",
    "Pointer",
    "Struct",
    "StubEncoding",
    "Union",
    "WideString",
    "declare_full_pointer",
    "declare_unique_pointer",
]
