"""MS-MQMQ 2.2.12 PROPVARIANT Type Constants: PROPVARIANTs in requests and responses of R_QMGetObjectProperties (MS-MQMP
3.1.4.9).
"""

from __future__ import annotations

from itertools import zip_longest
from typing import Any
from uuid import UUID

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import each, facts
from harness.judging.verdicts import Verdict
from harness.run.marks import covers, needs
from harness.wire.rpc import NDR, QMCOMM
from harness.wire.rpc_propvariant import (
    GET_OBJECT_PROPERTIES_OPNUM,
    PROPERTY_TYPES,
    PropVariant,
    VarType,
    build_get_object_properties_stub,
    read_object_properties,
)
from harness.wire.rpc_status import get_status_name
from harness.wire.wire_error import WireError

pytestmark = needs("qm2qm")

SAMPLE_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000f8")
LABEL_PROPERTY_ID = 108
"""The identifier of the property PROPID_Q_LABEL."""
ACCEPTED_OUTCOME, FAULT_OUTCOME = "accepted", "refused with a fault"
UNKNOWN_OPNUM_FAULT = 0x1C01_0002
"""The fault nca_s_op_rng_error: the called method is not part of the interface (C706, appendix N)."""
PROPERTY_AND_TYPE_BY_RULE = {
    "MQMQ-2.2.12-02": (LABEL_PROPERTY_ID, VarType.LPWSTR),
    "MQMQ-2.2.12-03": (106, VarType.I2),
    "MQMQ-2.2.12-04": (109, VarType.I4),
    "MQMQ-2.2.12-09": (104, VarType.UI1),
}
"""For each rule, a property, and the type in which the SUT returns the property when the call requests it with VT_NULL.
"""
SAMPLE_VARIANT_BY_RULE = {
    "MQMQ-2.2.12-03": PropVariant(VarType.I2, -2),
    "MQMQ-2.2.12-04": PropVariant(VarType.I4, -4),
    "MQMQ-2.2.12-05": PropVariant(VarType.BOOL, 0xFFFF),
    "MQMQ-2.2.12-06": PropVariant(
        VarType.VECTOR | VarType.VARIANT, [PropVariant(VarType.UI4, 5), PropVariant(VarType.I8, -6)]
    ),
    "MQMQ-2.2.12-08": PropVariant(VarType.I1, -1),
    "MQMQ-2.2.12-09": PropVariant(VarType.UI1, 255),
    "MQMQ-2.2.12-10": PropVariant(VarType.UI2, 0xFFFE),
    "MQMQ-2.2.12-11": PropVariant(VarType.UI4, 0xFFFF_FFFD),
    "MQMQ-2.2.12-12": PropVariant(VarType.I8, -8),
    "MQMQ-2.2.12-13": PropVariant(VarType.UI8, 0xFFFF_FFFF_FFFF_FFFC),
    "MQMQ-2.2.12-14": PropVariant(VarType.LPWSTR, "label"),
    "MQMQ-2.2.12-15": PropVariant(VarType.BLOB, b"blobs"),
    "MQMQ-2.2.12-16": PropVariant(VarType.CLSID, SAMPLE_GUID),
}
VECTOR_VARIANT_INSIDE_VECTOR = PropVariant(VarType.VECTOR | VarType.VARIANT, [PropVariant(VarType.UI2, 1)])
BOUNDARY_VALUE_VARIANTS_BY_RULE = {
    "MQMQ-2.2.12-03": [PropVariant(VarType.I2, value) for value in (0, 0x7FFF, -0x8000)],
    "MQMQ-2.2.12-04": [PropVariant(VarType.I4, value) for value in (0, 0x7FFF_FFFF, -0x8000_0000)],
    "MQMQ-2.2.12-05": [PropVariant(VarType.BOOL, 0)],
    "MQMQ-2.2.12-06": [
        PropVariant(VarType.VECTOR | VarType.VARIANT, []),
        PropVariant(VarType.VECTOR | VarType.VARIANT, [VECTOR_VARIANT_INSIDE_VECTOR, VECTOR_VARIANT_INSIDE_VECTOR]),
        PropVariant(
            VarType.VECTOR | VarType.VARIANT,
            [PropVariant(VarType.LPWSTR, "text"), PropVariant(VarType.CLSID, SAMPLE_GUID)],
        ),
    ],
    "MQMQ-2.2.12-08": [PropVariant(VarType.I1, value) for value in (0, 0x7F, -0x80)],
    "MQMQ-2.2.12-09": [PropVariant(VarType.UI1, value) for value in (0, 0x80)],
    "MQMQ-2.2.12-10": [PropVariant(VarType.UI2, value) for value in (0, 0x8000, 0xFFFF)],
    "MQMQ-2.2.12-11": [PropVariant(VarType.UI4, value) for value in (0, 0x8000_0000)],
    "MQMQ-2.2.12-12": [PropVariant(VarType.I8, value) for value in (0, 0x7FFF_FFFF_FFFF_FFFF, -0x8000_0000_0000_0000)],
    "MQMQ-2.2.12-13": [PropVariant(VarType.UI8, value) for value in (0, 0x8000_0000_0000_0000, 0xFFFF_FFFF_FFFF_FFFF)],
    "MQMQ-2.2.12-14": [PropVariant(VarType.LPWSTR, value) for value in ("", "odd", "even", "long " * 60)],
    "MQMQ-2.2.12-15": [PropVariant(VarType.BLOB, value) for value in (b"", b"four", bytes(300), bytes(5000))],
    "MQMQ-2.2.12-16": [PropVariant(VarType.CLSID, value) for value in (UUID(int=0), SAMPLE_GUID, UUID(int=2**128 - 1))],
}
"""For each rule, further values of the type: the limits of a number, and an empty and a long value of other types."""
VECTOR_VARIANTS = (
    PropVariant(VarType.VECTOR | VarType.UI1, [1, 2, 3]),
    PropVariant(VarType.VECTOR | VarType.UI2, [4, 5, 6]),
    PropVariant(VarType.VECTOR | VarType.I4, [7]),
    PropVariant(VarType.VECTOR | VarType.UI4, [8]),
    PropVariant(VarType.VECTOR | VarType.UI8, [9]),
    PropVariant(VarType.VECTOR | VarType.CLSID, [SAMPLE_GUID]),
    PropVariant(VarType.VECTOR | VarType.LPWSTR, ["one", "two"]),
)
EMPTY_VECTOR_VARIANTS = [PropVariant(one.type_number, []) for one in VECTOR_VARIANTS]
LONG_VECTOR_VARIANTS = [PropVariant(one.type_number, [*one.value, *one.value] * 20) for one in VECTOR_VARIANTS]
CREATED_QUEUE_PROPERTIES: dict[str, Any] = {
    "label": "label " * 20 + "full",
    "base_priority": -5,
    "quota_kb": 0x9000_0001,
    "journal_quota_kb": 0x0001_2345,
    "type": str(SAMPLE_GUID),
}
RETURNED_PROPERTY_VALUES_BY_RULE: dict[str, list[tuple[int, VarType, Any]]] = {
    "MQMQ-2.2.12-03": [(106, VarType.I2, -5 & 0xFFFF)],
    "MQMQ-2.2.12-11": [(105, VarType.UI4, 0x9000_0001), (107, VarType.UI4, 0x0001_2345)],
    "MQMQ-2.2.12-14": [(LABEL_PROPERTY_ID, VarType.LPWSTR, CREATED_QUEUE_PROPERTIES["label"])],
    "MQMQ-2.2.12-16": [(102, VarType.CLSID, SAMPLE_GUID)],
}
"""For each rule, the properties of a queue with CREATED_QUEUE_PROPERTIES: identifier, type and value."""


