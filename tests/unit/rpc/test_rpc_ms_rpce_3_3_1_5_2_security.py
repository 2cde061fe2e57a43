"""MS-RPCE 3.3.1.5.2, 3.3.1.5.4, 2.2.2.11 to 2.2.2.13: the security contexts of a server's association."""

from __future__ import annotations

import struct

import pytest
from budgets import FEW, budget
from hypothesis import given
from hypothesis import strategies as st
from rpc_made import NOW, closed, element, pdus, received, sent
from rpc_secured import CONTEXT, LEGS, NTLM, SIGNATURE_SIZE, SecuredClient

from reference_qm.rpc import QM2QM, AssociationLimits, CallReceived
from reference_qm.rpc.authentication import AuthLevel, parse_authentication_level
from reference_qm.rpc.bind_bodies import AlterContext, BindAck, BindNak
from reference_qm.rpc.bodies import Auth3, CoCancel, Fault, Request
from reference_qm.rpc.header import PfcFlags, SecTrailer
from reference_qm.rpc.ndr import StubEncoding
from reference_qm.rpc.pdu import Pdu
from reference_qm.rpc.protection import NegotiatedSecurity, build_call_fragments, split_pdu_segments
from reference_qm.rpc.status import FaultStatus, RejectReason
from reference_qm.rpc.syntaxes import NDR, NDR64

VERSION = 8
"""The opnum of RemoteQmGetVersion, whose request has no stub data."""
SIGNING = [AuthLevel.CALL, AuthLevel.PKT, AuthLevel.PKT_INTEGRITY, AuthLevel.PKT_PRIVACY]
SIGNATURE = bytes.fromhex("8ae3137102f43671")


def version(client: SecuredClient, stub: bytes = b"") -> bytes:
    return client.protected(Request(0, VERSION, stub))


def refused(happened: list, status: int) -> None:
    """Check that the only output is a fault with the given status, and that the association ends."""
    (fault,) = sent(happened)
    assert isinstance(fault.body, Fault)
    assert fault.body.status == status
    assert fault.pfc_flags & PfcFlags.DID_NOT_EXECUTE
    assert closed(happened)
    assert not any(isinstance(one, CallReceived) for one in happened)


# -- legs --------------------------------------------------------------------------------------------------------------


def test_three_authentication_legs_build_a_security_context():
    client = SecuredClient()
    (ack,) = sent(client.begin())
    assert isinstance(ack.body, BindAck)
    assert ack.sec_trailer == SecTrailer(NTLM, AuthLevel.PKT_INTEGRITY, CONTEXT, LEGS[1])
    assert client.finish() == []
    call = received(client.feed(version(client)))
    assert (call.level, call.identity) == (AuthLevel.PKT_INTEGRITY, "alice")


@pytest.mark.parametrize("asked", [False, True])
def test_header_signing_is_negotiated_on_request(asked):
    client = SecuredClient(signs_header=False)
    (ack,) = sent(client.begin(header_sign=asked))
    assert bool(ack.pfc_flags & PfcFlags.SUPPORT_HEADER_SIGN) is asked
    client.finish()
    client.call_id = 1
    moved = bytearray(version(client))
    moved[12] ^= 0x40  # call_id: only header signing covers it
    happened = client.feed(bytes(moved))
    assert closed(happened) is asked


def test_invalid_authentication_token_is_refused_at_bind():
    client = SecuredClient()
    (nak,) = sent(client.begin(token=b"other"))
    assert isinstance(nak.body, BindNak)
    assert nak.body.provider_reject_reason == RejectReason.INVALID_CHECKSUM
    assert closed(client.happened)
    assert len(client.server.groups) == 0


def test_invalid_last_authentication_leg_is_reported_at_first_call():
    client = SecuredClient()
    client.begin()
    assert client.finish(b"wrong") == []
    refused(client.feed(Pdu(Request(0, VERSION, b""), 2).build()), FaultStatus.ACCESS_DENIED)


def test_invalid_authentication_leg_in_alter_context_gives_a_fault():
    client = SecuredClient()
    client.begin()
    alter = AlterContext(5840, 5840, 0, (element(0, QM2QM.syntax, NDR),))
    happened = client.feed(Pdu(alter, 1, sec_trailer=client.own.build_trailer(b"wrong")).build())
    refused(happened, FaultStatus.ACCESS_DENIED)


