"""The DCE/RPC tables read every value back from the bytes that they build for it, in every encoding."""

from uuid import UUID

import pytest
from budgets import FEW, budget
from hypothesis import given
from hypothesis import strategies as st

from reference_qm.rpc import EPT, QM2QM, QMCOMM
from reference_qm.rpc.interfaces import Direction
from reference_qm.rpc.ndr import (
    ENUM,
    GUID,
    U8,
    WCHAR,
    ConformantArray,
    ConformantVaryingArray,
    ContextHandleType,
    FixedArray,
    Pointer,
    Struct,
    StubEncoding,
    Union,
    WideString,
)
from reference_qm.rpc.ndr.types import UnsignedIntegerType
from reference_qm.rpc.syntaxes import SyntaxId
from reference_qm.rpc.towers import ProtocolTower

METHODS = [one for interface in (QM2QM, QMCOMM, EPT) for one in interface.methods.values()]
ENCODINGS = [StubEncoding(wide, order) for wide in (False, True) for order in "<>"]
LONGEST = 6

uuids = st.integers(1, 2**128 - 1).map(lambda number: UUID(int=number))


def array(draw, element, size):
    if element is U8:
        return draw(st.binary(min_size=size, max_size=size))
    if element is WCHAR:
        return "".join(draw(st.lists(st.characters(max_codepoint=0xFFFF), min_size=size, max_size=size)))
    return [value_of(draw, element, {}) for _ in range(size)]


def extent(given_, scope):
    return given_ if isinstance(given_, int) else scope[given_]


def value_of(draw, kind, scope):
    """Draw a value of a type. Where the type has a size, ``scope`` contains the fields that determine it."""
    if isinstance(kind, UnsignedIntegerType):
        low, high = kind.limits or (0, 2 ** (8 * kind.size) - 1)
        return draw(st.integers(low, high))
    if kind is ENUM:
        return draw(st.integers(0, 0x7FFF))
    if kind is GUID:
        return draw(uuids)
    if isinstance(kind, ContextHandleType):
        return draw(st.one_of(st.none(), uuids))
    if isinstance(kind, WideString):
        return draw(st.text(st.characters(min_codepoint=1), max_size=LONGEST))
    if isinstance(kind, FixedArray):
        return array(draw, kind.element, kind.size)
    if isinstance(kind, ConformantArray):
        return array(draw, kind.element, extent(kind.size_is, scope))
    if isinstance(kind, ConformantVaryingArray):
        return array(draw, kind.element, extent(kind.length_is, scope))
    if isinstance(kind, Union):
        arm = kind.arms[scope[kind.switch_is]]
        return None if arm is None else value_of(draw, arm, scope)
    if isinstance(kind, Pointer):
        target = kind.target
        sized = isinstance(target, ConformantArray | ConformantVaryingArray) and extent(target.size_is, scope)
        if not sized and draw(st.booleans()):
            return None
        return value_of(draw, target, scope)
    assert isinstance(kind, Struct)
    return fields(draw, kind)


def fields(draw, struct):
    """Draw a structure: first the numbers that determine the sizes of the other fields."""
    sizes, switches = set(), {}
    for kind in struct.fields.values():
        sizes |= set(sizes_of(kind))
        if isinstance(kind, Union):
            switches[kind.switch_is] = sorted(kind.arms)
    value = {}
    for name in struct.fields:
        if name in sizes:
            value[name] = draw(st.integers(0, LONGEST))
        elif name in switches:
            value[name] = draw(st.sampled_from(switches[name]))
    for pair in pairs_of(struct):
        value[pair[1]] = min(value[pair[1]], value[pair[0]])
    for name, kind in struct.fields.items():
        if name not in value:
            value[name] = value_of(draw, kind, value)
    return {name: value[name] for name in struct.fields}


def behind(kind):
    while isinstance(kind, Pointer):
        kind = kind.target
    return kind


def sizes_of(kind):
    kind = behind(kind)
    return [one for one in (getattr(kind, "size_is", None), getattr(kind, "length_is", None)) if isinstance(one, str)]


def pairs_of(struct):
    """Return the names of the fields (size_is, length_is) of each varying array of a structure."""
    varying = [one for one in map(behind, struct.fields.values()) if isinstance(one, ConformantVaryingArray)]
    return [(one.size_is, one.length_is) for one in varying if isinstance(one.size_is, str)]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
@budget(FEW)
@given(st.data(), st.sampled_from(ENCODINGS))
def test_requests_and_responses_are_read_as_they_were_built(method, data, encoding):
    values = {"max_towers": LONGEST, "num_towers": data.draw(st.integers(0, LONGEST))}
    for one in method.parameters:
        values.setdefault(one.name, value_of(data.draw, one.type, values))
    arguments = {one.name: values[one.name] for one in method.parameters if one.direction & Direction.IN}
    results = {one.name: values[one.name] for one in method.parameters if one.direction & Direction.OUT}
    assert method.read_in_parameters(method.build_in_parameters(arguments, encoding), encoding) == arguments
    assert (
        method.read_out_parameters(method.build_out_parameters(results, encoding, arguments), encoding, arguments)
        == results
    )


syntaxes = st.builds(SyntaxId, uuids, st.integers(0, 2**32 - 1))


@given(st.builds(ProtocolTower, syntaxes, syntaxes, st.integers(0, 0xFFFF), st.ip_addresses(v=4)))
def test_towers_are_read_as_they_were_built(tower):
    assert ProtocolTower.parse(tower.build()) == tower
