"""Faults of the fifth round that break rules of MS-MQMQ 2.2.12 PROPVARIANT Type Constants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import fault
from reference_qm.core.remote.object_properties import ObjectProperties, Propvariant
from reference_qm.rpc import Call, FaultStatus
from reference_qm.rpc.interfaces.propvariant import VarType
from reference_qm.surface.clock import Now

_HIGHEST_SIGNED_VALUE = 0x7FFF


class _VariantsRefused(ObjectProperties):
    """The server answers a call with a fault if a variant in apVar meets a condition."""

    is_refused: Callable[[Propvariant], bool]

    def r_qm_get_object_properties(self, call: Call, now: Now) -> None:
        if any(self.is_refused(variant) for variant in call.arguments["apVar"]):
            self.qm.remote.carry_out_outputs(call.fault(FaultStatus.RPC_X_BAD_STUB_DATA))
        else:
            super().r_qm_get_object_properties(call, now)


@fault("server-vt-ui2-above-7fff-refused", breaks="MQMQ-2.2.12-10", blind=True)
class ServerVtUi2Above7fffRefused(_VariantsRefused):
    """The server reads a VT_UI2 as a signed number, and refuses a call with a VT_UI2 above 0x7FFF."""

    def is_refused(self, variant: Propvariant) -> bool:
        return variant["vt"] == VarType.VT_UI2 and bool(variant["_varUnion"] > _HIGHEST_SIGNED_VALUE)


@fault("server-vt-bool-in-vector-of-variants-refused", breaks="MQMQ-2.2.12-05", blind=True)
class ServerVtBoolInVectorOfVariantsRefused(_VariantsRefused):
    """The server cannot read a VT_BOOL in a vector of variants, and refuses the call."""

    def is_refused(self, variant: Propvariant) -> bool:
        listed = _get_elements(variant) if variant["vt"] == VarType.VT_VECTOR | VarType.VT_VARIANT else []
        return any(one["vt"] == VarType.VT_BOOL for one in listed)


@fault("server-empty-vector-refused", breaks="MQMQ-2.2.12-18", blind=True)
class ServerEmptyVectorRefused(_VariantsRefused):
    """The server refuses a call with a VT_VECTOR whose counted array has no elements."""

    def is_refused(self, variant: Propvariant) -> bool:
        return bool(variant["vt"] & VarType.VT_VECTOR) and not _get_elements(variant)


def _get_elements(variant: Propvariant) -> list[Any]:
    return list(variant["_varUnion"]["pElems"] or ())
