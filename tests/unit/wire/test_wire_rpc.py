"""C706 12.6, 14; MS-RPCE 2.2: the PDUs and stubs of the tester equal those of the reference's tables, and the tester's
readers are strict.
"""

from __future__ import annotations

from uuid import UUID

import pytest

from harness.capture.rpc_stream import RpcFramer
from harness.wire.rpc import (
    NDR,
    NDR64,
    QM2QM,
    QMCOMM,
    BindOutcome,
    Proposal,
    bind,
    bind_ack,
    bind_nak,
    build_co_cancel_pdu,
    build_orphaned_pdu,
    dissect_rpc,
    fault,
    format_rpc_dissection,
    get_rpc_kind,
    read_bind_outcomes,
    read_bind_proposals,
    read_stub,
)
from harness.wire.rpc_fragments import build_request_fragments, build_response_fragments
from harness.wire.rpc_qm2qm import PEEK_NEXT, QM2QM_OPERATIONS, REMOTEREADDESC, build_desc2
from harness.wire.rpc_qmcomm import DL_ID, QMCOMM_OPERATIONS, queue_format, transfer_buffer
from harness.wire.rpc_stub import (
    NULL_HANDLE,
    Operation,
    build_byte_array_pointer,
    build_pointer,
    build_stub,
    build_wide_string_pointer,
    encode_guid,
    octets,
)
from harness.wire.wire_error import WireError
from reference_qm.codec import FramingError
from reference_qm.rpc import QM2QM as QM2QM_TABLE
from reference_qm.rpc import QMCOMM as QMCOMM_TABLE
from reference_qm.rpc.ndr import StubEncoding

GUID = UUID("33221100-5544-7766-8899-aabbccddeeff")
WIDE = pytest.mark.parametrize("wide", [False, True], ids=["NDR", "NDR64"])
DESC = {"hRemoteQueue": 7, "hCursor": 6, "ulAction": PEEK_NEXT, "ulTimeout": 5, "dwQueue": 4, "dwRequestID": 3}
READ = REMOTEREADDESC(**DESC, dwSize=3, lpBuffer=build_byte_array_pointer(b"abc"), eAckNack=2)
REQUESTS = {
    "RemoteQMStartReceive": {"lpRemoteReadDesc": READ},
    "RemoteQMEndReceive": {"pphContext": bytes(4) + GUID.bytes_le, "dwAck": 2},
    "RemoteQMOpenQueue": {"pLicGuid": encode_guid(GUID), "dwMQS": 1, "hQueue": 2, "pQueue": 3, "dwpContext": 4},
    "RemoteQMCloseQueue": {"pphContext": NULL_HANDLE},
    "RemoteQMCloseCursor": {"hQueue": 1, "hCursor": 2},
    "RemoteQMCancelReceive": {"hQueue": 1, "pQueue": 2, "dwRequestID": 3},
    "RemoteQMPurgeQueue": {"hQueue": 1},
    "RemoteQMGetQMQMServerPort": {"dwPortType": 3},
    "RemoteQmGetVersion": {},
    "RemoteQMStartReceive2": {"lpRemoteReadDesc2": build_desc2(READ, 9)},
    "RemoteQMStartReceiveByLookupId": {"LookupId": 0x8899AABBCCDDEEFF, "lpRemoteReadDesc2": build_desc2(None, 9)},
}
FORMATS = {
    "unknown": (queue_format(0), None),
    "public": (queue_format(1, GUID), GUID),
    "private": (queue_format(2, (GUID, 7)), {"Lineage": GUID, "Uniquifier": 7}),
    "direct": (queue_format(3, "OS:höst\\private$\\q", 0x81, 9), "OS:höst\\private$\\q"),
    "machine": (queue_format(4, GUID, 0x82), GUID),
    "connector": (queue_format(5, GUID, 4), GUID),
    "list": (
        queue_format(6, DL_ID(m_DlGuid=encode_guid(GUID), m_pwzDomain=build_wide_string_pointer("d"))),
        {"m_DlGuid": GUID, "m_pwzDomain": "d"},
    ),
    "multicast": (queue_format(7, b"\1\0\0\0\2\0\0\0"), {"m_address": 1, "m_port": 2}),
    "subqueue": (queue_format(8, "OS:x\\q;s", 5), "OS:x\\q;s"),
}


def refused_wherever_it_is_cut(operation: Operation, stub: bytes, wide: bool) -> None:
    for size in range(len(stub)):
        with pytest.raises(WireError):
            operation.read_request(stub[:size], wide)
    with pytest.raises(WireError, match="left over"):
        operation.read_request(stub + b"\0", wide)


@WIDE
@pytest.mark.parametrize("name", QM2QM_OPERATIONS)
def test_qm2qm_requests_are_read_by_reference_and_tester(name, wide):
    operation = QM2QM_OPERATIONS[name]
    stub = operation.build_request(wide, **REQUESTS[name])
    table = QM2QM_TABLE.methods[operation.opnum]
    assert table.name == name
    found = table.read_in_parameters(stub, StubEncoding(wide))
    assert len(table.build_in_parameters(found, StubEncoding(wide))) == len(stub)
    if stub:
        again = operation.read_request(stub, wide)
        assert build_stub(again, wide) == stub
        refused_wherever_it_is_cut(operation, stub, wide)


