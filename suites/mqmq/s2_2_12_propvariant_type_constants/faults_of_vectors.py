"""Faults in single vectors of PROPVARIANTs that the server refuses: MQMQ-2.2.12-07."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import replace_part
from harness.faults.registry import Install, add
from reference_qm.core.remote.object_properties import ObjectProperties
from reference_qm.rpc import Call, FaultStatus
from reference_qm.rpc.interfaces.propvariant import VarType
from reference_qm.surface.clock import Now

Variant = dict[str, Any]
_VECTOR_OF_VARIANTS_TYPE = VarType.VT_VECTOR | VarType.VT_VARIANT


def _refuse_vector_of_propvariants(is_refused: Callable[[int, list[Variant]], bool]) -> Install:
    """Let the server refuse a stub as malformed if a condition is true for the place and the elements of a vector of
    PROPVARIANTs.
    """

    class VectorRefused(ObjectProperties):
        def r_qm_get_object_properties(self, call: Call, now: Now) -> None:
            given = enumerate(call.arguments["apVar"])
            vectors = [(place, one) for place, one in given if one["vt"] == _VECTOR_OF_VARIANTS_TYPE]
            if any(is_refused(place, one["_varUnion"]["pElems"] or []) for place, one in vectors):
                self.qm.remote.carry_out_outputs(call.fault(FaultStatus.RPC_X_BAD_STUB_DATA))
            else:
                super().r_qm_get_object_properties(call, now)

    return replace_part(VectorRefused)


for _name, _says, _condition in (
    (
        "empty-vector-of-variants",
        "an empty vector of PROPVARIANTs",
        lambda place, elements: not elements,
    ),
    (
        "nested-vector-of-variants",
        "a vector of PROPVARIANTs in a vector of PROPVARIANTs",
        lambda place, elements: any(one["vt"] == _VECTOR_OF_VARIANTS_TYPE for one in elements),
    ),
    (
        "later-vector-of-variants",
        "a vector of PROPVARIANTs after the first property",
        lambda place, elements: place > 0,
    ),
):
    add(
        f"server-propvariant-{_name}-refused",
        "MQMQ-2.2.12-07",
        f"The server refuses a stub as malformed if the stub contains {_says}.",
        _refuse_vector_of_propvariants(_condition),
        blind=True,
    )