class ObjectPropertiesCaller:
    """A caller of R_QMGetObjectProperties for the nontransactional queue, with NDR as the transfer syntax."""

    def __init__(self, remote):
        self.association = remote.associate(QMCOMM, transfers=(NDR,))
        self.address = remote.sut.address
        self.direct = remote.sut.format_name("plain").removeprefix("DIRECT=")
        self.frames = []

    def build_stub(self, variants):
        return build_get_object_properties_stub(False, self.direct, [LABEL_PROPERTY_ID] * len(variants), variants)

    def ask(self, stub):
        call = self.association.call_raw(GET_OBJECT_PROPERTIES_OPNUM, stub, self.association.contexts[QMCOMM]).wait()
        self.frames = call.evidence
        return call

    def read(self, *variants, cut=0):
        """Send a call with the given PROPVARIANTs, but omit the last `cut` bytes of the stub; return READ, FAULT or the
        unexpected outcome.
        """
        stub = self.build_stub(variants)
        call = self.ask(stub[: len(stub) - cut])
        return FAULT_OUTCOME if call.thrown is not None else ACCEPTED_OUTCOME if call.answered else call.outcome

    def request_property_values(self, queue, identifiers):
        """Request properties of a queue with VT_NULL; return the type and the value of each property, by property
        identifier.
        """
        variants = [PropVariant(VarType.NULL)] * len(identifiers)
        call = self.ask(build_get_object_properties_stub(False, rf"TCP:{self.address}\{queue}", identifiers, variants))
        if not call.answered:
            raise ConformanceFailure(f"the SUT did not return the properties: {call.outcome}")
        try:
            found, result = read_object_properties(call.stub, False)
        except WireError as error:
            raise ConformanceFailure(f"the SUT's answer is malformed: {error}") from error
        if result:
            raise ConformanceFailure(f"the SUT did not return the properties: {get_status_name(result)}")
        return {one: (given.type_number, given.value) for one, given in zip(identifiers, found, strict=False)}

    def request_property(self, identifier):
        """Request one property with VT_NULL; return the name of the status that the SUT returns, or the outcome of the
        call.
        """
        call = self.ask(build_get_object_properties_stub(False, self.direct, [identifier], [PropVariant(VarType.NULL)]))
        return get_status_name(read_object_properties(call.stub, False)[1]) if call.answered else call.outcome


