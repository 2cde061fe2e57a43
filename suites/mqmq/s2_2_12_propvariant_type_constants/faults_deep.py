"""Faults of MS-MQMQ 2.2.12 PROPVARIANT Type Constants that some values, positions and combinations reveal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from harness.faults.fields import field_is
from harness.faults.parts import fault, replace_part
from harness.faults.registry import Install, add
from harness.faults.rpc_calls import change_answer_values
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.remote.object_properties import ObjectProperties
from reference_qm.core.transfer.order_acks import is_final_ack, is_order_ack
from reference_qm.model.adm import Queue
from reference_qm.rpc import Call, FaultStatus
from reference_qm.rpc.interfaces.propvariant import VarType
from reference_qm.surface.clock import Now

Variant = dict[str, Any]
VECTOR = VarType.VT_VECTOR
VECTOR_OF_VARIANTS = VarType.VT_VECTOR | VarType.VT_VARIANT
HALVES = {VarType.VT_I1: 1 << 7, VarType.VT_UI1: 1 << 7, VarType.VT_I2: 1 << 15, VarType.VT_UI2: 1 << 15}
HALVES |= {VarType.VT_I4: 1 << 31, VarType.VT_UI4: 1 << 31, VarType.VT_I8: 1 << 63, VarType.VT_UI8: 1 << 63}
TRUE = (1, 0xFFFF)


def _iterate_variants(variants: list[Variant]) -> Iterator[Variant]:
    """Yield the PROPVARIANTs of a request, and the PROPVARIANTs in their vectors."""
    for one in variants:
        yield one
        if one["vt"] == VECTOR_OF_VARIANTS:
            yield from _iterate_variants(one["_varUnion"]["pElems"] or [])


def _refuse_stub(is_refused: Callable[[list[Variant]], bool]) -> Install:
    """Let the server refuse a request as malformed if a condition is true for its PROPVARIANTs."""

    class Unread(ObjectProperties):
        def r_qm_get_object_properties(self, call: Call, now: Now) -> None:
            if is_refused(call.arguments["apVar"]):
                self.qm.remote.note(call.fault(FaultStatus.RPC_X_BAD_STUB_DATA))
            else:
                super().r_qm_get_object_properties(call, now)

    return replace_part(Unread)


def _has(vt: int, condition: Callable[[Any], bool]) -> Callable[[list[Variant]], bool]:
    """Return a condition: a PROPVARIANT has the type, and its value has a property."""
    return lambda variants: any(one["vt"] == vt and condition(one["_varUnion"]) for one in _iterate_variants(variants))


def _in_upper_half(vt: VarType) -> Callable[[list[Variant]], bool]:
    return _has(vt, lambda value: value >= HALVES[vt])


def _is_second(vt: int) -> Callable[[list[Variant]], bool]:
    return lambda variants: any(one["vt"] == vt for one in variants[1:])


def _elements(value: Any) -> Any:
    return value["pElems"] or []


for _name, _rule, _says, _is_refused in (
    ("i1-negative", "MQMQ-2.2.12-08", "a VT_I1 below 0", _in_upper_half(VarType.VT_I1)),
    ("ui1-above-0x7f", "MQMQ-2.2.12-09", "a VT_UI1 above 0x7F", _in_upper_half(VarType.VT_UI1)),
    ("i2-negative", "MQMQ-2.2.12-03", "a VT_I2 below 0", _in_upper_half(VarType.VT_I2)),
    ("ui2-above-0x7fff", "MQMQ-2.2.12-10", "a VT_UI2 above 0x7FFF", _in_upper_half(VarType.VT_UI2)),
    ("i4-negative", "MQMQ-2.2.12-04", "a VT_I4 below 0", _in_upper_half(VarType.VT_I4)),
    ("ui4-above-0x7fffffff", "MQMQ-2.2.12-11", "a VT_UI4 above 0x7FFFFFFF", _in_upper_half(VarType.VT_UI4)),
    ("i8-negative", "MQMQ-2.2.12-12", "a VT_I8 below 0", _in_upper_half(VarType.VT_I8)),
    ("ui8-above-half", "MQMQ-2.2.12-13", "a VT_UI8 above 0x7FFFFFFFFFFFFFFF", _in_upper_half(VarType.VT_UI8)),
    (
        "bool-true",
        "MQMQ-2.2.12-05",
        "a VT_BOOL that is VARIANT_TRUE",
        _has(VarType.VT_BOOL, lambda value: value == 0xFFFF),
    ),
    (
        "bool-false",
        "MQMQ-2.2.12-05",
        "a VT_BOOL that is VARIANT_FALSE",
        _has(VarType.VT_BOOL, lambda value: value == 0),
    ),
    (
        "lpwstr-empty",
        "MQMQ-2.2.12-14",
        "an empty VT_LPWSTR",
        _has(VarType.VT_LPWSTR, lambda value: value in ("", "\0")),
    ),
    (
        "lpwstr-long",
        "MQMQ-2.2.12-14",
        "a VT_LPWSTR of more than 124 characters",
        _has(VarType.VT_LPWSTR, lambda value: value is not None and len(value) > 125),
    ),
    ("blob-empty", "MQMQ-2.2.12-15", "an empty VT_BLOB", _has(VarType.VT_BLOB, lambda value: value["cbSize"] == 0)),
    (
        "blob-large",
        "MQMQ-2.2.12-15",
        "a VT_BLOB of more than 255 bytes",
        _has(VarType.VT_BLOB, lambda value: value["cbSize"] > 255),
    ),
    (
        "blob-odd",
        "MQMQ-2.2.12-15",
        "a VT_BLOB whose size is not a multiple of 4",
        _has(VarType.VT_BLOB, lambda value: value["cbSize"] % 4 > 0),
    ),
    (
        "vector-empty",
        "MQMQ-2.2.12-18",
        "an empty vector of VT_UI4",
        _has(VECTOR | VarType.VT_UI4, lambda value: value["cElems"] == 0),
    ),
    (
        "vector-of-several",
        "MQMQ-2.2.12-18",
        "a vector of more than two VT_UI4",
        _has(VECTOR | VarType.VT_UI4, lambda value: value["cElems"] > 2),
    ),
    ("vector-of-bytes", "MQMQ-2.2.12-18", "a vector of VT_UI1", _has(VECTOR | VarType.VT_UI1, lambda value: True)),
    ("vector-of-words", "MQMQ-2.2.12-18", "a vector of VT_UI2", _has(VECTOR | VarType.VT_UI2, lambda value: True)),
    ("vector-of-i4", "MQMQ-2.2.12-18", "a vector of VT_I4", _has(VECTOR | VarType.VT_I4, lambda value: True)),
    ("vector-of-ui8", "MQMQ-2.2.12-18", "a vector of VT_UI8", _has(VECTOR | VarType.VT_UI8, lambda value: True)),
    ("vector-of-guids", "MQMQ-2.2.12-17", "a vector of VT_CLSID", _has(VECTOR | VarType.VT_CLSID, lambda value: True)),
    (
        "vector-of-strings-empty",
        "MQMQ-2.2.12-17",
        "an empty vector of VT_LPWSTR",
        _has(VECTOR | VarType.VT_LPWSTR, lambda value: value["cElems"] == 0),
    ),
    (
        "vector-of-variants-empty",
        "MQMQ-2.2.12-06",
        "an empty vector of PROPVARIANTs",
        _has(VECTOR_OF_VARIANTS, lambda value: value["cElems"] == 0),
    ),
    (
        "vector-of-variants-mixed",
        "MQMQ-2.2.12-06",
        "a vector of PROPVARIANTs with different types",
        _has(VECTOR_OF_VARIANTS, lambda value: len({one["vt"] for one in _elements(value)}) > 1),
    ),
    (
        "vector-of-variants-nested",
        "MQMQ-2.2.12-06",
        "a vector of PROPVARIANTs in a vector of PROPVARIANTs",
        _has(VECTOR_OF_VARIANTS, lambda value: any(one["vt"] == VECTOR_OF_VARIANTS for one in _elements(value))),
    ),
    (
        "vector-of-variants-with-string",
        "MQMQ-2.2.12-06",
        "a vector of PROPVARIANTs with a VT_LPWSTR",
        _has(VECTOR_OF_VARIANTS, lambda value: any(one["vt"] == VarType.VT_LPWSTR for one in _elements(value))),
    ),
    ("second-vt-empty", "MQMQ-2.2.12-01", "a VT_EMPTY as second PROPVARIANT", _is_second(VarType.VT_EMPTY)),
    ("second-vt-null", "MQMQ-2.2.12-02", "a VT_NULL as second PROPVARIANT", _is_second(VarType.VT_NULL)),
    ("second-vt-lpwstr", "MQMQ-2.2.12-14", "a VT_LPWSTR as second PROPVARIANT", _is_second(VarType.VT_LPWSTR)),
    ("second-vt-clsid", "MQMQ-2.2.12-16", "a VT_CLSID as second PROPVARIANT", _is_second(VarType.VT_CLSID)),
):
    add(
        f"server-propvariant-{_name}-refused",
        _rule,
        f"The server refuses a stub as malformed if the stub contains {_says}.",
        _refuse_stub(_is_refused),
    )


def _change_answered(identifier: int, change: Callable[[Any], Any], vt: int | None = None) -> Install:
    class Answered(ObjectProperties):
        def get_queue_property(self, queue: Queue, wanted: int) -> Variant:
            found = super().get_queue_property(queue, wanted)
            if wanted != identifier:
                return found
            value = change(found["_varUnion"])
            if value is None and not found["_varUnion"]:
                return found | {"vt": VarType.VT_NULL, "_varUnion": None}
            return found | {"_varUnion": value}

    return replace_part(Answered)


for _name, _rule, _says, _install in (
    (
        "server-property-106-negative-returned-as-0",
        "MQMQ-2.2.12-03",
        "The server returns a negative base priority as 0.",
        _change_answered(106, lambda value: 0 if value >> 15 else value),
    ),
    (
        "server-property-105-capped-at-0x7fffffff",
        "MQMQ-2.2.12-11",
        "The server returns a quota above 0x7FFFFFFF as 0x7FFFFFFF.",
        _change_answered(105, lambda value: min(value, 0x7FFFFFFF)),
    ),
    (
        "server-property-107-of-2-bytes",
        "MQMQ-2.2.12-11",
        "The server returns only the lower 2 bytes of a journal quota.",
        _change_answered(107, lambda value: value & 0xFFFF),
    ),
    (
        "server-property-108-cut-to-63-characters",
        "MQMQ-2.2.12-14",
        "The server returns only the first 63 characters of a label.",
        _change_answered(108, lambda value: value[:63]),
    ),
    (
        "server-property-108-empty-returned-as-vt-null",
        "MQMQ-2.2.12-14",
        "The server returns an empty label in a PROPVARIANT of type VT_NULL.",
        _change_answered(108, lambda value: value or None),
    ),
    (
        "server-property-102-zero-guid-as-null-pointer",
        "MQMQ-2.2.12-16",
        "The server returns a type of a queue that is the zero GUID as a null pointer.",
        _change_answered(102, lambda value: value if value and value.int else None),
    ),
):
    add(_name, _rule, _says, _install)


@fault("server-vt-null-answered-as-vt-null-for-second-property", breaks="MQMQ-2.2.12-02")
class ServerVtNullAnsweredAsVtNullForSecondProperty(ObjectProperties):
    """The server returns the second property of a request in a PROPVARIANT of type VT_NULL if the request has VT_NULL
    there.
    """

    def r_qm_get_object_properties(self, call: Call, now: Now) -> None:
        given = call.arguments["apVar"]

        def empty(found: list[Variant]) -> list[Variant]:
            return [
                one | {"vt": VarType.VT_NULL, "_varUnion": None} if at and given[at]["vt"] == VarType.VT_NULL else one
                for at, one in enumerate(found)
            ]

        super().r_qm_get_object_properties(change_answer_values(call, apVar=empty), now)


def _has_class_above(lowest: int) -> Callable[[UserMessagePacket], bool]:
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
        _has_class_above(0xC000),
    ),
):
    add(
        f"receiver-body-type-of-{_name}-vt-lpwstr",
        "MQMQ-2.2.12-D01",
        f"The receiver sends BodyType 31 (VT_LPWSTR) in {_says}.",
        field_is(UserMessagePacket, "MessagePropertiesHeader.BodyType", 31, _when),
    )