def test_alter_context_answer_has_a_token_only_if_the_provider_returns_one():
    client = SecuredClient()
    client.begin()
    alter = AlterContext(5840, 5840, 0, (element(0, QM2QM.syntax, NDR),))
    (answer,) = sent(client.feed(Pdu(alter, 1, sec_trailer=client.own.build_trailer(LEGS[2])).build()))
    assert answer.sec_trailer is None
    assert client.contexts[0].is_complete


def test_authentication_legs_are_limited_in_number_and_length():
    client = SecuredClient(limits=AssociationLimits(auth_legs=1))
    client.begin()
    assert client.finish() == []
    refused(client.feed(version(client)), FaultStatus.ACCESS_DENIED)
    long = SecuredClient(limits=AssociationLimits(token_bytes=64))
    (nak,) = sent(long.begin(token=bytes(65)))
    assert isinstance(nak.body, BindNak)
    assert long.contexts[0].taken == []


def test_authentication_leg_after_the_last_and_second_security_context_are_refused():
    client = SecuredClient().authenticate()
    client.finish(LEGS[2])
    refused(client.feed(version(client)), FaultStatus.ACCESS_DENIED)
    other = SecuredClient().authenticate()
    alter = AlterContext(5840, 5840, 0, (element(0, QM2QM.syntax, NDR),))
    second = SecTrailer(NTLM, AuthLevel.PKT_PRIVACY, CONTEXT + 1, LEGS[0])
    refused(other.feed(Pdu(alter, 2, sec_trailer=second).build()), FaultStatus.RPC_S_PROTOCOL_ERROR)


def test_a_call_in_the_middle_of_an_authentication_breaks_the_protocol():
    client = SecuredClient()
    client.begin()
    refused(client.feed(Pdu(Request(0, VERSION, b""), 2).build()), FaultStatus.NCA_S_PROTO_ERROR)


def test_unfinished_authentication_has_a_time_limit():
    client = SecuredClient()
    client.begin()
    assert client.association.next_due() == NOW.monotonic_ms + AssociationLimits().response_timeout_ms
    client.finish()
    assert client.association.next_due() is None


def test_unknown_authentication_levels_are_refused_and_two_are_raised():
    assert [parse_authentication_level(wire) for wire in (0, 1, 2, 3, 4, 7)] == [2, None, 2, 4, 4, None]
    client = SecuredClient()
    client.own.auth_level = 7
    (nak,) = sent(client.begin())
    assert isinstance(nak.body, BindNak)
    assert client.contexts == []


@pytest.mark.parametrize("trailer", [None, SecTrailer(NTLM, 5, CONTEXT, b"stray")])
def test_empty_last_authentication_leg_ends_association_without_answer(trailer):
    client = SecuredClient()
    client.bind()
    assert sent(client.send(Auth3(), 1, sec_trailer=trailer)) == []
    assert closed(client.happened)


# -- calls -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", SIGNING)
def test_requests_and_responses_are_protected_with_padding_to_16(level):
    client = SecuredClient(level).authenticate()
    call = received(client.feed(client.protected(Request(0, 2, client.opening_stub()))))
    assert call.level == (AuthLevel.PKT if level == AuthLevel.CALL else level)
    wire = call.respond(Return=0, phContext=call.make_context_handle("queue"))[0].data
    trailer = pdus(wire)[0].sec_trailer
    assert (trailer.auth_type, trailer.auth_level, trailer.auth_context_id) == (NTLM, level, CONTEXT)
    segments = split_pdu_segments(wire)
    assert [len(one) for one in segments] == [24, 32, 8]
    assert (trailer.auth_pad_length, len(trailer.token)) == (8, SIGNATURE_SIZE)
    plain = client.own.unprotect_pdu(wire).body.stub
    assert (plain in wire) is (level != AuthLevel.PKT_PRIVACY)
    assert QM2QM.methods[2].read_out_parameters(plain, StubEncoding(), {})["Return"] == 0


