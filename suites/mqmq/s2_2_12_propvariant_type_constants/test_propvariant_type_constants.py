"""MS-MQMQ 2.2.12 PROPVARIANT Type Constants: PROPVARIANTs in requests and responses of R_QMGetObjectProperties (MS-MQMP
3.1.4.9).
"""

from __future__ import annotations

from itertools import zip_longest
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
    Variant,
    VarType,
    get_properties,
    got_properties,
)
from harness.wire.rpc_status import name_status
from harness.wire.wire_error import WireError

pytestmark = needs("qm2qm")

SAMPLE_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000f8")
LABEL_PROPERTY = 108
"""The identifier of the property PROPID_Q_LABEL."""
READ, FAULT = "accepted", "refused with a fault"
OP_RNG_ERROR_FAULT = 0x1C01_0002
"""The fault nca_s_op_rng_error: the called method is not part of the interface (C706, appendix N)."""
ANSWER_TYPE_BY_RULE = {
    "MQMQ-2.2.12-02": (LABEL_PROPERTY, VarType.LPWSTR),
    "MQMQ-2.2.12-03": (106, VarType.I2),
    "MQMQ-2.2.12-04": (109, VarType.I4),
    "MQMQ-2.2.12-09": (104, VarType.UI1),
}
"""For each rule, a property, and the type in which the SUT returns the property when the call requests it with VT_NULL.
"""
VARIANT_BY_RULE = {
    "MQMQ-2.2.12-03": Variant(VarType.I2, -2),
    "MQMQ-2.2.12-04": Variant(VarType.I4, -4),
    "MQMQ-2.2.12-05": Variant(VarType.BOOL, 0xFFFF),
    "MQMQ-2.2.12-06": Variant(VarType.VECTOR | VarType.VARIANT, [Variant(VarType.UI4, 5), Variant(VarType.I8, -6)]),
    "MQMQ-2.2.12-08": Variant(VarType.I1, -1),
    "MQMQ-2.2.12-09": Variant(VarType.UI1, 255),
    "MQMQ-2.2.12-10": Variant(VarType.UI2, 0xFFFE),
    "MQMQ-2.2.12-11": Variant(VarType.UI4, 0xFFFF_FFFD),
    "MQMQ-2.2.12-12": Variant(VarType.I8, -8),
    "MQMQ-2.2.12-13": Variant(VarType.UI8, 0xFFFF_FFFF_FFFF_FFFC),
    "MQMQ-2.2.12-14": Variant(VarType.LPWSTR, "label"),
    "MQMQ-2.2.12-15": Variant(VarType.BLOB, b"blobs"),
    "MQMQ-2.2.12-16": Variant(VarType.CLSID, SAMPLE_GUID),
}
VECTOR_VARIANTS = (
    Variant(VarType.VECTOR | VarType.UI1, [1, 2, 3]),
    Variant(VarType.VECTOR | VarType.UI2, [4, 5, 6]),
    Variant(VarType.VECTOR | VarType.I4, [7]),
    Variant(VarType.VECTOR | VarType.UI4, [8]),
    Variant(VarType.VECTOR | VarType.UI8, [9]),
    Variant(VarType.VECTOR | VarType.CLSID, [SAMPLE_GUID]),
    Variant(VarType.VECTOR | VarType.LPWSTR, ["one", "two"]),
)


class PropertyCaller:
    """A caller of R_QMGetObjectProperties for the plain queue, in NDR."""

    def __init__(self, remote):
        self.association = remote.associate(QMCOMM, transfers=(NDR,))
        self.direct = remote.sut.format_name("plain").removeprefix("DIRECT=")
        self.frames = []

    def stub(self, variants):
        return get_properties(False, self.direct, [LABEL_PROPERTY] * len(variants), variants)

    def ask(self, stub):
        call = self.association.call_raw(GET_OBJECT_PROPERTIES_OPNUM, stub, self.association.contexts[QMCOMM]).wait()
        self.frames = call.evidence
        return call

    def read(self, *variants, cut=0):
        """Send a call with the given PROPVARIANTs, without the last `cut` bytes of the stub; return READ, FAULT or the
        unexpected outcome.
        """
        stub = self.stub(variants)
        call = self.ask(stub[: len(stub) - cut])
        return FAULT if call.thrown is not None else READ if call.answered else call.outcome

    def request_property(self, identifier):
        """Request one property with VT_NULL; return the name of the SUT's status, or the outcome."""
        call = self.ask(get_properties(False, self.direct, [identifier], [Variant(VarType.NULL)]))
        return name_status(got_properties(call.stub, False)[1]) if call.answered else call.outcome


@pytest.fixture
def caller(remote, judge):
    """Return a PropertyCaller; on a SUT without R_QMGetObjectProperties (MS-MQMP), the rules are not observable."""
    made = PropertyCaller(remote)
    call = made.ask(made.stub([Variant(VarType.NULL)]))
    if call.thrown == OP_RNG_ERROR_FAULT:
        why = "the SUT has no R_QMGetObjectProperties, and no other method has a PROPVARIANT"
        judge.give_up(Verdict.NOT_OBSERVABLE, why)
        pytest.skip(why)
    return made


