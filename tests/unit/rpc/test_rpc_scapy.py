# ruff: noqa: RUF012 - scapy declares packets in mutable class attributes
"""MS-MQQP 2.2, 3.1.4: scapy's NDR and NDR64 build the stubs that the project's tables read, and read the stubs that
they build.
"""

from uuid import UUID

import pytest
from rpc_made import DESC, LICENCE
from scapy.fields import StrFixedLenField
from scapy.layers.dcerpc import (
    NDRConformantArray,
    NDRConfVarStrLenField,
    NDRConfVarStrNullFieldUtf16,
    NDRContextHandle,
    NDRFullEmbPointerField,
    NDRInt3264EnumField,
    NDRIntField,
    NDRLongField,
    NDRPacket,
    NDRPacketField,
    NDRPointer,
    NDRShortField,
    NDRVaryingArray,
)
from scapy.layers.msrpce.raw.ept import ept_map_Request, ept_map_Response, twr_p_t

from reference_qm.rpc import EPT, QM2QM
from reference_qm.rpc.interfaces.method import declare_in_parameter, declare_method
from reference_qm.rpc.ndr import U16, U32, Struct, StubEncoding, WideString, declare_unique_pointer

HANDLE = UUID("33221100-5544-7766-8899-aabbccddeeff")
ENCODINGS = pytest.mark.parametrize("wide", [False, True], ids=["NDR", "NDR64"])


class REMOTEREADDESC(NDRPacket):
    ALIGNMENT = (4, 8)
    fields_desc = [
        NDRIntField("hRemoteQueue", 0),
        NDRIntField("hCursor", 0),
        NDRIntField("ulAction", 0),
        NDRIntField("ulTimeout", 0),
        NDRIntField("dwSize", None, size_of="lpBuffer"),
        NDRIntField("dwQueue", 0),
        NDRIntField("dwRequestID", 0),
        NDRIntField("Reserved", 0),
        NDRIntField("dwArriveTime", 0),
        NDRInt3264EnumField("eAckNack", 0, {0: "RR_UNKNOWN", 1: "RR_NACK", 2: "RR_ACK"}),
        NDRFullEmbPointerField(
            NDRConfVarStrLenField("lpBuffer", "", size_is=lambda pkt: pkt.dwSize, length_is=lambda pkt: pkt.dwSize)
        ),
    ]


class REMOTEREADDESC2(NDRPacket):
    ALIGNMENT = (8, 8)
    fields_desc = [
        NDRFullEmbPointerField(NDRPacketField("pRemoteReadDesc", REMOTEREADDESC(), REMOTEREADDESC)),
        NDRLongField("SequentialId", 0),
    ]


class RemoteQMStartReceive_Request(NDRPacket):
    fields_desc = [NDRPacketField("lpRemoteReadDesc", REMOTEREADDESC(), REMOTEREADDESC)]


class RemoteQMStartReceive_Response(NDRPacket):
    fields_desc = [
        NDRPacketField("pphContext", NDRContextHandle(), NDRContextHandle),
        NDRPacketField("lpRemoteReadDesc", REMOTEREADDESC(), REMOTEREADDESC),
        NDRIntField("Return", 0),
    ]


class RemoteQMStartReceiveByLookupId_Request(NDRPacket):
    fields_desc = [
        NDRLongField("LookupId", 0),
        NDRPacketField("lpRemoteReadDesc2", REMOTEREADDESC2(), REMOTEREADDESC2),
    ]


class RemoteQMOpenQueue_Request(NDRPacket):
    fields_desc = [
        StrFixedLenField("pLicGuid", b"", length=16),
        NDRIntField("dwMQS", 0),
        NDRIntField("hQueue", 0),
        NDRIntField("pQueue", 0),
        NDRIntField("dwpContext", 0),
    ]


class Named(NDRPacket):
    ALIGNMENT = (4, 8)
    fields_desc = [
        NDRShortField("number", 0),
        NDRFullEmbPointerField(NDRConfVarStrNullFieldUtf16("text", "")),
    ]


class Named_Request(NDRPacket):
    fields_desc = [NDRPacketField("named", Named(), Named), NDRIntField("after", 0)]


def pointed(value, count):
    """Return a pointer to a conformant and varying array of ``count`` elements."""
    varying = NDRVaryingArray(offset=0, actual_count=count, value=value)
    return NDRPointer(referent_id=1, value=NDRConformantArray(max_count=count, value=[varying]))


def described(size, **change):
    """Return the same description in two forms: as scapy's packet, and as the project's value."""
    plain = {**DESC, **change}
    buffer = bytes(range(size))
    fields = {name: value for name, value in plain.items() if name not in ("dwSize", "lpBuffer")}
    ours = {**plain, "dwSize": size, "lpBuffer": buffer if size else None}
    return REMOTEREADDESC(**fields, dwSize=size, lpBuffer=pointed(buffer, size) if size else None), ours


def scapy_built(packet, wide):
    packet.ndr64 = wide
    packet.ndrendian = "little"
    return bytes(packet)