def test_rpc_calls_at_level_connect_may_have_a_security_token():
    client = SecuredClient(AuthLevel.CONNECT).authenticate()
    assert received(client.feed(version(client))).level is AuthLevel.CONNECT
    second = SecuredClient(AuthLevel.CONNECT).authenticate()
    verifier = second.own.build_trailer(b"\1" + bytes(15))
    call = received(second.feed(Pdu(Request(0, VERSION, b""), 2, sec_trailer=verifier).build()))
    (answer,) = sent(call.respond(pMajor=6, pMinor=0, pBuildNumber=1))
    assert answer.sec_trailer is None


@pytest.mark.parametrize("level", SIGNING)
def test_rpc_call_without_a_security_token_is_denied(level):
    client = SecuredClient(level).authenticate()
    refused(client.feed(Pdu(Request(0, VERSION, b""), 2).build()), FaultStatus.ACCESS_DENIED)


@pytest.mark.parametrize("change", [{"auth_type": 9}, {"auth_level": 2}, {"auth_context_id": 3}])
def test_rpc_call_with_wrong_security_context_type_or_level_is_denied(change):
    client = SecuredClient().authenticate()
    for name, value in change.items():
        setattr(client.own, name, value)
    refused(client.feed(version(client)), FaultStatus.ACCESS_DENIED)


@pytest.mark.parametrize("level", SIGNING)
def test_replayed_rpc_request_is_rejected(level):
    client = SecuredClient(level).authenticate()
    wire = version(client)
    call = received(client.feed(wire))
    call.respond(pMajor=6, pMinor=0, pBuildNumber=1)
    refused(client.feed(wire), FaultStatus.RPC_S_SEC_PKG_ERROR)


@pytest.mark.parametrize("level", SIGNING)
@budget(FEW)
@given(data=st.data())
def test_any_flipped_bit_of_a_signed_rpc_request_is_detected(level, data):
    client = SecuredClient(level).authenticate(header_sign=True)
    wire = bytearray(version(client, bytes(40)))
    place = data.draw(st.integers(24, len(wire) - 1))
    wire[place] ^= 1 << data.draw(st.integers(0, 7))
    happened = client.feed(bytes(wire))
    assert closed(happened)
    assert not any(isinstance(one, CallReceived) for one in happened)


def test_cancel_is_accepted_without_token_and_rejected_with_wrong_token():
    client = SecuredClient().authenticate()
    received(client.feed(version(client)))
    assert not closed(client.feed(Pdu(CoCancel(), client.call_id).build()))
    forged = Pdu(CoCancel(), client.call_id, sec_trailer=client.own.build_trailer(bytes(16))).build()
    assert closed(client.feed(forged))


def test_nonzero_bytes_after_the_rpc_signature_end_the_association():
    client = SecuredClient().authenticate()
    client.own.context.signature_size = 20  # the fixed provider signs with 16
    wire = client.protected(Request(0, VERSION, b"")) + b"\1\0\0\0"
    happened = client.feed(wire)
    assert closed(happened)


@budget(FEW)
@given(level=st.sampled_from(SIGNING), data=st.data())
def test_bytes_of_a_client_that_were_changed_are_answered_or_refused(level, data):
    client = SecuredClient(level)
    changes = data.draw(st.lists(st.tuples(st.integers(0, 400), st.integers(1, 255)), min_size=1, max_size=3))
    total = 0
    original = client.association.receive_bytes

    def feed(wire: bytes, now: object) -> list:
        nonlocal total
        changed = bytearray(wire)
        for place, mask in changes:
            if total <= place < total + len(wire):
                changed[place - total] ^= mask
        total += len(wire)
        return original(bytes(changed), now)

    client.association.receive_bytes = feed
    client.begin()
    client.finish()
    client.call_id = 1
    client.feed(version(client))
    client.association.on_connection_lost()
    assert len(client.server.groups) == 0


# -- fragments ---------------------------------------------------------------------------------------------------------


