"""Faults of MS-MQMQ 2.2.12 PROPVARIANT Type Constants."""

from __future__ import annotations

from typing import Any

from harness.faults.fields import field_is
from harness.faults.parts import replace_part
from harness.faults.registry import Install, add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.remote.object_properties import ObjectProperties
from reference_qm.core.transfer.order_acks import is_final_ack, is_order_ack
from reference_qm.model.adm import Queue
from reference_qm.rpc import Call, FaultStatus
from reference_qm.rpc.interfaces.propvariant import VarType
from reference_qm.surface.clock import Now


def _unread(vt: int) -> Install:
    """Take a variant of a type for no stub data."""

    class Unread(ObjectProperties):
        def r_qm_get_object_properties(self, call: Call, now: Now) -> None:
            if any(one["vt"] == vt for one in call.arguments["apVar"]):
                self.qm.remote.note(call.fault(FaultStatus.RPC_X_BAD_STUB_DATA))
            else:
                super().r_qm_get_object_properties(call, now)

    return replace_part(Unread)


for _name, _rule, _vt in (
    ("variant-VT_EMPTY-unread", "MQMQ-2.2.12-01", VarType.VT_EMPTY),
    ("variant-VT_NULL-unread", "MQMQ-2.2.12-02", VarType.VT_NULL),
    ("variant-VT_I2-unread", "MQMQ-2.2.12-03", VarType.VT_I2),
    ("variant-VT_I4-unread", "MQMQ-2.2.12-04", VarType.VT_I4),
    ("variant-VT_BOOL-unread", "MQMQ-2.2.12-05", VarType.VT_BOOL),
    ("variant-VT_I1-unread", "MQMQ-2.2.12-08", VarType.VT_I1),
    ("variant-VT_UI1-unread", "MQMQ-2.2.12-09", VarType.VT_UI1),
    ("variant-VT_UI2-unread", "MQMQ-2.2.12-10", VarType.VT_UI2),
    ("variant-VT_UI4-unread", "MQMQ-2.2.12-11", VarType.VT_UI4),
    ("variant-VT_I8-unread", "MQMQ-2.2.12-12", VarType.VT_I8),
    ("variant-VT_UI8-unread", "MQMQ-2.2.12-13", VarType.VT_UI8),
    ("variant-VT_LPWSTR-unread", "MQMQ-2.2.12-14", VarType.VT_LPWSTR),
    ("variant-VT_BLOB-unread", "MQMQ-2.2.12-15", VarType.VT_BLOB),
    ("variant-VT_CLSID-unread", "MQMQ-2.2.12-16", VarType.VT_CLSID),
):
    add(_name, _rule, f"A variant of {_vt.name} is no stub.", _unread(_vt))

add(
    "variant-vector-unread",
    ("MQMQ-2.2.12-06", "MQMQ-2.2.12-07"),
    "A vector of variants is no stub.",
    _unread(VarType.VT_VECTOR | VarType.VT_VARIANT),
)
add(
    "variant-vectors-unread",
    "MQMQ-2.2.12-17",
    "A vector of strings is no stub.",
    _unread(VarType.VT_VECTOR | VarType.VT_LPWSTR),
)
add(
    "variant-count-unread",
    "MQMQ-2.2.12-18",
    "A counted array of numbers is no stub.",
    _unread(VarType.VT_VECTOR | VarType.VT_UI4),
)


def _answered_as(identifier: int, vt: VarType) -> Install:
    """Answer a property in a variant of another type."""

    class AnsweredAs(ObjectProperties):
        def get_queue_property(self, queue: Queue, wanted: int) -> dict[str, Any]:
            found = super().get_queue_property(queue, wanted)
            return found | {"vt": vt} if wanted == identifier else found

    return replace_part(AnsweredAs)


for _name, _rule, _identifier, _vt in (
    ("property-106-other-type", "MQMQ-2.2.12-03", 106, VarType.VT_UI2),
    ("property-109-other-type", "MQMQ-2.2.12-04", 109, VarType.VT_UI4),
    ("property-104-other-type", "MQMQ-2.2.12-09", 104, VarType.VT_I1),
):
    add(_name, _rule, f"Property {_identifier} is answered as {_vt.name}.", _answered_as(_identifier, _vt))


def _is_ordering(packet: UserMessagePacket) -> bool:
    return is_order_ack(packet) or is_final_ack(packet)


class _NoSuchMethod(ObjectProperties):
    def r_qm_get_object_properties(self, call: Call, now: Now) -> None:
        self.qm.remote.note(call.fault(FaultStatus.NCA_S_OP_RNG_ERROR))


add(
    "properties-method-missing",
    (),
    "Tolerated: there is no R_QMGetObjectProperties, which is a method of another document.",
    replace_part(_NoSuchMethod),
)
add(
    "ordering-body-type",
    "MQMQ-2.2.12-D01",
    "BodyType of an OrderAck or FinalAck is VT_NULL.",
    field_is(
        UserMessagePacket,
        "MessagePropertiesHeader.BodyType",
        1,
        _is_ordering,
    ),
)