@WIDE
def test_remote_read_description_round_trips(wide):
    stub = QM2QM_OPERATIONS["RemoteQMStartReceive2"].build_request(wide, lpRemoteReadDesc2=build_desc2(READ, 9))
    found = QM2QM_TABLE.methods[9].read_in_parameters(stub, StubEncoding(wide))["lpRemoteReadDesc2"]
    read = found["pRemoteReadDesc"]
    assert (found["SequentialId"], read["eAckNack"], read["lpBuffer"]) == (9, 2, b"abc")
    assert {name: read[name] for name in DESC} == DESC


@WIDE
@pytest.mark.parametrize("size", [0, 1, 4_000])
def test_qm2qm_responses_of_the_reference_are_read_by_the_tester(wide, size):
    data = bytes(range(256)) * 16
    desc = {**DESC, "dwSize": size, "Reserved": 1, "dwArriveTime": 2, "eAckNack": 1, "lpBuffer": data[:size] or None}
    results = {"pphContext": GUID, "lpRemoteReadDesc2": {"pRemoteReadDesc": desc, "SequentialId": 8}, "Return": 5}
    stub = QM2QM_TABLE.methods[9].build_out_parameters(results, StubEncoding(wide), {})
    found = QM2QM_OPERATIONS["RemoteQMStartReceive2"].read_response(stub, wide)
    read = found.lpRemoteReadDesc2.pRemoteReadDesc.value
    assert (found.pphContext, found.Return) == (bytes(4) + GUID.bytes_le, 5)
    assert (found.lpRemoteReadDesc2.SequentialId, read.dwSize, octets(read.lpBuffer)) == (8, size, data[:size] or None)


@WIDE
@pytest.mark.parametrize("name", FORMATS)
def test_every_queue_format_is_read_by_reference_and_tester(name, wide):
    form, arm = FORMATS[name]
    operation = QMCOMM_OPERATIONS["R_QMOpenRemoteQueue"]
    given = {"pQueueFormat": build_pointer(form), "dwDesiredAccess": 1, "pLicGuid": encode_guid(GUID), "dwMQS": 0x500}
    stub = operation.build_request(wide, **given)
    found = QMCOMM_TABLE.methods[2].read_in_parameters(stub, StubEncoding(wide))
    assert (found["pQueueFormat"]["union"], found["dwMQS"], found["pLicGuid"]) == (arm, 0x500, GUID)
    assert found["pQueueFormat"]["m_SuffixAndFlags"] == form.m_SuffixAndFlags
    assert build_stub(operation.read_request(stub, wide), wide) == stub


@WIDE
def test_reference_reads_the_zeroed_transfer_buffer_of_the_tester(wide):
    operation = QMCOMM_OPERATIONS["R_QMCreateRemoteCursor"]
    stub = operation.build_request(wide, ptb1=transfer_buffer(), hQueue=77)
    assert QMCOMM_TABLE.methods[4].read_in_parameters(stub, StubEncoding(wide))["hQueue"] == 77
    refused_wherever_it_is_cut(operation, stub, wide)


def test_bind_proposals_and_results_round_trip():
    proposals = [Proposal(0, QM2QM, (NDR,)), Proposal(1, QMCOMM, (NDR, NDR64))]
    assert read_bind_proposals(dissect_rpc(bytes(bind(1, proposals)))) == proposals
    outcomes = [BindOutcome(0, 0, NDR64), BindOutcome(2, 1)]
    packet = dissect_rpc(bytes(bind_ack(1, outcomes, group=5, port="2103")))
    assert (read_bind_outcomes(packet), packet.payload.assoc_group_id) == (outcomes, 5)
    assert packet.payload.sec_addr.port_spec == b"2103\0"


def test_built_rpc_fragments_have_the_stub_bytes_in_order():
    stub = bytes(range(100))
    for parts in (
        build_request_fragments(3, 0, 4, stub, fragment=48),
        build_response_fragments(3, 0, stub, fragment=48),
    ):
        packets = [dissect_rpc(part) for part in parts]
        assert b"".join(read_stub(one) for one in packets) == stub
        assert [int(one.pfc_flags) for one in packets] == [1, 0, 0, 0, 2]
        assert [one.payload.alloc_hint for one in packets] == [100, 76, 52, 28, 4]


def test_wire_rpc_stream_is_split_into_pdus_in_any_chunks():
    pdus = [
        bytes(one) for one in (build_co_cancel_pdu(3), bind_nak(4, 2), fault(5, 0, 0x1C010002), build_orphaned_pdu(6))
    ]
    assert [get_rpc_kind(one) for one in pdus] == ["co_cancel", "bind_nak", "fault", "orphaned"]
    stream, framer = b"".join(pdus), RpcFramer()
    assert [one for at in range(len(stream)) for one in framer.feed(stream[at : at + 1])] == pdus
    assert framer.pending_size == 0
    with pytest.raises(FramingError, match="PTYPE") as caught:
        framer.feed(pdus[0] + b"\5\0\x63" + bytes(13))
    assert caught.value.packets == pdus[:1]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\5\0\x0b\3",
        bytes(16),
        bytes(build_co_cancel_pdu(1)) + b"x",
        bytes(bind(1, [Proposal(0, QM2QM, (NDR,))]))[:-1],
    ],
)
def test_tester_refuses_bytes_that_are_no_pdu(data):
    with pytest.raises(WireError):
        dissect_rpc(data)
    assert "cannot be dissected" in format_rpc_dissection(data)
