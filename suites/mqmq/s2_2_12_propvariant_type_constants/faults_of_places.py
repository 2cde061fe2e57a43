"""Faults in PROPVARIANTs that the server refuses in one place or with one value: MQMQ-2.2.12-08, MQMQ-2.2.12-10,
MQMQ-2.2.12-12 and MQMQ-2.2.12-13.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

from harness.faults.parts import replace_part
from harness.faults.registry import Install, add
from reference_qm.core.remote.object_properties import ObjectProperties
from reference_qm.rpc import Call, FaultStatus
from reference_qm.rpc.interfaces.propvariant import VarType
from reference_qm.surface.clock import Now

Variant = dict[str, Any]
_VECTOR_OF_VARIANTS_TYPE = VarType.VT_VECTOR | VarType.VT_VARIANT


def _refuse_stub_with_propvariants(is_refused: Callable[[list[Variant]], bool]) -> Install:
    """Let the server refuse a stub as malformed if a condition is true for the PROPVARIANTs of the stub."""

    class VariantsRefused(ObjectProperties):
        def r_qm_get_object_properties(self, call: Call, now: Now) -> None:
            if is_refused(call.arguments["apVar"]):
                self.qm.remote.carry_out_outputs(call.fault(FaultStatus.RPC_X_BAD_STUB_DATA))
            else:
                super().r_qm_get_object_properties(call, now)

    return replace_part(VariantsRefused)


def _list_elements_of_vectors(given: list[Variant]) -> Iterator[Variant]:
    """Yield the elements of all vectors of PROPVARIANTs."""
    for one in given:
        if one["vt"] == _VECTOR_OF_VARIANTS_TYPE:
            yield from one["_varUnion"]["pElems"] or []


def _make_vector_element_type_condition(kind: VarType) -> Callable[[list[Variant]], bool]:
    return lambda given: any(one["vt"] == kind for one in _list_elements_of_vectors(given))


def _make_mixed_types_condition(kind: VarType) -> Callable[[list[Variant]], bool]:
    return lambda given: any(one["vt"] == kind != other["vt"] for one, other in pairwise(given))


def _make_variant_value_condition(kind: VarType, value: int) -> Callable[[list[Variant]], bool]:
    return lambda given: any(one["vt"] == kind and one["_varUnion"] == value for one in given)


for _rule, _kind, _value in (
    ("MQMQ-2.2.12-08", VarType.VT_I1, 0x80),
    ("MQMQ-2.2.12-10", VarType.VT_UI2, 0xFFFF),
    ("MQMQ-2.2.12-12", VarType.VT_I8, 0x8000_0000_0000_0000),
    ("MQMQ-2.2.12-13", VarType.VT_UI8, 0xFFFF_FFFF_FFFF_FFFF),
):
    _type = _kind.name.removeprefix("VT_").lower()
    for _name, _says, _condition in (
        (
            "element-of-vector",
            f"a vector of PROPVARIANTs with a {_kind.name}",
            _make_vector_element_type_condition(_kind),
        ),
        (
            "before-another-type",
            f"a {_kind.name} before a PROPVARIANT of another type",
            _make_mixed_types_condition(_kind),
        ),
        ("limit", f"a {_kind.name} with the bits 0x{_value:X}", _make_variant_value_condition(_kind, _value)),
    ):
        add(
            f"server-propvariant-{_type}-{_name}-refused",
            _rule,
            f"The server refuses a stub as malformed if the stub contains {_says}.",
            _refuse_stub_with_propvariants(_condition),
        )
