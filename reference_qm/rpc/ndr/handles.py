"""Implements context handles in a stub. Spec: C706 14.2.16.6, MS-RPCE 2.2.1.1.4."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from reference_qm.rpc.ndr.stream import NdrReader, NdrWriter, NeighbourFieldValues, StubEncoding
from reference_qm.rpc.ndr.types import NdrType

NIL_HANDLE = UUID(int=0)


@dataclass(frozen=True, slots=True)
class ContextHandleType(NdrType):
    """A type of context handle. A handle has 20 bytes: attributes u32 (0) and a UUID. If all bytes are zero, the
    handle is NULL and is read as None.

    ``name``: the typedef. Handles with different names have different types (MS-RPCE 3.1.1.5.3.3.1.1).
    """

    name: str

    def get_alignment(self, encoding: StubEncoding) -> int:
        return 4

    def get_least_size(self, encoding: StubEncoding) -> int:
        return 20

    def read(self, reader: NdrReader, scope: NeighbourFieldValues) -> UUID | None:
        attributes = reader.read_number(4)
        if attributes:
            reader.refuse(f"the attributes of the {self.name} are {attributes:#x}, not 0", reader.offset - 4)
        found = reader.read_uuid()
        return None if found == NIL_HANDLE else found

    def write(self, writer: NdrWriter, value: Any, scope: NeighbourFieldValues) -> None:
        writer.write_number(4, 0)
        writer.write_uuid(NIL_HANDLE if value is None else value)