@ENCODINGS
@pytest.mark.parametrize("size", [0, 1, 7, 200])
def test_scapy_stub_equals_stub_of_own_table(wide, size):
    theirs, ours = described(size, eAckNack=2, ulTimeout=0xFFFFFFFF)
    stub = scapy_built(RemoteQMStartReceive_Request(lpRemoteReadDesc=theirs, ndr64=wide), wide)
    start = QM2QM.methods[0]
    assert start.read_in_parameters(stub, StubEncoding(wide)) == {"lpRemoteReadDesc": ours}
    mine = start.build_in_parameters({"lpRemoteReadDesc": ours}, StubEncoding(wide))
    assert without_referents(mine, wide) == without_referents(stub, wide)


def without_referents(stub, wide):
    """Return the value without its referent ids, which may be any nonzero numbers."""
    at = 40
    return stub[:at] + bytes(8 if wide else 4) + stub[at + (8 if wide else 4) :]


@ENCODINGS
@pytest.mark.parametrize("present", [False, True])
def test_scapy_nested_pointers_are_read(wide, present):
    theirs, ours = described(5)
    desc2 = REMOTEREADDESC2(
        pRemoteReadDesc=NDRPointer(referent_id=2, value=theirs) if present else None, SequentialId=9
    )
    packet = RemoteQMStartReceiveByLookupId_Request(LookupId=0xFFFFFFFFFFFFFFFF, lpRemoteReadDesc2=desc2, ndr64=wide)
    found = QM2QM.methods[10].read_in_parameters(scapy_built(packet, wide), StubEncoding(wide))
    assert found == {
        "LookupId": 0xFFFFFFFFFFFFFFFF,
        "lpRemoteReadDesc2": {"pRemoteReadDesc": ours if present else None, "SequentialId": 9},
    }


@ENCODINGS
def test_scapy_scalars_and_guid_are_read(wide):
    packet = RemoteQMOpenQueue_Request(pLicGuid=LICENCE.bytes_le, dwMQS=1, hQueue=2, pQueue=3, dwpContext=4)
    found = QM2QM.methods[2].read_in_parameters(scapy_built(packet, wide), StubEncoding(wide))
    assert found == {"pLicGuid": LICENCE, "dwMQS": 1, "hQueue": 2, "pQueue": 3, "dwpContext": 4}


@ENCODINGS
@pytest.mark.parametrize("size", [0, 3, 4_000])
def test_scapy_reads_the_response_of_the_reference(wide, size):
    buffer = (bytes(range(256)) * 16)[:size]
    desc = {**DESC, "dwSize": size, "Reserved": 1, "lpBuffer": buffer if size else None}
    stub = QM2QM.methods[0].build_out_parameters(
        {"pphContext": HANDLE, "lpRemoteReadDesc": desc, "Return": 5}, StubEncoding(wide), {}
    )
    packet = RemoteQMStartReceive_Response(stub, ndr64=wide, ndrendian="little")
    assert packet.pphContext.uuid == HANDLE.bytes_le
    assert (packet.lpRemoteReadDesc.dwSize, packet.Return) == (size, 5)
    found = packet.lpRemoteReadDesc.lpBuffer
    assert (found.value.value[0].value if size else found) == (buffer if size else None)


NAMED = Struct("Named", "C706 14.3.4.2", number=U16, text=declare_unique_pointer(WideString(100)))
NAMED_METHOD = declare_method(
    "Named", "C706 14.3.4.2", declare_in_parameter("named", NAMED), declare_in_parameter("after", U32)
)


@ENCODINGS
def test_scapy_string_pointer_is_read(wide):
    packet = Named_Request(named=Named(number=7, text=pointed("OS:höst", 8)), after=3, ndr64=wide)
    found = NAMED_METHOD.read_in_parameters(scapy_built(packet, wide), StubEncoding(wide))
    assert found == {"named": {"number": 7, "text": "OS:höst"}, "after": 3}


@ENCODINGS
def test_scapy_exchanges_endpoint_mapper_stubs(wide):
    tower = b"\5\0" + bytes(73)
    packet = ept_map_Request(
        obj=None,
        map_tower=NDRPointer(referent_id=1, value=twr_p_t(tower_octet_string=tower)),
        entry_handle=NDRContextHandle(attributes=0, uuid=bytes(16)),
        max_towers=4,
        ndr64=wide,
    )
    arguments = EPT.methods[3].read_in_parameters(scapy_built(packet, wide), StubEncoding(wide))
    octets = {"tower_length": len(tower), "tower_octet_string": tower}
    assert arguments == {"obj": None, "map_tower": octets, "entry_handle": None, "max_towers": 4}
    results = {"entry_handle": None, "num_towers": 2, "ITowers": [octets, octets], "status": 0}
    stub = EPT.methods[3].build_out_parameters(results, StubEncoding(wide), arguments)
    answer = ept_map_Response(stub, ndr64=wide, ndrendian="little")
    towers = [one.value.tower_octet_string for one in answer.ITowers.value[0].value]
    assert (towers, answer.status) == ([tower, tower], 0)
