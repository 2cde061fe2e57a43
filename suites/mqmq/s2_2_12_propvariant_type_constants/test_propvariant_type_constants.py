"""MS-MQMQ 2.2.12 PROPVARIANT Type Constants: PROPVARIANTs in calls and answers of R_QMGetObjectProperties (MS-MQMP
3.1.4.9).
"""

from __future__ import annotations

from itertools import zip_longest
from uuid import UUID

import pytest

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.expectations import each, facts
from harness.judging.verdicts import Verdict
from harness.run.marks import covers, needs
from harness.wire.rpc import NDR, QMCOMM
from harness.wire.rpc_propvariant import (
    OPNUM,
    PROPERTY_TYPES,
    VT_BLOB,
    VT_BOOL,
    VT_CLSID,
    VT_EMPTY,
    VT_I1,
    VT_I2,
    VT_I4,
    VT_I8,
    VT_LPWSTR,
    VT_NULL,
    VT_UI1,
    VT_UI2,
    VT_UI4,
    VT_UI8,
    VT_VARIANT,
    VT_VECTOR,
    Variant,
    get_properties,
    got_properties,
)
from harness.wire.rpc_status import name_status
from harness.wire.wire_error import WireError

pytestmark = needs("qm2qm")

GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000f8")
LABEL = 108
READ, FAULT = "read", "a fault"
OP_RNG_ERROR = 0x1C01_0002
"""nca_s_op_rng_error: the interface has no such method (C706, appendix N)."""
ANSWERS = {
    "MQMQ-2.2.12-02": (LABEL, VT_LPWSTR),
    "MQMQ-2.2.12-03": (106, VT_I2),
    "MQMQ-2.2.12-04": (109, VT_I4),
    "MQMQ-2.2.12-09": (104, VT_UI1),
}
"""Properties whose answers have a type; that of the first is asked for with VT_NULL, which has no data."""
ARMS = {
    "MQMQ-2.2.12-03": Variant(VT_I2, -2),
    "MQMQ-2.2.12-04": Variant(VT_I4, -4),
    "MQMQ-2.2.12-05": Variant(VT_BOOL, 0xFFFF),
    "MQMQ-2.2.12-06": Variant(VT_VECTOR | VT_VARIANT, [Variant(VT_UI4, 5), Variant(VT_I8, -6)]),
    "MQMQ-2.2.12-08": Variant(VT_I1, -1),
    "MQMQ-2.2.12-09": Variant(VT_UI1, 255),
    "MQMQ-2.2.12-10": Variant(VT_UI2, 0xFFFE),
    "MQMQ-2.2.12-11": Variant(VT_UI4, 0xFFFF_FFFD),
    "MQMQ-2.2.12-12": Variant(VT_I8, -8),
    "MQMQ-2.2.12-13": Variant(VT_UI8, 0xFFFF_FFFF_FFFF_FFFC),
    "MQMQ-2.2.12-14": Variant(VT_LPWSTR, "label"),
    "MQMQ-2.2.12-15": Variant(VT_BLOB, b"blobs"),
    "MQMQ-2.2.12-16": Variant(VT_CLSID, GUID),
}
VECTORS = (
    Variant(VT_VECTOR | VT_UI1, [1, 2, 3]),
    Variant(VT_VECTOR | VT_UI2, [4, 5, 6]),
    Variant(VT_VECTOR | VT_I4, [7]),
    Variant(VT_VECTOR | VT_UI4, [8]),
    Variant(VT_VECTOR | VT_UI8, [9]),
    Variant(VT_VECTOR | VT_CLSID, [GUID]),
    Variant(VT_VECTOR | VT_LPWSTR, ["one", "two"]),
)


class Asking:
    """A caller that asks for the properties of the plain queue, in NDR."""

    def __init__(self, remote) -> None:
        self.association = remote.associate(QMCOMM, transfers=(NDR,))
        self.direct = remote.sut.format_name("plain").removeprefix("DIRECT=")
        self.frames: list[Frame] = []

    def stub(self, variants) -> bytes:
        return get_properties(False, self.direct, [LABEL] * len(variants), variants)

    def ask(self, stub):
        call = self.association.raw(OPNUM, stub, self.association.contexts[QMCOMM]).wait()
        self.frames = call.evidence
        return call

    def read(self, *variants, cut=0) -> str:
        """Return whether a stub with these variants, and perhaps without its last bytes, was read."""
        stub = self.stub(variants)
        call = self.ask(stub[: len(stub) - cut])
        return FAULT if call.thrown is not None else READ if call.answered else call.outcome