@pytest.fixture
def object_properties_caller(remote, judge):
    """Return an ObjectPropertiesCaller. If the SUT does not serve R_QMGetObjectProperties (MS-MQMP), mark the rules as
    not observable.
    """
    made = ObjectPropertiesCaller(remote)
    call = made.ask(made.build_stub([PropVariant(VarType.NULL)]))
    if call.thrown == UNKNOWN_OPNUM_FAULT:
        why = "the SUT has no R_QMGetObjectProperties, and no other method has a PROPVARIANT"
        judge.give_up(Verdict.NOT_OBSERVABLE, why)
        pytest.skip(why)
    return made


@covers(*PROPERTY_AND_TYPE_BY_RULE)
def test_each_property_is_answered_in_its_type(object_properties_caller, judge):
    """A call requests every property with VT_NULL. The SUT returns each property in a PROPVARIANT of the type that the
    property has.
    """
    identifiers = list(PROPERTY_TYPES)
    variants = [PropVariant(VarType.NULL)] * len(identifiers)
    call = object_properties_caller.ask(
        build_get_object_properties_stub(False, object_properties_caller.direct, identifiers, variants)
    )
    if call.thrown is not None or not call.answered:
        judge(
            "MQMQ-2.2.12-02",
            expected=ACCEPTED_OUTCOME,
            case="call with VT_NULL",
            observed=call.outcome,
            evidence=object_properties_caller.frames,
        )
        raise ConformanceFailure(f"the SUT did not return its properties: {call.outcome}")
    try:
        found, result = read_object_properties(call.stub, False)
    except WireError as error:
        raise ConformanceFailure(f"the SUT's answer is malformed: {error}") from error
    if result:
        answers = {identifier: object_properties_caller.request_property(identifier) for identifier in identifiers}
        judge("MQMQ-2.2.12-02", expected=each("MQ_OK", "property"), case="calls with VT_NULL", observed=answers)
        raise ConformanceFailure(f"the SUT did not return its properties: {get_status_name(result)}")
    types = dict(zip_longest(identifiers, [one.type_number for one in found]))  # a missing property is judged, too
    for rule, (identifier, expected) in PROPERTY_AND_TYPE_BY_RULE.items():
        judge(
            rule,
            expected=expected,
            case=f"type of property {identifier}",
            observed=types.get(identifier),
            evidence=object_properties_caller.frames,
        )