@covers(*ANSWER_TYPE_BY_RULE)
def test_each_property_is_answered_in_its_type(caller, judge):
    """A call requests all properties with VT_NULL: the SUT returns each property in a PROPVARIANT of its type."""
    identifiers = list(PROPERTY_TYPES)
    variants = [Variant(VarType.NULL)] * len(identifiers)
    call = caller.ask(get_properties(False, caller.direct, identifiers, variants))
    if call.thrown is not None or not call.answered:
        judge("MQMQ-2.2.12-02", expected=READ, case="call with VT_NULL", observed=call.outcome, evidence=caller.frames)
        raise ConformanceFailure(f"the SUT did not return its properties: {call.outcome}")
    try:
        found, result = got_properties(call.stub, False)
    except WireError as error:
        raise ConformanceFailure(f"the SUT's answer is malformed: {error}") from error
    if result:
        answers = {identifier: caller.request_property(identifier) for identifier in identifiers}
        judge("MQMQ-2.2.12-02", expected=each("MQ_OK", "property"), case="calls with VT_NULL", observed=answers)
        raise ConformanceFailure(f"the SUT did not return its properties: {name_status(result)}")
    types = dict(zip_longest(identifiers, [one.vt for one in found]))  # a missing property is judged, too
    for rule, (identifier, expected) in ANSWER_TYPE_BY_RULE.items():
        judge(
            rule,
            expected=expected,
            case=f"type of property {identifier}",
            observed=types.get(identifier),
            evidence=caller.frames,
        )


@covers(*VARIANT_BY_RULE)
def test_propvariant_one_byte_short_is_refused(caller, judge):
    """A call with a PROPVARIANT of any type succeeds; a call whose PROPVARIANT is one byte too short gets a fault."""
    for rule, variant in VARIANT_BY_RULE.items():
        whole = caller.read(Variant(VarType.NULL), variant)
        evidence = caller.frames
        cut = caller.read(Variant(VarType.NULL), variant, cut=1)
        observed = {"whole_variant": whole, "variant_without_its_last_byte": cut}
        judge(
            rule,
            expected=facts(whole_variant=READ, variant_without_its_last_byte=FAULT),
            observed=observed,
            evidence=[*evidence, *caller.frames],
        )


@covers("MQMQ-2.2.12-01", "MQMQ-2.2.12-02")
def test_bytes_after_vt_empty_and_vt_null_are_refused(caller, judge):
    """A call with two PROPVARIANTs of VT_EMPTY or VT_NULL succeeds; a call with eight extra bytes after the first
    PROPVARIANT gets a fault.
    """
    for rule, vt in (("MQMQ-2.2.12-01", VarType.EMPTY), ("MQMQ-2.2.12-02", VarType.NULL)):
        without = caller.read(Variant(vt), Variant(vt))
        evidence = caller.frames
        filled = caller.read(Variant(vt, raw=b"\xa5" * 8), Variant(vt))
        observed = {"variant_without_trailing_bytes": without, "variant_with_eight_trailing_bytes": filled}
        judge(
            rule,
            expected=facts(variant_without_trailing_bytes=READ, variant_with_eight_trailing_bytes=FAULT),
            observed=observed,
            evidence=[*evidence, *caller.frames],
        )


@covers("MQMQ-2.2.12-07", "MQMQ-2.2.12-17", "MQMQ-2.2.12-18")
def test_vector_without_type_or_with_wrong_count_is_refused(caller, judge):
    """Calls with vectors of every type succeed. Calls with VT_VARIANT without VT_VECTOR, with VT_VECTOR without a type,
    and with a vector with a wrong count get a fault.
    """
    vector = Variant(VarType.VECTOR | VarType.VARIANT, [Variant(VarType.UI2, 1)])
    observed = {
        "VT_VARIANT_in_a_vector": caller.read(vector),
        "VT_VARIANT_without_a_vector": caller.read(Variant(VarType.VARIANT, raw=bytes(8))),
    }
    judge(
        "MQMQ-2.2.12-07",
        expected=facts(VT_VARIANT_in_a_vector=READ, VT_VARIANT_without_a_vector=FAULT),
        observed=observed,
        evidence=caller.frames,
    )
    judge.conclude("MQMQ-2.2.12-07")
    with_type = [caller.read(one) for one in VECTOR_VARIANTS]
    observed = {
        "vectors_with_a_type": with_type,
        "vector_without_a_type": caller.read(Variant(VarType.VECTOR, raw=bytes(8))),
    }
    expected = facts(vectors_with_a_type=each(READ), vector_without_a_type=FAULT)
    judge("MQMQ-2.2.12-17", expected=expected, observed=observed, evidence=caller.frames)
    judge.conclude("MQMQ-2.2.12-17")
    stub = caller.stub([VECTOR_VARIANTS[3]])
    wrong = caller.ask(stub[:-8] + (2).to_bytes(4, "little") + stub[-4:])
    right = caller.read(VECTOR_VARIANTS[3])
    observed = {
        "vector_with_a_right_count": right,
        "vector_with_a_wrong_count": FAULT if wrong.thrown is not None else wrong.outcome,
    }
    judge(
        "MQMQ-2.2.12-18",
        expected=facts(vector_with_a_right_count=READ, vector_with_a_wrong_count=FAULT),
        observed=observed,
        evidence=caller.frames,
    )
