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


def _refuse_propvariant(vt: int) -> Install:
    """Let the server refuse stub data as malformed if it contains a PROPVARIANT of a given type."""

    class Unread(ObjectProperties):
        def r_qm_get_object_properties(self, call: Call, now: Now) -> None:
            if any(one["vt"] == vt for one in call.arguments["apVar"]):
                self.qm.remote.note(call.fault(FaultStatus.RPC_X_BAD_STUB_DATA))
            else:
                super().r_qm_get_object_properties(call, now)

    return replace_part(Unread)


for _name, _rule, _vt in (
    ("server-propvariant-vt-empty-refused", "MQMQ-2.2.12-01", VarType.VT_EMPTY),
    ("server-propvariant-vt-null-refused", "MQMQ-2.2.12-02", VarType.VT_NULL),
    ("server-propvariant-vt-i2-refused", "MQMQ-2.2.12-03", VarType.VT_I2),
    ("server-propvariant-vt-i4-refused", "MQMQ-2.2.12-04", VarType.VT_I4),
    ("server-propvariant-vt-bool-refused", "MQMQ-2.2.12-05", VarType.VT_BOOL),
    ("server-propvariant-vt-i1-refused", "MQMQ-2.2.12-08", VarType.VT_I1),
    ("server-propvariant-vt-ui1-refused", "MQMQ-2.2.12-09", VarType.VT_UI1),
    ("server-propvariant-vt-ui2-refused", "MQMQ-2.2.12-10", VarType.VT_UI2),
    ("server-propvariant-vt-ui4-refused", "MQMQ-2.2.12-11", VarType.VT_UI4),
    ("server-propvariant-vt-i8-refused", "MQMQ-2.2.12-12", VarType.VT_I8),
    ("server-propvariant-vt-ui8-refused", "MQMQ-2.2.12-13", VarType.VT_UI8),
    ("server-propvariant-vt-lpwstr-refused", "MQMQ-2.2.12-14", VarType.VT_LPWSTR),
    ("server-propvariant-vt-blob-refused", "MQMQ-2.2.12-15", VarType.VT_BLOB),
    ("server-propvariant-vt-clsid-refused", "MQMQ-2.2.12-16", VarType.VT_CLSID),
):
    add(
        _name,
        _rule,
        f"The server refuses a stub as malformed if the stub contains a PROPVARIANT of {_vt.name}.",
        _refuse_propvariant(_vt),
    )

add(
    "server-propvariant-vector-of-variants-refused",
    ("MQMQ-2.2.12-06", "MQMQ-2.2.12-07"),
    "The server refuses a stub as malformed if the stub contains a vector of PROPVARIANTs.",
    _refuse_propvariant(VarType.VT_VECTOR | VarType.VT_VARIANT),
)
add(
    "server-propvariant-vector-of-strings-refused",
    "MQMQ-2.2.12-17",
    "The server refuses a stub as malformed if the stub contains a vector of strings.",
    _refuse_propvariant(VarType.VT_VECTOR | VarType.VT_LPWSTR),
)
add(
    "server-propvariant-vector-of-integers-refused",
    "MQMQ-2.2.12-18",
    "The server refuses a stub as malformed if the stub contains a vector of VT_UI4.",
    _refuse_propvariant(VarType.VT_VECTOR | VarType.VT_UI4),
)


def _change_answered_type(identifier: int, vt: VarType) -> Install:
    """Let the server return a property in a PROPVARIANT of a wrong type."""

    class AnsweredAs(ObjectProperties):
        def get_queue_property(self, queue: Queue, wanted: int) -> dict[str, Any]:
            found = super().get_queue_property(queue, wanted)
            return found | {"vt": vt} if wanted == identifier else found

    return replace_part(AnsweredAs)


for _name, _rule, _identifier, _vt in (
    ("server-property-106-answered-as-vt-ui2", "MQMQ-2.2.12-03", 106, VarType.VT_UI2),
    ("server-property-109-answered-as-vt-ui4", "MQMQ-2.2.12-04", 109, VarType.VT_UI4),
    ("server-property-104-answered-as-vt-i1", "MQMQ-2.2.12-09", 104, VarType.VT_I1),
):
    add(
        _name,
        _rule,
        f"The server returns property {_identifier} in a PROPVARIANT of type {_vt.name}.",
        _change_answered_type(_identifier, _vt),
    )


def _is_transactional_ack(packet: UserMessagePacket) -> bool:
    return is_order_ack(packet) or is_final_ack(packet)


class _NoSuchMethod(ObjectProperties):
    def r_qm_get_object_properties(self, call: Call, now: Now) -> None:
        self.qm.remote.note(call.fault(FaultStatus.NCA_S_OP_RNG_ERROR))


add(
    "server-get-object-properties-missing-tolerated",
    (),
    "Tolerated: the server does not implement R_QMGetObjectProperties, a method of a different document (MS-MQMP).",
    replace_part(_NoSuchMethod),
)
add(
    "receiver-order-ack-body-type-vt-null",
    "MQMQ-2.2.12-D01",
    "The receiver's OrderAck or FinalAck carries BodyType VT_NULL.",
    field_is(
        UserMessagePacket,
        "MessagePropertiesHeader.BodyType",
        1,
        _is_transactional_ack,
    ),
)
