"""Implements structures, unions and pointers of NDR and NDR64. Spec: C706 14.3.6 to 14.3.12; MS-RPCE 2.2.5.3.4,
2.2.5.3.5.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from reference_qm.rpc.ndr.arrays import ConformantArray, ConformantVaryingArray, get_element_count_of_attribute
from reference_qm.rpc.ndr.stream import NdrReader, NdrWriter, NeighbourFieldValues, StubEncoding
from reference_qm.rpc.ndr.types import NdrType, UnsignedIntegerType

_NULL_POINTER = object()
"""The value that ``read`` returns for a NULL pointer. For any other pointer ``read`` returns the referent
identifier.
"""


class PointerKind(Enum):
    """The kinds of pointers (C706 4.2.20). A REF pointer is never NULL. A UNIQUE pointer may be NULL. A FULL pointer
    may also share its target with another pointer.
    """

    REF = "ref"
    UNIQUE = "unique"
    FULL = "ptr"


@dataclass(frozen=True, slots=True)
class Pointer(NdrType):
    """A pointer that is represented in the stub by a referent identifier. The value of a NULL pointer is None. (A
    top-level [ref] pointer does not appear in a stub.)
    """

    kind: PointerKind
    target: NdrType

    def get_alignment(self, encoding: StubEncoding) -> int:
        return encoding.pointer_size

    def get_least_size(self, encoding: StubEncoding) -> int:
        return encoding.pointer_size

    def read(self, reader: NdrReader, scope: NeighbourFieldValues) -> Any:
        identifier = reader.read_number(reader.encoding.pointer_size)
        if identifier:
            return identifier
        if self.kind is PointerKind.REF:
            reader.refuse("a reference pointer is NULL")
        if self._get_max_element_count(scope):
            reader.refuse(f"the pointer is NULL, but {self._get_max_element_count(scope)} elements are announced")
        return _NULL_POINTER

    def read_deferred_parts(self, reader: NdrReader, value: Any, scope: NeighbourFieldValues) -> Any:
        if value is _NULL_POINTER:
            return None
        if self.kind is not PointerKind.FULL:
            return self.target.read_whole_value(reader, scope)
        if value not in reader.full_referents:
            reader.full_referents[value] = (self.target, self.target.read_whole_value(reader, scope))
        target, referent = reader.full_referents[value]
        if target is not self.target:
            reader.refuse(f"referent {value:#x} was already used for a target of a different type")
        return referent

    def write(self, writer: NdrWriter, value: Any, scope: NeighbourFieldValues) -> None:
        if value is None and (self.kind is PointerKind.REF or self._get_max_element_count(scope)):
            writer.raise_misuse("must not be NULL here")
        writer.write_referent_identifier(value is not None)

    def write_deferred_parts(self, writer: NdrWriter, value: Any, scope: NeighbourFieldValues) -> None:
        if value is not None:
            self.target.write_whole_value(writer, value, scope)

    def _get_max_element_count(self, scope: NeighbourFieldValues) -> int:
        """Return the maximum number of elements of the array to which this pointer points (MS-RPCE 3.1.1.5.3.3.1.2)."""
        if isinstance(self.target, ConformantArray | ConformantVaryingArray) and isinstance(self.target.size_is, str):
            return int(scope.get(self.target.size_is, 0))
        return 0


def declare_unique_pointer(target: NdrType) -> Pointer:
    """Declare a [unique] pointer, the pointer_default of the interfaces."""
    return Pointer(PointerKind.UNIQUE, target)


def declare_full_pointer(target: NdrType) -> Pointer:
    """Declare a [ptr] pointer."""
    return Pointer(PointerKind.FULL, target)


class Struct(NdrType):
    """A structure. Its value is a dict whose keys are the printed names of the fields. The last field may be a
    conformant array.

    Spec: C706 14.3.6, 14.3.7; MS-RPCE 2.2.5.3.4.1, 2.2.5.3.4.2.
    """

    __slots__ = ("_alignments", "_conformant", "_fixed", "fields", "name", "section")

    def __init__(self, name: str, section: str, /, **fields: NdrType) -> None:
        self.name = name
        self.section = section
        self.fields = fields
        last = list(fields)[-1]
        conformant = fields[last]
        self._conformant = (last, conformant) if isinstance(conformant, ConformantArray) else None
        self._fixed = [
            (field, kind, f"{name}.{field}")
            for field, kind in fields.items()
            if self._conformant is None or field != last
        ]
        parts = [kind for _, kind, _ in self._fixed]
        if self._conformant is not None:
            parts.append(self._conformant[1].element)
        self._alignments = {
            wide: max(kind.get_alignment(StubEncoding(wide)) for kind in parts) for wide in (False, True)
        }

    def get_alignment(self, encoding: StubEncoding) -> int:
        return self._alignments[encoding.wide]

    def get_least_size(self, encoding: StubEncoding) -> int:
        return sum(kind.get_least_size(encoding) for _, kind, _ in self._fixed)

    def read(self, reader: NdrReader, scope: NeighbourFieldValues) -> dict[str, Any]:
        maximum = reader.read_count() if self._conformant is not None else 0
        alignment = self.get_alignment(reader.encoding)
        reader.skip_padding(alignment)
        value: dict[str, Any] = {}
        for field, kind, where in self._fixed:
            reader.where = where
            value[field] = kind.read(reader, value)
        if reader.encoding.wide:
            reader.skip_padding(alignment)
        if self._conformant is not None:
            field, array = self._conformant
            reader.where = f"{self.name}.{field}"
            value[field] = array.read_elements(reader, maximum, value)
        return value

    def read_deferred_parts(
        self, reader: NdrReader, value: dict[str, Any], scope: NeighbourFieldValues
    ) -> dict[str, Any]:
        for field, kind in self.fields.items():
            reader.where = f"{self.name}.{field}"
            value[field] = kind.read_deferred_parts(reader, value[field], value)
        return value

    def write(self, writer: NdrWriter, value: Any, scope: NeighbourFieldValues) -> None:
        if not isinstance(value, Mapping) or value.keys() != self.fields.keys():
            writer.raise_misuse(f"takes the fields of {self.name}: {', '.join(self.fields)}")
        if self._conformant is not None:
            writer.write_count(len(value[self._conformant[0]]))
        alignment = self.get_alignment(writer.encoding)
        writer.write_padding(alignment)
        for field, kind, where in self._fixed:
            writer.where = where
            kind.write(writer, value[field], value)
        if writer.encoding.wide:
            writer.write_padding(alignment)
        if self._conformant is not None:
            field, array = self._conformant
            writer.where = f"{self.name}.{field}"
            array.write_elements(writer, value[field], value)

    def write_deferred_parts(self, writer: NdrWriter, value: Any, scope: NeighbourFieldValues) -> None:
        for field, kind in self.fields.items():
            writer.where = f"{self.name}.{field}"
            kind.write_deferred_parts(writer, value[field], value)


class Union(NdrType):
    """A non-encapsulated union. A stub contains a discriminant, which equals the neighbouring field ``switch_is``,
    followed by the arm that the discriminant selects.

    The value of the union is the value of the arm; the value of an arm without members is None. Spec: C706 14.3.8;
    MS-RPCE 2.2.5.3.4.4.
    """

    __slots__ = ("arms", "discriminant", "name", "switch_is")

    def __init__(
        self, name: str, discriminant: UnsignedIntegerType, switch_is: str, arms: Mapping[int, NdrType | None]
    ) -> None:
        self.name = name
        self.discriminant = discriminant
        self.switch_is = switch_is
        self.arms = arms

    def get_alignment(self, encoding: StubEncoding) -> int:
        return max(self.discriminant.size, self._get_arm_alignment(encoding))

    def get_least_size(self, encoding: StubEncoding) -> int:
        return self.discriminant.size

    def _get_arm_alignment(self, encoding: StubEncoding) -> int:
        return max(arm.get_alignment(encoding) for arm in self.arms.values() if arm is not None)

    def read(self, reader: NdrReader, scope: NeighbourFieldValues) -> Any:
        if reader.encoding.wide:
            reader.skip_padding(self.get_alignment(reader.encoding))
        tag = self.discriminant.read(reader, scope)
        if tag != scope[self.switch_is]:
            reader.refuse(f"the discriminant is {tag}, but {self.switch_is} is {scope[self.switch_is]}")
        if tag not in self.arms:
            reader.refuse(f"the union has no arm {tag}")
        arm = self.arms[tag]
        if arm is None:
            return None
        if reader.encoding.wide:
            reader.skip_padding(self._get_arm_alignment(reader.encoding))
        return arm.read(reader, scope)

    def read_deferred_parts(self, reader: NdrReader, value: Any, scope: NeighbourFieldValues) -> Any:
        arm = self.arms[scope[self.switch_is]]
        return None if arm is None else arm.read_deferred_parts(reader, value, scope)

    def write(self, writer: NdrWriter, value: Any, scope: NeighbourFieldValues) -> None:
        tag = get_element_count_of_attribute(self.switch_is, scope)
        if tag not in self.arms:
            writer.raise_misuse(f"has no arm {tag}")
        if writer.encoding.wide:
            writer.write_padding(self.get_alignment(writer.encoding))
        self.discriminant.write(writer, tag, scope)
        arm = self.arms[tag]
        if arm is None:
            return
        if writer.encoding.wide:
            writer.write_padding(self._get_arm_alignment(writer.encoding))
        arm.write(writer, value, scope)

    def write_deferred_parts(self, writer: NdrWriter, value: Any, scope: NeighbourFieldValues) -> None:
        arm = self.arms[scope[self.switch_is]]
        if arm is not None:
            arm.write_deferred_parts(writer, value, scope)
