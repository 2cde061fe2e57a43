"""Faults that break rules of MS-MQMQ 2.2.12 PROPVARIANT Type Constants."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from harness.faults.fields import set_field_value
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import combine_installers, replace_method_during, set_fields
from harness.faults.registry import Install, add
from harness.faults.rpc_calls import change_answer_values
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.remote.object_properties import PROPERTY_BY_IDENTIFIER, ObjectProperties
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.core.transfer.order_acks import is_final_ack, is_order_ack
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.rpc import Call, FaultStatus
from reference_qm.rpc.interfaces.propvariant import VarType
from reference_qm.surface.clock import Now


def _refuse_propvariant_type(vt: int) -> Install:
    """Let the server refuse stub data as malformed if it contains a PROPVARIANT of a given type."""

    class MalformedVariantRefuser(ObjectProperties):
        def r_qm_get_object_properties(self, call: Call, now: Now) -> None:
            if any(one["vt"] == vt for one in call.arguments["apVar"]):
                self.qm.remote.carry_out_outputs(call.fault(FaultStatus.RPC_X_BAD_STUB_DATA))
            else:
                super().r_qm_get_object_properties(call, now)

    return replace_part(MalformedVariantRefuser)


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
        _refuse_propvariant_type(_vt),
    )


Variant = dict[str, Any]


VECTOR_TYPE_FLAG = VarType.VT_VECTOR


VECTOR_OF_VARIANTS_TYPE = VarType.VT_VECTOR | VarType.VT_VARIANT


HALF_OF_VALUE_RANGE_BY_VAR_TYPE = {
    VarType.VT_I1: 1 << 7,
    VarType.VT_UI1: 1 << 7,
    VarType.VT_I2: 1 << 15,
    VarType.VT_UI2: 1 << 15,
}


def _iterate_variants(variants: list[Variant]) -> Iterator[Variant]:
    """Yield the PROPVARIANTs of a request, and the PROPVARIANTs in their vectors."""
    for one in variants:
        yield one
        if one["vt"] == VECTOR_OF_VARIANTS_TYPE:
            yield from _iterate_variants(one["_varUnion"]["pElems"] or [])


def _refuse_request_with_propvariants(is_refused: Callable[[list[Variant]], bool]) -> Install:
    """Let the server refuse a request as malformed if a condition is true for its PROPVARIANTs."""

    class MalformedVariantRefuser(ObjectProperties):
        def r_qm_get_object_properties(self, call: Call, now: Now) -> None:
            if is_refused(call.arguments["apVar"]):
                self.qm.remote.carry_out_outputs(call.fault(FaultStatus.RPC_X_BAD_STUB_DATA))
            else:
                super().r_qm_get_object_properties(call, now)

    return replace_part(MalformedVariantRefuser)


def _make_value_of_type_condition(vt: int, condition: Callable[[Any], bool]) -> Callable[[list[Variant]], bool]:
    """Return a condition that is true for a PROPVARIANT of the given type whose value has a given property."""
    return lambda variants: any(one["vt"] == vt and condition(one["_varUnion"]) for one in _iterate_variants(variants))


def _make_upper_half_value_condition(vt: VarType) -> Callable[[list[Variant]], bool]:
    return _make_value_of_type_condition(vt, lambda value: value >= HALF_OF_VALUE_RANGE_BY_VAR_TYPE[vt])


def _make_type_after_first_variant_condition(vt: int) -> Callable[[list[Variant]], bool]:
    return lambda variants: any(one["vt"] == vt for one in variants[1:])


def _get_vector_elements(value: Any) -> Any:
    return value["pElems"] or []


for _name, _rule, _says, _is_refused in (
    ("i1-negative", "MQMQ-2.2.12-08", "a VT_I1 below 0", _make_upper_half_value_condition(VarType.VT_I1)),
    ("ui1-above-0x7f", "MQMQ-2.2.12-09", "a VT_UI1 above 0x7F", _make_upper_half_value_condition(VarType.VT_UI1)),
    ("i2-negative", "MQMQ-2.2.12-03", "a VT_I2 below 0", _make_upper_half_value_condition(VarType.VT_I2)),
    ("ui2-above-0x7fff", "MQMQ-2.2.12-10", "a VT_UI2 above 0x7FFF", _make_upper_half_value_condition(VarType.VT_UI2)),
    ("i4-negative", "MQMQ-2.2.12-04", "a VT_I4 below 0", _make_upper_half_value_condition(VarType.VT_I4)),
    (
        "ui4-above-0x7fffffff",
        "MQMQ-2.2.12-11",
        "a VT_UI4 above 0x7FFFFFFF",
        _make_upper_half_value_condition(VarType.VT_UI4),
    ),
    ("i8-negative", "MQMQ-2.2.12-12", "a VT_I8 below 0", _make_upper_half_value_condition(VarType.VT_I8)),
    (
        "ui8-above-half",
        "MQMQ-2.2.12-13",
        "a VT_UI8 above 0x7FFFFFFFFFFFFFFF",
        _make_upper_half_value_condition(VarType.VT_UI8),
    ),
    (
        "bool-true",
        "MQMQ-2.2.12-05",
        "a VT_BOOL that is VARIANT_TRUE",
        _make_value_of_type_condition(VarType.VT_BOOL, lambda value: value == 0xFFFF),
    ),
    (
        "bool-false",
        "MQMQ-2.2.12-05",
        "a VT_BOOL that is VARIANT_FALSE",
        _make_value_of_type_condition(VarType.VT_BOOL, lambda value: value == 0),
    ),
    (
        "lpwstr-empty",
        "MQMQ-2.2.12-14",
        "an empty VT_LPWSTR",
        _make_value_of_type_condition(VarType.VT_LPWSTR, lambda value: value in ("", "\0")),
    ),
    (
        "lpwstr-long",
        "MQMQ-2.2.12-14",
        "a VT_LPWSTR of more than 124 characters",
        _make_value_of_type_condition(VarType.VT_LPWSTR, lambda value: value is not None and len(value) > 125),
    ),
    (
        "blob-empty",
        "MQMQ-2.2.12-15",
        "an empty VT_BLOB",
        _make_value_of_type_condition(VarType.VT_BLOB, lambda value: value["cbSize"] == 0),
    ),
    (
        "blob-large",
        "MQMQ-2.2.12-15",
        "a VT_BLOB of more than 255 bytes",
        _make_value_of_type_condition(VarType.VT_BLOB, lambda value: value["cbSize"] > 255),
    ),
    (
        "blob-odd",
        "MQMQ-2.2.12-15",
        "a VT_BLOB whose size is not a multiple of 4",
        _make_value_of_type_condition(VarType.VT_BLOB, lambda value: value["cbSize"] % 4 > 0),
    ),
    (
        "vector-empty",
        "MQMQ-2.2.12-18",
        "an empty vector of VT_UI4",
        _make_value_of_type_condition(VECTOR_TYPE_FLAG | VarType.VT_UI4, lambda value: value["cElems"] == 0),
    ),
    (
        "vector-of-several",
        "MQMQ-2.2.12-18",
        "a vector of more than two VT_UI4",
        _make_value_of_type_condition(VECTOR_TYPE_FLAG | VarType.VT_UI4, lambda value: value["cElems"] > 2),
    ),
    (
        "vector-of-bytes",
        "MQMQ-2.2.12-18",
        "a vector of VT_UI1",
        _make_value_of_type_condition(VECTOR_TYPE_FLAG | VarType.VT_UI1, lambda value: True),
    ),
    (
        "vector-of-words",
        "MQMQ-2.2.12-18",
        "a vector of VT_UI2",
        _make_value_of_type_condition(VECTOR_TYPE_FLAG | VarType.VT_UI2, lambda value: True),
    ),
    (
        "vector-of-i4",
        "MQMQ-2.2.12-18",
        "a vector of VT_I4",
        _make_value_of_type_condition(VECTOR_TYPE_FLAG | VarType.VT_I4, lambda value: True),
    ),
    (
        "vector-of-ui8",
        "MQMQ-2.2.12-18",
        "a vector of VT_UI8",
        _make_value_of_type_condition(VECTOR_TYPE_FLAG | VarType.VT_UI8, lambda value: True),
    ),
    (
        "vector-of-guids",
        "MQMQ-2.2.12-17",
        "a vector of VT_CLSID",
        _make_value_of_type_condition(VECTOR_TYPE_FLAG | VarType.VT_CLSID, lambda value: True),
    ),
    (
        "vector-of-strings-empty",
        "MQMQ-2.2.12-17",
        "an empty vector of VT_LPWSTR",
        _make_value_of_type_condition(VECTOR_TYPE_FLAG | VarType.VT_LPWSTR, lambda value: value["cElems"] == 0),
    ),
    (
        "vector-of-variants-empty",
        "MQMQ-2.2.12-06",
        "an empty vector of PROPVARIANTs",
        _make_value_of_type_condition(VECTOR_OF_VARIANTS_TYPE, lambda value: value["cElems"] == 0),
    ),
    (
        "vector-of-variants-mixed",
        "MQMQ-2.2.12-06",
        "a vector of PROPVARIANTs with different types",
        _make_value_of_type_condition(
            VECTOR_OF_VARIANTS_TYPE, lambda value: len({one["vt"] for one in _get_vector_elements(value)}) > 1
        ),
    ),
    (
        "vector-of-variants-nested",
        "MQMQ-2.2.12-06",
        "a vector of PROPVARIANTs in a vector of PROPVARIANTs",
        _make_value_of_type_condition(
            VECTOR_OF_VARIANTS_TYPE,
            lambda value: any(one["vt"] == VECTOR_OF_VARIANTS_TYPE for one in _get_vector_elements(value)),
        ),
    ),
    (
        "vector-of-variants-with-string",
        "MQMQ-2.2.12-06",
        "a vector of PROPVARIANTs with a VT_LPWSTR",
        _make_value_of_type_condition(
            VECTOR_OF_VARIANTS_TYPE,
            lambda value: any(one["vt"] == VarType.VT_LPWSTR for one in _get_vector_elements(value)),
        ),
    ),
    (
        "second-vt-empty",
        "MQMQ-2.2.12-01",
        "a VT_EMPTY as second PROPVARIANT",
        _make_type_after_first_variant_condition(VarType.VT_EMPTY),
    ),
    (
        "second-vt-null",
        "MQMQ-2.2.12-02",
        "a VT_NULL as second PROPVARIANT",
        _make_type_after_first_variant_condition(VarType.VT_NULL),
    ),
    (
        "second-vt-lpwstr",
        "MQMQ-2.2.12-14",
        "a VT_LPWSTR as second PROPVARIANT",
        _make_type_after_first_variant_condition(VarType.VT_LPWSTR),
    ),
    (
        "second-vt-clsid",
        "MQMQ-2.2.12-16",
        "a VT_CLSID as second PROPVARIANT",
        _make_type_after_first_variant_condition(VarType.VT_CLSID),
    ),
):
    add(
        f"server-propvariant-{_name}-refused",
        _rule,
        f"The server refuses a stub as malformed if the stub contains {_says}.",
        _refuse_request_with_propvariants(_is_refused),
    )


@fault("server-vt-null-refused-for-guid-property", breaks="MQMQ-2.2.12-02", blind=True)
class ServerVtNullRefusedForGuidProperty(ObjectProperties):
    """The server refuses a request with VT_NULL for a property of type VT_CLSID."""

    def check_property_type(self, identifier: int, vt: int) -> bool:
        known = PROPERTY_BY_IDENTIFIER.get(identifier)
        if known is not None and known.vt is VarType.VT_CLSID and vt == VarType.VT_NULL:
            return False
        return super().check_property_type(identifier, vt)


@fault("server-returns-vt-null-for-second-property-requested-as-vt-null", breaks="MQMQ-2.2.12-02")
class ServerReturnsVtNullForSecondPropertyRequestedAsVtNull(ObjectProperties):
    """The server returns the second property of a request in a PROPVARIANT of type VT_NULL if the request has VT_NULL
    there.
    """

    def r_qm_get_object_properties(self, call: Call, now: Now) -> None:
        given = call.arguments["apVar"]

        def replace_later_null_values(found: list[Variant]) -> list[Variant]:
            return [
                one | {"vt": VarType.VT_NULL, "_varUnion": None} if at and given[at]["vt"] == VarType.VT_NULL else one
                for at, one in enumerate(found)
            ]

        super().r_qm_get_object_properties(change_answer_values(call, apVar=replace_later_null_values), now)


def _change_type_of_returned_property(identifier: int, vt: VarType) -> Install:
    """Let the server return a property in a PROPVARIANT of a wrong type."""

    class AnsweredTypeChanger(ObjectProperties):
        def get_queue_property(self, queue: Queue, wanted: int) -> dict[str, Any]:
            found = super().get_queue_property(queue, wanted)
            return found | {"vt": vt} if wanted == identifier else found

    return replace_part(AnsweredTypeChanger)


for _name, _rule, _identifier, _vt in (
    ("server-property-106-answered-as-vt-ui2", "MQMQ-2.2.12-03", 106, VarType.VT_UI2),
    ("server-property-109-answered-as-vt-ui4", "MQMQ-2.2.12-04", 109, VarType.VT_UI4),
    ("server-property-104-answered-as-vt-i1", "MQMQ-2.2.12-09", 104, VarType.VT_I1),
):
    add(
        _name,
        _rule,
        f"The server returns property {_identifier} in a PROPVARIANT of type {_vt.name}.",
        _change_type_of_returned_property(_identifier, _vt),
    )


def _change_value_of_returned_property(identifier: int, change: Callable[[Any], Any], vt: int | None = None) -> Install:
    class AnsweredValueChanger(ObjectProperties):
        def get_queue_property(self, queue: Queue, wanted: int) -> Variant:
            found = super().get_queue_property(queue, wanted)
            if wanted != identifier:
                return found
            value = change(found["_varUnion"])
            if value is None and not found["_varUnion"]:
                return found | {"vt": VarType.VT_NULL, "_varUnion": None}
            return found | {"_varUnion": value}

    return replace_part(AnsweredValueChanger)


for _name, _rule, _says, _install in (
    (
        "server-property-106-negative-returned-as-0",
        "MQMQ-2.2.12-03",
        "The server returns a negative base priority as 0.",
        _change_value_of_returned_property(106, lambda value: 0 if value >> 15 else value),
    ),
    (
        "server-property-105-capped-at-0x7fffffff",
        "MQMQ-2.2.12-11",
        "The server returns a quota above 0x7FFFFFFF as 0x7FFFFFFF.",
        _change_value_of_returned_property(105, lambda value: min(value, 0x7FFFFFFF)),
    ),
    (
        "server-property-107-of-2-bytes",
        "MQMQ-2.2.12-11",
        "The server returns only the lower 2 bytes of a journal quota.",
        _change_value_of_returned_property(107, lambda value: value & 0xFFFF),
    ),
    (
        "server-property-108-cut-to-63-characters",
        "MQMQ-2.2.12-14",
        "The server returns only the first 63 characters of a label.",
        _change_value_of_returned_property(108, lambda value: value[:63]),
    ),
    (
        "server-property-108-empty-returned-as-vt-null",
        "MQMQ-2.2.12-14",
        "The server returns an empty label in a PROPVARIANT of type VT_NULL.",
        _change_value_of_returned_property(108, lambda value: value or None),
    ),
    (
        "server-property-102-zero-guid-as-null-pointer",
        "MQMQ-2.2.12-16",
        "If the type of a queue is the zero GUID, the server returns the type as a null pointer.",
        _change_value_of_returned_property(102, lambda value: value if value and value.int else None),
    ),
):
    add(_name, _rule, _says, _install)


add(
    "server-propvariant-vector-of-variants-refused",
    ("MQMQ-2.2.12-06", "MQMQ-2.2.12-07"),
    "The server refuses a stub as malformed if the stub contains a vector of PROPVARIANTs.",
    _refuse_propvariant_type(VarType.VT_VECTOR | VarType.VT_VARIANT),
)


add(
    "server-propvariant-vector-of-strings-refused",
    "MQMQ-2.2.12-17",
    "The server refuses a stub as malformed if the stub contains a vector of strings.",
    _refuse_propvariant_type(VarType.VT_VECTOR | VarType.VT_LPWSTR),
)


add(
    "server-propvariant-vector-of-integers-refused",
    "MQMQ-2.2.12-18",
    "The server refuses a stub as malformed if the stub contains a vector of VT_UI4.",
    _refuse_propvariant_type(VarType.VT_VECTOR | VarType.VT_UI4),
)


def _is_transactional_ack(packet: UserMessagePacket) -> bool:
    return is_order_ack(packet) or is_final_ack(packet)


add(
    "receiver-order-ack-body-type-vt-null",
    "MQMQ-2.2.12-D01",
    "The receiver's OrderAck or FinalAck carries BodyType VT_NULL.",
    set_field_value(
        UserMessagePacket,
        "MessagePropertiesHeader.BodyType",
        1,
        _is_transactional_ack,
    ),
)


MessagePacketBuilder = Callable[[QM, MessagePosition], UserMessagePacket]


def _copy_body_type_of_received_message(
    original: MessagePacketBuilder, qm: QM, received: MessagePosition, *_: object
) -> MessagePacketBuilder:
    def construct_with_body_type(qm: QM, position: MessagePosition) -> UserMessagePacket:
        body_type = received.MessageReference.BodyType
        packet: UserMessagePacket = set_fields(original(qm, position), {"MessagePropertiesHeader.BodyType": body_type})
        return packet

    return construct_with_body_type


add(
    "receiver-final-ack-body-type-copied-from-message",
    "MQMQ-2.2.12-D01",
    "A queue manager sends a FinalAck whose BodyType is the BodyType of the acknowledged message.",
    replace_method_during(
        FinalAcks.send_final_ack_of_message, MessageSending.construct_user_message, _copy_body_type_of_received_message
    ),
    blind=True,
)


def _make_lowest_message_class_condition(lowest: int) -> Callable[[UserMessagePacket], bool]:
    return lambda packet: is_final_ack(packet) and packet.MessagePropertiesHeader.MessageClass >= lowest


for _name, _says, _when in (
    ("order-ack-only", "an OrderAck", is_order_ack),
    (
        "final-ack-of-received-message",
        "a FinalAck of class ACK_RECEIVE",
        lambda packet: (
            is_final_ack(packet) and packet.MessagePropertiesHeader.MessageClass == MessageClass.MQMSG_CLASS_ACK_RECEIVE
        ),
    ),
    (
        "final-ack-of-refused-message",
        "a FinalAck of a message that the receiver refused",
        lambda packet: is_final_ack(packet) and 0x8000 <= packet.MessagePropertiesHeader.MessageClass < 0xC000,
    ),
    (
        "final-ack-of-deleted-message",
        "a FinalAck of a message that left its queue without being received",
        _make_lowest_message_class_condition(0xC000),
    ),
):
    add(
        f"receiver-body-type-of-{_name}-vt-lpwstr",
        "MQMQ-2.2.12-D01",
        f"The receiver sends BodyType 31 (VT_LPWSTR) in {_says}.",
        set_field_value(UserMessagePacket, "MessagePropertiesHeader.BodyType", 31, _when),
    )


class _ObjectPropertiesRefuser(ObjectProperties):
    def r_qm_get_object_properties(self, call: Call, now: Now) -> None:
        self.qm.remote.carry_out_outputs(call.fault(FaultStatus.NCA_S_OP_RNG_ERROR))


add(
    "server-get-object-properties-missing-tolerated",
    (),
    "Tolerated: the server does not implement R_QMGetObjectProperties, a method of a different document (MS-MQMP).",
    replace_part(_ObjectPropertiesRefuser),
)


HALF_OF_VALUE_RANGE_BY_VAR_TYPE |= {
    VarType.VT_I4: 1 << 31,
    VarType.VT_UI4: 1 << 31,
    VarType.VT_I8: 1 << 63,
    VarType.VT_UI8: 1 << 63,
}


_VECTOR_OF_VARIANTS_VAR_TYPE = VarType.VT_VECTOR | VarType.VT_VARIANT


def _has_vector_elements_of_different_types(variant: dict[str, Any]) -> bool:
    if variant["vt"] != _VECTOR_OF_VARIANTS_VAR_TYPE or variant["_varUnion"] is None:
        return False
    elements = variant["_varUnion"]["pElems"] or ()
    return len({one["vt"] for one in elements}) > 1


class _BodyTypeRecorder(FinalAcks):
    def send_final_ack_of_message(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        self.__dict__["body_type"] = position.MessageReference.BodyType
        super().send_final_ack_of_message(position, reason, now)
        self.__dict__["body_type"] = 0


class _BodyTypeCopier(MessageSending):
    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet = super().construct_user_message(position)
        body_type = vars(self.qm.final_acks).get("body_type", 0)
        if not body_type or not is_final_ack(packet):
            return packet
        return replace(packet, MessagePropertiesHeader=replace(packet.MessagePropertiesHeader, BodyType=body_type))


@fault("server-faults-on-propvariant-array-of-different-types", breaks="MQMQ-2.2.12-06", blind=True)
class ServerFaultsOnPropvariantArrayOfDifferentTypes(ObjectProperties):
    """The server reads every element of an array of PROPVARIANTs with the type of the first element, so an array with
    elements of different types ends in an RPC fault.
    """

    def r_qm_get_object_properties(self, call: Call, now: Now) -> None:
        if any(_has_vector_elements_of_different_types(one) for one in call.arguments["apVar"]):
            self.qm.remote.carry_out_outputs(call.fault(FaultStatus.RPC_X_BAD_STUB_DATA))
        else:
            super().r_qm_get_object_properties(call, now)


add(
    "receiver-final-ack-body-type-of-message",
    "MQMQ-2.2.12-D01",
    "The receiver copies the BodyType of a message that has left its queue to the FinalAck.",
    combine_installers(replace_part(_BodyTypeRecorder), replace_part(_BodyTypeCopier)),
    blind=True,
)
