"""For any bytes, the DCE/RPC runtime either understands them or refuses them with a typed error; a wrong length field
allocates no memory.
"""

import tracemalloc
from uuid import UUID

import pytest
from budgets import MANY, SOME, budget
from hypothesis import example, given
from hypothesis import strategies as st

from reference_qm.rpc import (
    EPT,
    QM2QM,
    QMCOMM,
    AssociationLimits,
    CallReceived,
    CloseAssociation,
    PduError,
    RpcServer,
    SendBytes,
    StubError,
)
from reference_qm.rpc.bind_bodies import Bind, PresentationContextElement
from reference_qm.rpc.bodies import CoCancel, Orphaned, Request
from reference_qm.rpc.header import WHOLE_PDU_FLAGS, Header, PfcFlags
from reference_qm.rpc.ndr import StubEncoding
from reference_qm.rpc.pdu import Pdu
from reference_qm.rpc.syntaxes import NDR, NDR64
from reference_qm.rpc.towers import ProtocolTower
from reference_qm.surface.clock import Now
from reference_qm.surface.entropy import SeededEntropy

NOW = Now(0, 0)
METHODS = [one for interface in (QM2QM, QMCOMM, EPT) for one in interface.methods.values()]
ENCODINGS = st.builds(StubEncoding, st.booleans(), st.sampled_from("<>"))
LIMITS = AssociationLimits(pending_calls=4, handles=4, stub_bytes=4096)

uuids = st.integers(0, 2**128 - 1).map(lambda number: UUID(int=number))
elements = st.builds(
    PresentationContextElement,
    st.integers(0, 3),
    st.sampled_from([QM2QM.syntax, QMCOMM.syntax]),
    st.lists(st.sampled_from([NDR, NDR64]), min_size=1, max_size=2).map(tuple),
)
binds = st.builds(Bind, st.just(5840), st.just(5840), st.just(0), st.lists(elements, min_size=1, max_size=3).map(tuple))
requests = st.builds(
    Request,
    st.integers(0, 3),
    st.integers(0, 12),
    st.one_of(st.binary(max_size=80), st.integers(0, 60).map(bytes)),
    st.sampled_from([0, 0, 0, 1, 2**32 - 1]),
    st.one_of(st.none(), uuids),
)
flags = st.sampled_from(
    [
        WHOLE_PDU_FLAGS,
        WHOLE_PDU_FLAGS,
        WHOLE_PDU_FLAGS,
        PfcFlags.FIRST_FRAG,
        PfcFlags.LAST_FRAG,
        0,
        WHOLE_PDU_FLAGS | PfcFlags.CONC_MPX,
    ]
)
pdus = st.builds(
    Pdu,
    st.one_of(requests, requests, requests, binds, st.just(CoCancel()), st.just(Orphaned())),
    st.integers(0, 40),
    flags,
    st.sampled_from([b"\x10\0\0\0", bytes(4)]),
)


@st.composite
def mutated(draw):
    wire = bytearray(draw(pdus).build())
    for _ in range(draw(st.integers(0, 2))):
        at = draw(st.integers(0, len(wire) - 1))
        wire[at : at + draw(st.integers(0, 3))] = draw(st.binary(max_size=3))
        if not wire:
            return b""
    if len(wire) >= 10 and draw(st.booleans()):
        wire[8:10] = len(wire).to_bytes(2, "little")
    return bytes(wire)


@budget(MANY)
@given(st.one_of(st.binary(max_size=100), mutated()))
@example(bytes.fromhex("05001080 10000000 10000000 00000000"))  # an auth3 with the flag of an object, which it has not
def test_arbitrary_bytes_give_a_round_tripping_pdu_or_a_pdu_error(data):
    try:
        pdu = Pdu.parse(data)
    except PduError as error:
        assert error.field
        assert error.section.startswith(("C706", "MS-RPCE"))
        assert 0 <= error.offset <= max(len(data), 16)
        assert "\n" not in str(error)
        return
    assert Pdu.parse(pdu.build()) == pdu


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
@budget(SOME)
@given(stub=st.one_of(st.binary(max_size=200), st.integers(0, 600).map(bytes)), encoding=ENCODINGS)
def test_arbitrary_stub_gives_round_tripping_arguments_or_a_stub_error(method, stub, encoding):
    try:
        arguments = method.read_in_parameters(stub, encoding)
    except StubError as error:
        assert error.field
        assert error.section.startswith("MS-")
        assert 0 <= error.offset <= len(stub) + 8
        assert "\n" not in str(error)
        return
    assert method.read_in_parameters(method.build_in_parameters(arguments, encoding), encoding) == arguments


@budget(MANY)
@given(st.one_of(st.binary(max_size=120), st.builds(bytes.__add__, st.just(b"\5\0\x13\0\x0d"), st.binary(max_size=90))))
def test_arbitrary_tower_octets_give_a_tower_or_a_stub_error(octets):
    try:
        tower = ProtocolTower.parse(octets)
    except StubError:
        return
    assert tower is None or ProtocolTower.parse(tower.build()) == tower


def run(association, chunks):
    """Feed an association, and answer every second call; return the sent bytes and whether the association ended."""
    answers, ended, answered = b"", False, 0
    for chunk in chunks:
        happened = association.receive_bytes(chunk, NOW)
        while happened:
            one = happened.pop(0)
            if isinstance(one, SendBytes):
                assert not ended
                answers += one.data
            elif isinstance(one, CloseAssociation):
                ended = True
            elif isinstance(one, CallReceived):
                answered += 1
                if answered % 2:
                    happened = one.call.fault(0x1C000012) + happened
        assert len(association.calls) <= LIMITS.pending_calls
    return answers, ended


@budget(SOME)
@given(
    st.lists(st.one_of(mutated(), pdus.map(Pdu.build)), max_size=12),
    st.lists(st.integers(1, 40), max_size=8),
    st.booleans(),
)
def test_association_survives_any_client_whatever_the_chunks_of_its_stream(wires, cuts, bound):
    opening = Pdu(
        Bind(5840, 5840, 0, (PresentationContextElement(0, QM2QM.syntax, (NDR,)),)),
        1,
        WHOLE_PDU_FLAGS | PfcFlags.CONC_MPX,
    ).build()
    stream = (opening if bound else b"") + b"".join(wires)
    pieces, rest = [], stream
    for cut in cuts:
        pieces, rest = [*pieces, rest[:cut]], rest[cut:]
    results = []
    for chunks in ([stream], [*pieces, rest], [stream[i : i + 1] for i in range(len(stream))]):
        server = RpcServer([QM2QM, QMCOMM], SeededEntropy("hostile"), LIMITS)
        association = server.accept("127.0.0.1", "2105", NOW)
        results.append(run(association, chunks))
        association.on_connection_lost()
        assert (len(server.groups), server.groups.handle_count, len(association.calls)) == (0, 0, 0)
    assert results[0] == results[1] == results[2]
    data = results[0][0]
    while data:  # whatever was answered is whole PDUs
        size = Header.parse(data[:16]).frag_length
        Pdu.parse(data[:size])
        data = data[size:]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
@pytest.mark.parametrize("wide", [False, True])
def test_stub_of_huge_counts_allocates_no_memory(method, wide):
    stubs = [octet * 400 for octet in (b"\xff", b"\x7f", b"\xff\xff\xff\x7f", b"\1\0\0\0", b"\1\0\0\0\0\0\0\0")]
    tracemalloc.start()
    try:
        for stub in stubs:
            with pytest.raises(StubError):
                method.read_in_parameters(stub, StubEncoding(wide))
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()
