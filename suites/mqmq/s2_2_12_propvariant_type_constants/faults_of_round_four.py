"""Faults that break rules of MS-MQMQ 2.2.12 PROPVARIANT Type Constants, written without knowledge of the checks."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from types import TracebackType
from typing import cast

from harness.faults.parts import fault
from harness.faults.registry import FaultyCore, Install, add
from reference_qm.core.remote.object_properties import ObjectProperties, Propvariant
from reference_qm.model.adm import Queue
from reference_qm.rpc.interfaces.propvariant import PROPVARIANT, VarType
from reference_qm.rpc.ndr import U16, U32, NdrType, Union

HIGHEST_SIGNED_16_BIT_NUMBER = 0x7FFF
"""The highest number that fits into a signed integer of 2 bytes."""


@dataclass
class _VariantUnionArmReplacement(AbstractContextManager[None]):
    """A context in which a PROPVARIANT of one type is read as a value of a different NDR type."""

    vt: VarType
    kind: NdrType
    _original_union_arms: list[NdrType | None] = field(default_factory=list)

    def __enter__(self) -> None:
        arms = _get_union_arms()
        self._original_union_arms.append(arms[self.vt])
        arms[self.vt] = self.kind

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _get_union_arms()[self.vt] = self._original_union_arms.pop()


def _get_union_arms() -> dict[int, NdrType | None]:
    return cast("dict[int, NdrType | None]", cast("Union", PROPVARIANT.fields["_varUnion"]).arms)


def _read_variant_type_as_ndr_type(vt: VarType, kind: NdrType) -> Install:
    def install_context(faulty: FaultyCore) -> None:
        faulty.context_of_computation = _VariantUnionArmReplacement(vt, kind)

    return install_context


add(
    "server-get-object-properties-vt-bool-read-as-4-bytes",
    "MQMQ-2.2.12-05",
    "The server reads the VARIANT_BOOL of a PROPVARIANT of type VT_BOOL in a call as an integer of 4 bytes.",
    _read_variant_type_as_ndr_type(VarType.VT_BOOL, U32),
    blind=True,
)

add(
    "server-get-object-properties-vt-ui2-above-0x7fff-refused",
    "MQMQ-2.2.12-10",
    "The server reads the number of a PROPVARIANT of type VT_UI2 in a call as a signed number, and refuses a number "
    "above 0x7FFF.",
    _read_variant_type_as_ndr_type(VarType.VT_UI2, U16.with_value_range(0, HIGHEST_SIGNED_16_BIT_NUMBER)),
    blind=True,
)


@fault("server-get-object-properties-vt-lpwstr-of-empty-text-null-pointer", breaks="MQMQ-2.2.12-14", blind=True)
class ServerGetObjectPropertiesVtLpwstrOfEmptyTextNullPointer(ObjectProperties):
    """The server returns an empty text in a PROPVARIANT of type VT_LPWSTR as a NULL pointer."""

    def get_queue_property(self, queue: Queue, identifier: int) -> Propvariant:
        found = super().get_queue_property(queue, identifier)
        return {**found, "_varUnion": None} if found["_varUnion"] == "" else found