@budget(FEW)
@given(
    stub=st.binary(max_size=9_000),
    size=st.integers(1_432, 5_840),
    level=st.sampled_from([AuthLevel.CONNECT, AuthLevel.PKT_INTEGRITY, AuthLevel.PKT_PRIVACY]),
)
def test_every_rpc_fragment_fits_its_size_with_its_own_signature(stub, size, level):
    pair = SecuredClient(level).authenticate()
    context = pair.contexts[0]
    agreed = NegotiatedSecurity(NTLM, level, level, CONTEXT, context)

    def make(part: bytes, rest: int, flags: int) -> Pdu:
        return Pdu(Request(0, 1, part, rest), 2, flags)

    cut = build_call_fragments(stub, size, pair.own, make)
    found = b""
    while cut:
        length = int.from_bytes(cut[8:10], "little")
        assert length <= size
        pdu = agreed.unprotect_pdu(cut[:length]) if level.signs_each_pdu else Pdu.parse(cut[:length])
        assert pdu.body.alloc_hint == len(stub) - len(found)
        found += pdu.body.stub
        cut = cut[length:]
    assert found == stub


def test_signed_fragments_of_a_request_give_one_call():
    client = SecuredClient(AuthLevel.PKT_PRIVACY).authenticate()
    stub = client.opening_stub()
    assert client.feed(client.protected(Request(0, 2, stub[:16]), PfcFlags.FIRST_FRAG)) == []
    call = received(client.feed(client.protected(Request(0, 2, stub[16:]), PfcFlags.LAST_FRAG)))
    assert call.method.name == "RemoteQMOpenQueue"


# -- verification trailer ----------------------------------------------------------------------------------------------


def command(kind: int, value: bytes, flags: int = 0) -> bytes:
    return struct.pack("<HH", kind | flags, len(value)) + value


def syntax(syntax_id) -> bytes:
    return syntax_id.uuid.bytes_le + struct.pack("<I", syntax_id.version)


BITMASK = command(1, struct.pack("<I", 1), 0x4000)
PCONTEXT = command(2, syntax(QM2QM.syntax) + syntax(NDR), 0x4000)
HEADER2 = command(3, struct.pack("<B3x4sIHH", 0, b"\x10\0\0\0", 2, 0, VERSION), 0x4000)


@pytest.mark.parametrize(
    ("trailer", "is_true"),
    [
        (BITMASK, True),
        (PCONTEXT, True),
        (HEADER2, True),
        (command(2, syntax(QM2QM.syntax) + syntax(NDR)) + HEADER2, True),
        (command(9, b"", 0x4000), True),
        (command(9, b"", 0xC000), False),
        (command(2, syntax(QM2QM.syntax) + syntax(NDR64), 0x4000), False),
        (command(3, struct.pack("<B3x4sIHH", 0, b"\x10\0\0\0", 2, 0, VERSION + 1), 0x4000), False),
        (command(1, b"", 0x4000), False),
    ],
)
@pytest.mark.parametrize("padding", [0, 4])
def test_a_verification_trailer_is_checked_and_is_no_stub_data(trailer, is_true, padding):
    client = SecuredClient().authenticate(header_sign=True)
    happened = client.feed(version(client, bytes(padding) + SIGNATURE + trailer))
    if is_true:
        assert received(happened).method.name == "RemoteQmGetVersion"
    else:
        assert sent(happened)[0].body.status == FaultStatus.ACCESS_DENIED


def test_header_signing_without_request_is_refused():
    client = SecuredClient().authenticate()
    happened = client.feed(version(client, SIGNATURE + BITMASK))
    assert sent(happened)[0].body.status == FaultStatus.ACCESS_DENIED


@pytest.mark.parametrize("rest", [b"", b"\1", BITMASK[:-1], BITMASK + b"\0", command(1, b"\1\0\0\0")])
def test_octets_that_only_look_like_a_verification_trailer_are_stub_data(rest):
    client = SecuredClient().authenticate(header_sign=True)
    happened = client.feed(version(client, SIGNATURE + rest))
    assert sent(happened)[0].body.status == FaultStatus.RPC_X_BAD_STUB_DATA


def test_verification_trailer_is_stub_data_without_a_security_context():
    client = SecuredClient()
    client.bind()
    happened = client.request(VERSION, SIGNATURE + BITMASK)
    assert sent(happened)[0].body.status == FaultStatus.RPC_X_BAD_STUB_DATA