@pytest.fixture
def asking(remote, judge):
    """Ask for properties, of a system that has the method: it is one of MS-MQMP, which no rule here demands."""
    made = Asking(remote)
    call = made.ask(made.stub([Variant(VT_NULL)]))
    if call.thrown == OP_RNG_ERROR:
        why = "the SUT has no R_QMGetObjectProperties, and no other method takes variants"
        judge.give_up(Verdict.NOT_OBSERVABLE, why)
        pytest.skip(why)
    return made


@covers(*ANSWERS)
def test_each_property_is_answered_in_its_type(asking, judge):
    """A call asks for all properties with VT_NULL: each property is answered in a PROPVARIANT of its type."""
    identifiers = list(PROPERTY_TYPES)
    variants = [Variant(VT_NULL)] * len(identifiers)
    call = asking.ask(get_properties(False, asking.direct, identifiers, variants))
    if call.thrown is not None or not call.answered:
        judge("MQMQ-2.2.12-02", expected=READ, observed=call.outcome, evidence=asking.frames)
        raise ConformanceFailure(f"the SUT did not return its properties: {call.outcome}")
    try:
        found, result = got_properties(call.stub, False)
    except WireError as error:
        raise ConformanceFailure(f"the SUT's answer cannot be read: {error}") from error
    if result:
        raise ConformanceFailure(f"the SUT did not return its properties: {name_status(result)}")
    types = dict(zip_longest(identifiers, [one.vt for one in found]))  # one that is missing is judged, too
    for rule, (identifier, expected) in ANSWERS.items():
        judge(rule, expected=expected, observed=types.get(identifier), evidence=asking.frames)


@covers(*ARMS)
def test_propvariant_one_byte_short_is_refused(asking, judge):
    """A call with a PROPVARIANT of each type is read; without the last byte of the PROPVARIANT it gets a fault."""
    for rule, variant in ARMS.items():
        whole = asking.read(Variant(VT_NULL), variant)
        evidence = asking.frames
        cut = asking.read(Variant(VT_NULL), variant, cut=1)
        observed = {"whole": whole, "cut": cut}
        judge(rule, expected=facts(whole=READ, cut=FAULT), observed=observed, evidence=[*evidence, *asking.frames])


@covers("MQMQ-2.2.12-01", "MQMQ-2.2.12-02")
def test_bytes_behind_vt_empty_and_vt_null_are_refused(asking, judge):
    """A call with two PROPVARIANTs of VT_EMPTY or VT_NULL is read; with eight bytes behind the first it gets a
    fault.
    """
    for rule, vt in (("MQMQ-2.2.12-01", VT_EMPTY), ("MQMQ-2.2.12-02", VT_NULL)):
        without = asking.read(Variant(vt), Variant(vt))
        evidence = asking.frames
        filled = asking.read(Variant(vt, raw=b"\xa5" * 8), Variant(vt))
        observed = {"without": without, "filled": filled}
        judge(rule, expected=facts(without=READ, filled=FAULT), observed=observed, evidence=[*evidence, *asking.frames])


@covers("MQMQ-2.2.12-07", "MQMQ-2.2.12-17", "MQMQ-2.2.12-18")
def test_vector_without_type_or_with_wrong_count_is_refused(asking, judge):
    """Vectors of every type are read.

    VT_VARIANT without VT_VECTOR, VT_VECTOR without a type, and a vector with a wrong count get a fault.
    """
    vector = Variant(VT_VECTOR | VT_VARIANT, [Variant(VT_UI2, 1)])
    seen = {"in_a_vector": asking.read(vector), "alone": asking.read(Variant(VT_VARIANT, raw=bytes(8)))}
    judge("MQMQ-2.2.12-07", expected=facts(in_a_vector=READ, alone=FAULT), observed=seen, evidence=asking.frames)
    judge.conclude("MQMQ-2.2.12-07")
    kinds = [asking.read(one) for one in VECTORS]
    seen = {"of_something": kinds, "of_nothing": asking.read(Variant(VT_VECTOR, raw=bytes(8)))}
    expected = facts(of_something=each(READ), of_nothing=FAULT)
    judge("MQMQ-2.2.12-17", expected=expected, observed=seen, evidence=asking.frames)
    judge.conclude("MQMQ-2.2.12-17")
    stub = asking.stub([VECTORS[3]])
    wrong = asking.ask(stub[:-8] + (2).to_bytes(4, "little") + stub[-4:])
    counted = asking.read(VECTORS[3])
    seen = {"right": counted, "wrong": FAULT if wrong.thrown is not None else wrong.outcome}
    judge("MQMQ-2.2.12-18", expected=facts(right=READ, wrong=FAULT), observed=seen, evidence=asking.frames)
