"""C706 12.6; MS-RPCE 2.2.2: connection-oriented PDUs, byte for byte."""

from uuid import UUID

import pytest
from rpc_made import element

from reference_qm.codec.format_error import MisuseError
from reference_qm.rpc import QM2QM, PduError
from reference_qm.rpc.bind_bodies import (
    AlterContext,
    AlterContextResp,
    Bind,
    BindAck,
    BindNak,
    PresentationContextResult,
)
from reference_qm.rpc.bodies import CoCancel, Fault, Orphaned, Request, Response, Shutdown
from reference_qm.rpc.header import PfcFlags, SecTrailer
from reference_qm.rpc.pdu import Pdu, PduFramer
from reference_qm.rpc.syntaxes import NDR, NDR64

QM2QM_WIRE = "80a98810e5ead0118d9b00a02453c337 01000000"
NDR_WIRE = "045d888aeb1cc9119fe808002b104860 02000000"
NDR64_WIRE = "33057171babe37498319b5dbef9ccc36 01000000"
GROUP = 0x12345678

VECTORS = {
    "bind": (
        "05000b13 10000000 7400 0000 02000000 d016 d016 00000000 02000000"
        f"0000 01 00 {QM2QM_WIRE} {NDR_WIRE} 0100 01 00 {QM2QM_WIRE} {NDR64_WIRE}",
        Pdu(
            Bind(5840, 5840, 0, (element(0, QM2QM.syntax, NDR), element(1, QM2QM.syntax, NDR64))),
            2,
            PfcFlags.FIRST_FRAG | PfcFlags.LAST_FRAG | PfcFlags.CONC_MPX,
        ),
    ),
    "big-endian bind": (
        "05000b03 00000000 0048 0000 00000002 16d0 16d0 00000007 01000000 0001 01 00"
        "1088a980eae511d08d9b00a02453c337 00000001 8a885d041ceb11c99fe808002b104860 00000002",
        Pdu(Bind(5840, 5840, 7, (element(1, QM2QM.syntax, NDR),)), 2, packed_drep=bytes(4)),
    ),
    "bind_ack": (
        "05000c03 10000000 5400 0000 02000000 d016 d016 78563412 0500 3231303500 00"
        f"02000000 0200 0200 {'00' * 20} 0000 0000 {NDR64_WIRE}",
        Pdu(
            BindAck(
                5840, 5840, GROUP, b"2105\0", (PresentationContextResult(2, 2), PresentationContextResult(0, 0, NDR64))
            ),
            2,
        ),
    ),
    "bind_nak": (
        "05000d03 10000000 1500 0000 02000000 0800 01 0500",
        Pdu(BindNak(8), 2),
    ),
    "alter_context": (
        f"05000e03 10000000 4800 0000 03000000 d016 d016 00000000 01000000 0100 01 00 {QM2QM_WIRE} {NDR_WIRE}",
        Pdu(AlterContext(5840, 5840, 0, (element(1, QM2QM.syntax, NDR),)), 3),
    ),
    "alter_context_resp": (
        f"05000f03 10000000 3800 0000 03000000 d016 d016 78563412 0000 0000 01000000 0000 0000 {NDR_WIRE}",
        Pdu(AlterContextResp(5840, 5840, GROUP, b"", (PresentationContextResult(0, 0, NDR),)), 3),
    ),
    "request": (
        "05000003 10000000 1c00 0000 04000000 04000000 0100 0700 01000000",
        Pdu(Request(1, 7, b"\1\0\0\0", 4), 4),
    ),
    "request with an object": (
        "05000081 10000000 2800 0000 04000000 00000000 0100 0700 33221100554477668899aabbccddeeff",
        Pdu(
            Request(1, 7, b"", 0, UUID("00112233-4455-6677-8899-aabbccddeeff")),
            4,
            PfcFlags.FIRST_FRAG | PfcFlags.OBJECT_UUID,
        ),
    ),
    "big-endian request": (
        "05000003 00000000 001c 0000 00000004 00000004 0001 0007 00000001",
        Pdu(Request(1, 7, b"\0\0\0\1", 4), 4, packed_drep=bytes(4)),
    ),
    "response": (
        "05000202 10000000 1c00 0000 04000000 04000000 0100 02 00 39080000",
        Pdu(Response(1, b"\x39\x08\0\0", 4, 2), 4, PfcFlags.LAST_FRAG),
    ),
    "fault": (
        "05000323 10000000 2000 0000 04000000 00000000 0100 00 00 0200011c 00000000",
        Pdu(Fault(1, 0x1C010002), 4, PfcFlags.FIRST_FRAG | PfcFlags.LAST_FRAG | PfcFlags.DID_NOT_EXECUTE),
    ),
    "shutdown": ("05001103 10000000 1000 0000 00000000", Pdu(Shutdown(), 0)),
    "co_cancel": ("05001203 10000000 1000 0000 04000000", Pdu(CoCancel(), 4)),
    "orphaned": ("05001303 10000000 1000 0000 04000000", Pdu(Orphaned(), 4)),
    "request with a sec_trailer": (
        "05000003 10000000 2c00 0400 04000000 00000000 0100 0700 aa 00000000000000 0a 05 07 00 09000000 01020304",
        Pdu(Request(1, 7, b"\xaa", 0), 4, sec_trailer=SecTrailer(10, 5, 9, b"\1\2\3\4", 7)),
    ),
}


