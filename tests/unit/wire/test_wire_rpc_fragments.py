"""C706 12.6.4.9, 12.6.4.10: the tester makes the same fragments as scapy, and reads fragments as scapy does."""

from __future__ import annotations

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scapy.layers.dcerpc import DceRpc5Request, DceRpc5Response
from scapy.packet import Raw

from harness.wire import rpc_fragments
from harness.wire.rpc import (
    VERIFICATION_TRAILER,
    bind_nak,
    build_co_cancel_pdu,
    build_pdu,
    dissect_rpc,
    fault,
    get_rpc_kind,
    read_stub,
)
from harness.wire.rpc_fragments import (
    Fragment,
    build_request_fragments,
    build_response_fragments,
    consists_of_header_and_stub,
    parse_fragment,
)
from harness.wire.rpc_trailer import CONNECT_LEVEL, NTLM_AUTHENTICATION_TYPE, SecTrailer, append_trailer

STUB = bytes(range(40))
WITH_OBJECT = bytes(build_pdu("request", 7, DceRpc5Request(cont_id=1, opnum=4, object=UUID(int=9)) / Raw(STUB), 0x83))
BIG_ENDIAN = bytes(build_pdu("request", 7, DceRpc5Request(cont_id=1, opnum=4) / Raw(STUB), endian=0))
WHOLE = [
    *build_request_fragments(7, 1, 4, STUB),
    *build_request_fragments(7, 1, 4, b""),
    *build_request_fragments(7, 1, 4, STUB, fragment=48, flags=0x40),
    *build_response_fragments(7, 1, STUB),
    *build_request_fragments(7, 1, 4, STUB + VERIFICATION_TRAILER + STUB),
    append_trailer(
        build_request_fragments(7, 1, 4, STUB)[0], SecTrailer(NTLM_AUTHENTICATION_TYPE, CONNECT_LEVEL, 0, bytes(16), 8)
    ),
    WITH_OBJECT,
    BIG_ENDIAN,
]


def test_built_rpc_fragments_equal_those_of_scapy() -> None:
    part = DceRpc5Request(alloc_hint=len(STUB), cont_id=1, opnum=4) / Raw(STUB)
    assert build_request_fragments(7, 1, 4, STUB) == [bytes(build_pdu("request", 7, part))]
    part = DceRpc5Response(alloc_hint=len(STUB), cont_id=1) / Raw(STUB)
    assert build_response_fragments(7, 1, STUB) == [bytes(build_pdu("response", 7, part))]


@pytest.mark.parametrize("data", WHOLE)
def test_parsed_rpc_fragment_equals_that_of_scapy(data: bytes) -> None:
    packet = dissect_rpc(data)
    opnum = packet.payload.opnum if get_rpc_kind(data) == "request" else 0
    expected = Fragment(packet.call_id, int(packet.pfc_flags), packet.payload.cont_id, opnum, read_stub(packet))
    assert parse_fragment(data) == expected


def test_plain_rpc_fragments_are_built_without_scapy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(rpc_fragments, "dissect_rpc")
    assert parse_fragment(build_request_fragments(7, 1, 4, STUB)[0]) == Fragment(7, 3, 1, 4, STUB)
    assert parse_fragment(build_response_fragments(7, 1, STUB)[0]) == Fragment(7, 3, 1, 0, STUB)


@given(st.data())
def test_plain_rpc_fragment_is_parsed_like_scapy(data: st.DataObject) -> None:
    good = data.draw(
        st.sampled_from([*WHOLE, bytes(fault(7, 1, 5)), bytes(build_co_cancel_pdu(7)), bytes(bind_nak(7, 1))])
    )
    spoilt = bytearray(good)
    for at in data.draw(st.lists(st.integers(0, min(len(good), 40) - 1), max_size=3)):
        spoilt[at] = data.draw(st.integers(0, 255))
    cut = bytes(spoilt[: data.draw(st.integers(0, len(spoilt)) | st.just(len(spoilt)))])
    if consists_of_header_and_stub(cut):
        packet = dissect_rpc(cut)
        opnum = packet.payload.opnum if get_rpc_kind(cut) == "request" else 0
        read = Fragment(packet.call_id, int(packet.pfc_flags), packet.payload.cont_id, opnum, read_stub(packet))
        assert parse_fragment(cut) == read


@pytest.mark.parametrize(
    "data",
    [b"", build_request_fragments(7, 1, 4, STUB)[0][:-1], build_response_fragments(7, 1, STUB)[0] + b"x", WITH_OBJECT],
)
def test_truncated_or_extended_rpc_fragment_is_not_parsed_as_plain(data: bytes) -> None:
    assert not consists_of_header_and_stub(data)