@needs("queue_control")
@covers(*RETURNED_PROPERTY_VALUES_BY_RULE)
def test_values_of_a_queue_are_returned_whole(object_properties_caller, sut, judge):
    """A queue has a negative number, numbers with a high bit, a label of 124 characters and a GUID: the SUT returns
    these values as they were set. For a queue without such values, it returns an empty label and a zero GUID.
    """
    created = sut.new_queue("values", **CREATED_QUEUE_PROPERTIES)
    plain = sut.new_queue("defaults")
    wanted = [one for values in RETURNED_PROPERTY_VALUES_BY_RULE.values() for one, _, _ in values]
    values = object_properties_caller.request_property_values(created, wanted)
    evidence = object_properties_caller.frames
    defaults = object_properties_caller.request_property_values(plain, [LABEL_PROPERTY_ID, 102])
    evidence = [*evidence, *object_properties_caller.frames]
    expected_defaults: dict[str, list[tuple[int, VarType, Any]]] = {
        "MQMQ-2.2.12-14": [(LABEL_PROPERTY_ID, VarType.LPWSTR, "")],
        "MQMQ-2.2.12-16": [(102, VarType.CLSID, UUID(int=0))],
    }
    for rule, properties in RETURNED_PROPERTY_VALUES_BY_RULE.items():
        default = expected_defaults.get(rule, [])
        judge(
            rule,
            expected=facts(
                given={one: (vt, value) for one, vt, value in properties},
                default={one: (vt, value) for one, vt, value in default},
            ),
            observed={
                "given": {one: values.get(one) for one, _, _ in properties},
                "default": {one: defaults.get(one) for one, _, _ in default},
            },
            evidence=evidence,
        )


@covers(*SAMPLE_VARIANT_BY_RULE)
def test_propvariant_one_byte_short_is_refused(object_properties_caller, judge):
    """A call with a PROPVARIANT of any type succeeds: with the limits of the type, with empty and with long values, in
    a vector, and before a PROPVARIANT of a different type. A call whose PROPVARIANT is one byte too short gets a fault.
    """
    for rule, variant in SAMPLE_VARIANT_BY_RULE.items():
        whole = object_properties_caller.read(PropVariant(VarType.NULL), variant)
        evidence = object_properties_caller.frames
        cut = object_properties_caller.read(PropVariant(VarType.NULL), variant, cut=1)
        observed = {"whole_variant": whole, "variant_without_its_last_byte": cut}
        evidence = [*evidence, *object_properties_caller.frames]
        observed["variants_with_other_values"] = object_properties_caller.read(
            *BOUNDARY_VALUE_VARIANTS_BY_RULE.get(rule, [variant])
        )
        evidence = [*evidence, *object_properties_caller.frames]
        in_vector = PropVariant(VarType.VECTOR | VarType.VARIANT, [variant, variant])
        observed["variants_in_a_vector_and_before_another_type"] = object_properties_caller.read(
            in_vector, variant, PropVariant(VarType.NULL)
        )
        judge(
            rule,
            expected=facts(
                whole_variant=ACCEPTED_OUTCOME,
                variant_without_its_last_byte=FAULT_OUTCOME,
                variants_with_other_values=ACCEPTED_OUTCOME,
                variants_in_a_vector_and_before_another_type=ACCEPTED_OUTCOME,
            ),
            observed=observed,
            evidence=[*evidence, *object_properties_caller.frames],
        )


@covers("MQMQ-2.2.12-01", "MQMQ-2.2.12-02")
def test_bytes_after_vt_empty_and_vt_null_are_refused(object_properties_caller, judge):
    """A call with two PROPVARIANTs of VT_EMPTY or VT_NULL succeeds. A call with eight extra bytes after the first
    PROPVARIANT gets a fault.
    """
    for rule, vt in (("MQMQ-2.2.12-01", VarType.EMPTY), ("MQMQ-2.2.12-02", VarType.NULL)):
        without = object_properties_caller.read(PropVariant(vt), PropVariant(vt))
        evidence = object_properties_caller.frames
        filled = object_properties_caller.read(PropVariant(vt, unread_bytes=b"\xa5" * 8), PropVariant(vt))
        observed = {"variant_without_trailing_bytes": without, "variant_with_eight_trailing_bytes": filled}
        judge(
            rule,
            expected=facts(
                variant_without_trailing_bytes=ACCEPTED_OUTCOME, variant_with_eight_trailing_bytes=FAULT_OUTCOME
            ),
            observed=observed,
            evidence=[*evidence, *object_properties_caller.frames],
        )