@pytest.mark.parametrize("name", VECTORS)
def test_pdu_builds_and_parses_exact_bytes(name):
    wire, pdu = bytes.fromhex(VECTORS[name][0]), VECTORS[name][1]
    assert Pdu.parse(wire) == pdu
    assert pdu.build() == wire


def test_pdu_without_object_uuid_drops_the_object_flag():
    wire = Pdu(Request(1, 7, b"12345678901234567890"), 4, PfcFlags.FIRST_FRAG | PfcFlags.OBJECT_UUID).build()
    assert Pdu.parse(wire) == Pdu(Request(1, 7, b"12345678901234567890"), 4, PfcFlags.FIRST_FRAG)


def test_bind_nak_may_have_extended_error_information():
    wire = bytes.fromhex("05000d03 10000000 2500 0000 02000000 0800 01 0500") + bytes(16)
    assert Pdu.parse(wire).body == BindNak(8)


REQUEST = bytes.fromhex(VECTORS["request"][0])
BIND = bytes.fromhex(VECTORS["bind"][0])
SEALED = bytes.fromhex(VECTORS["request with a sec_trailer"][0])


def changed(wire, at, *values):
    return wire[:at] + bytes(values) + wire[at + len(values) :]


@pytest.mark.parametrize(
    ("wire", "field"),
    [
        (changed(REQUEST, 0, 4), "rpc_vers"),
        (changed(REQUEST, 1, 2), "rpc_vers"),
        (changed(REQUEST, 2, 1), "PTYPE"),
        (changed(REQUEST, 2, 20), "PTYPE"),
        (changed(REQUEST, 4, 0x20), "packed_drep"),
        (changed(REQUEST, 8, 0x1B), "frag_length"),
        (changed(REQUEST, 10, 5), "auth_length"),
        (changed(SEALED, 34, 200), "auth_pad_length"),
        (REQUEST[:15], "common header"),
        (changed(BIND[:28], 8, 28), "p_context_elem"),
        (changed(BIND, 24, 3), "p_context_elem"),
        (changed(BIND, 24, 1), "Bind"),
        (changed(BIND, 30, 0xFF), "p_context_elem"),
    ],
)
def test_a_malformed_pdu_is_refused_by_the_name_of_its_field(wire, field):
    with pytest.raises(PduError) as caught:
        Pdu.parse(wire)
    assert caught.value.field == field


def test_too_large_pdu_field_raises_misuse_error():
    with pytest.raises(MisuseError, match="Bind takes 2 bytes"):
        Pdu(Bind(70_000, 5840, 0, ()), 1).build()
    with pytest.raises(MisuseError, match="token"):
        Pdu(CoCancel(), 1, sec_trailer=SecTrailer(10, 5, 0, b"")).build()


def test_rpc_stream_is_split_into_pdus_in_any_chunks():
    stream = b"".join(bytes.fromhex(wire) for wire, _ in VECTORS.values())
    whole = list(PduFramer(5840).feed(stream))
    assert [Pdu.parse(wire) for wire in whole] == [pdu for _, pdu in VECTORS.values()]
    framer = PduFramer(5840)
    assert [wire for octet in stream for wire in framer.feed(bytes([octet]))] == whole
    assert framer.pending_bytes == 0


@pytest.mark.parametrize("size", [0, 15, 101, 0xFFFF])
def test_fragment_with_impossible_size_ends_stream_at_its_header(size):
    framer = PduFramer(100)
    with pytest.raises(PduError) as caught:
        list(framer.feed(changed(REQUEST[:16], 8, size & 0xFF, size >> 8)))
    assert caught.value.field == "frag_length"
