"""Faults in a PROPVARIANT that follows another one, and in the values of single properties (MS-MQMQ 2.2.12)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.parts import fault
from harness.faults.registry import add
from harness.faults.rpc_calls import change_rpc_requests
from reference_qm.core.remote.object_properties import ObjectProperties, Propvariant
from reference_qm.rpc import Call, FaultStatus
from reference_qm.rpc.bodies import Request
from reference_qm.rpc.interfaces.propvariant import VarType
from reference_qm.surface.clock import Now

_GET_OBJECT_PROPERTIES_OPNUM = 10
_QUEUE_TYPE_PROPERTY_ID, _MODIFY_TIME_PROPERTY_ID, _TRANSACTIONAL_PROPERTY_ID = 102, 110, 113


class _VariantTypeWithOtherStoredType(int):
    """A PROPVARIANT type constant that is written as one type, while the value after it has a different type."""

    stored_type: int

    def __new__(cls, printed: int, stored_type: int) -> _VariantTypeWithOtherStoredType:
        made = super().__new__(cls, printed)
        made.stored_type = stored_type
        return made

    def __hash__(self) -> int:
        return hash(self.stored_type)

    def __eq__(self, other: object) -> bool:
        return self.stored_type == other


def _name_wrong_type_in_variant(found: Propvariant, stored_type: VarType, value: Any) -> Propvariant:
    return {**found, "vt": _VariantTypeWithOtherStoredType(found["vt"], stored_type), "_varUnion": value}


@fault("server-refuses-vt-empty-propvariant-after-another-propvariant", breaks="MQMQ-2.2.12-01", blind=True)
class ServerRefusesVtEmptyPropvariantAfterAnotherPropvariant(ObjectProperties):
    """The server expects data after a PROPVARIANT of type VT_EMPTY that follows another PROPVARIANT."""

    def r_qm_get_object_properties(self, call: Call, now: Now) -> None:
        if any(one["vt"] == VarType.VT_EMPTY for one in call.arguments["apVar"][1:]):
            self.qm.remote.carry_out_outputs(call.fault(FaultStatus.RPC_X_BAD_STUB_DATA))
            return
        super().r_qm_get_object_properties(call, now)


@fault("server-propvariant-vt-i4-negative-refused", breaks="MQMQ-2.2.12-04", blind=True)
class ServerPropvariantVtI4NegativeRefused(ObjectProperties):
    """The server refuses a stub with a PROPVARIANT of type VT_I4 whose number is negative."""

    def r_qm_get_object_properties(self, call: Call, now: Now) -> None:
        if any(one["vt"] == VarType.VT_I4 and one["_varUnion"] >> 31 for one in call.arguments["apVar"]):
            self.qm.remote.carry_out_outputs(call.fault(FaultStatus.RPC_X_BAD_STUB_DATA))
            return
        super().r_qm_get_object_properties(call, now)


@fault("server-refuses-vt-bool-propvariant-before-another-propvariant", breaks="MQMQ-2.2.12-05", blind=True)
class ServerRefusesVtBoolPropvariantBeforeAnotherPropvariant(ObjectProperties):
    """If a PROPVARIANT of type VT_BOOL precedes another PROPVARIANT, the server reads the VT_BOOL value with a wrong
    size.
    """

    def r_qm_get_object_properties(self, call: Call, now: Now) -> None:
        if any(one["vt"] == VarType.VT_BOOL for one in call.arguments["apVar"][:-1]):
            self.qm.remote.carry_out_outputs(call.fault(FaultStatus.RPC_X_BAD_STUB_DATA))
            return
        super().r_qm_get_object_properties(call, now)


@fault("server-propvariant-vt-bool-of-value-1-refused", breaks="MQMQ-2.2.12-05", blind=True)
class ServerPropvariantVtBoolOfValue1Refused(ObjectProperties):
    """The server reads the true value of a PROPVARIANT of type VT_BOOL as a byte, and refuses the stub because the
    second byte is not 0.
    """

    def r_qm_get_object_properties(self, call: Call, now: Now) -> None:
        if any(one["vt"] == VarType.VT_BOOL and one["_varUnion"] > 0xFF for one in call.arguments["apVar"]):
            self.qm.remote.carry_out_outputs(call.fault(FaultStatus.RPC_X_BAD_STUB_DATA))
            return
        super().r_qm_get_object_properties(call, now)


@fault("server-propvariant-vt-ui1-above-0x7f-refused", breaks="MQMQ-2.2.12-09", blind=True)
class ServerPropvariantVtUi1Above0x7fRefused(ObjectProperties):
    """The server refuses a stub with a PROPVARIANT of type VT_UI1 whose number is above 0x7F, as if it were signed."""

    def r_qm_get_object_properties(self, call: Call, now: Now) -> None:
        if any(one["vt"] == VarType.VT_UI1 and one["_varUnion"] > 0x7F for one in call.arguments["apVar"]):
            self.qm.remote.carry_out_outputs(call.fault(FaultStatus.RPC_X_BAD_STUB_DATA))
            return
        super().r_qm_get_object_properties(call, now)


@fault("server-returns-queue-type-as-vt-clsid-without-guid", breaks="MQMQ-2.2.12-16", blind=True)
class ServerReturnsQueueTypeAsVtClsidWithoutGuid(ObjectProperties):
    """The server returns PROPID_Q_TYPE as a PROPVARIANT of type VT_CLSID without a GUID."""

    def get_queue_property(self, queue: Any, identifier: int) -> Propvariant:
        found = super().get_queue_property(queue, identifier)
        return {**found, "_varUnion": None} if identifier == _QUEUE_TYPE_PROPERTY_ID else found


@fault("server-propvariant-vt-clsid-of-two-properties-refused", breaks="MQMQ-2.2.12-16", blind=True)
class ServerPropvariantVtClsidOfTwoPropertiesRefused(ObjectProperties):
    """The server refuses a stub with two PROPVARIANTs of type VT_CLSID, because it reads the second pointer wrongly."""

    def r_qm_get_object_properties(self, call: Call, now: Now) -> None:
        if sum(one["vt"] == VarType.VT_CLSID for one in call.arguments["apVar"]) > 1:
            self.qm.remote.carry_out_outputs(call.fault(FaultStatus.RPC_X_BAD_STUB_DATA))
            return
        super().r_qm_get_object_properties(call, now)


def _read_bare_vt_vector_as_vt_null(body: Request) -> Request:
    if body.opnum != _GET_OBJECT_PROPERTIES_OPNUM:
        return body
    bare, null = (bytes([0, high, 0, 0, 0, 0, 0, 0, 0, high]) for high in (0x10, 0))
    empty = b"\1" + null[1:8] + b"\1" + null[9:]
    return replace(body, stub=body.stub.replace(bare, empty))


add(
    "server-propvariant-bare-vt-vector-read-as-vt-null",
    "MQMQ-2.2.12-17",
    "The server accepts a PROPVARIANT of type VT_VECTOR without the type of its elements, as if its type were VT_NULL.",
    change_rpc_requests(_read_bare_vt_vector_as_vt_null),
    blind=True,
)