@covers("MQMQ-2.2.12-07", "MQMQ-2.2.12-17", "MQMQ-2.2.12-18")
def test_vector_without_type_or_with_wrong_count_is_refused(object_properties_caller, judge):
    """Calls with vectors of every type succeed. So do calls with an empty vector, with a vector after another property,
    and with a vector in a vector. Three calls get a fault: VT_VARIANT without VT_VECTOR, VT_VECTOR without a type, and
    a vector with a wrong count.
    """
    vector = PropVariant(VarType.VECTOR | VarType.VARIANT, [PropVariant(VarType.UI2, 1)])
    observed = {
        "VT_VARIANT_in_a_vector": object_properties_caller.read(vector),
        "VT_VARIANT_in_a_later_an_empty_and_a_nested_vector": [
            object_properties_caller.read(PropVariant(VarType.NULL), vector),
            object_properties_caller.read(PropVariant(vector.type_number, [])),
            object_properties_caller.read(PropVariant(vector.type_number, [PropVariant(VarType.UI2, 1), vector])),
        ],
        "VT_VARIANT_without_a_vector": object_properties_caller.read(
            PropVariant(VarType.VARIANT, unread_bytes=bytes(8))
        ),
    }
    judge(
        "MQMQ-2.2.12-07",
        expected=facts(
            VT_VARIANT_in_a_vector=ACCEPTED_OUTCOME,
            VT_VARIANT_in_a_later_an_empty_and_a_nested_vector=each(ACCEPTED_OUTCOME),
            VT_VARIANT_without_a_vector=FAULT_OUTCOME,
        ),
        observed=observed,
        evidence=object_properties_caller.frames,
    )
    judge.conclude("MQMQ-2.2.12-07")
    with_type = [object_properties_caller.read(one) for one in VECTOR_VARIANTS]
    observed = {
        "vectors_with_a_type": with_type,
        "empty_vectors": object_properties_caller.read(*EMPTY_VECTOR_VARIANTS),
        "vectors_without_a_type_alone_and_beside_other_types": [
            object_properties_caller.read(*before, PropVariant(VarType.VECTOR, unread_bytes=content), *after)
            for content in (b"", bytes(8))
            for before in ((), (PropVariant(VarType.NULL),))
            for after in ((), (PropVariant(VarType.NULL),))
        ],
    }
    expected = facts(
        vectors_with_a_type=each(ACCEPTED_OUTCOME),
        empty_vectors=ACCEPTED_OUTCOME,
        vectors_without_a_type_alone_and_beside_other_types=each(FAULT_OUTCOME),
    )
    judge("MQMQ-2.2.12-17", expected=expected, observed=observed, evidence=object_properties_caller.frames)
    judge.conclude("MQMQ-2.2.12-17")
    stub = object_properties_caller.build_stub([VECTOR_VARIANTS[3]])
    wrong = object_properties_caller.ask(stub[:-8] + (2).to_bytes(4, "little") + stub[-4:])
    observed = {
        "vectors_with_a_right_count": [
            object_properties_caller.read(one) for one in (*VECTOR_VARIANTS, *LONG_VECTOR_VARIANTS)
        ],
        "empty_vectors": object_properties_caller.read(*EMPTY_VECTOR_VARIANTS),
        "vector_with_a_wrong_count": FAULT_OUTCOME if wrong.thrown is not None else wrong.outcome,
    }
    judge(
        "MQMQ-2.2.12-18",
        expected=facts(
            vectors_with_a_right_count=each(ACCEPTED_OUTCOME),
            empty_vectors=ACCEPTED_OUTCOME,
            vector_with_a_wrong_count=FAULT_OUTCOME,
        ),
        observed=observed,
        evidence=object_properties_caller.frames,
    )
