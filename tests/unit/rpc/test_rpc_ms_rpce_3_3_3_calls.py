"""MS-RPCE 3.3.3, 3.3.1.5.8; C706 12.6.4: requests, fragments, parallel calls, faults, cancels, orphans, and the end of
an association.
"""

import pytest
from rpc_made import DESC, NOW, Client, closed, element, received, sent

from reference_qm.codec.format_error import MisuseError
from reference_qm.rpc import QM2QM, AssociationLimits, CallCancelled, CallOrphaned, CallReceived, FaultStatus
from reference_qm.rpc.bodies import CoCancel, Fault, Orphaned, Request, Shutdown
from reference_qm.rpc.header import WHOLE_PDU_FLAGS, PfcFlags, SecTrailer
from reference_qm.rpc.limits import MAX_REQUEST_STUB_BYTES
from reference_qm.rpc.ndr import StubEncoding
from reference_qm.rpc.pdu import Pdu
from reference_qm.rpc.syntaxes import NDR, NDR64
from reference_qm.surface.clock import Now

PORT_TYPE = b"\1\0\0\0"
START = QM2QM.methods[0]
START_STUB = START.build_in_parameters({"lpRemoteReadDesc": DESC}, StubEncoding())


@pytest.fixture
def client():
    bound = Client()
    bound.bind()
    return bound


def faults(happened):
    return [(pdu.call_id, pdu.body.status, bool(pdu.pfc_flags & PfcFlags.DID_NOT_EXECUTE)) for pdu in sent(happened)]


def test_rpc_call_reaches_dispatcher_with_arguments_and_is_answered_with_results(client):
    call = client.call(7, dwPortType=1)
    assert (call.method.name, call.arguments, call.call_id) == ("RemoteQMGetQMQMServerPort", {"dwPortType": 1}, 1)
    (answer,) = sent(call.respond(Return=2105))
    assert (answer.call_id, answer.pfc_flags, answer.body.p_cont_id) == (1, WHOLE_PDU_FLAGS, 0)
    assert answer.body.stub == (2105).to_bytes(4, "little")
    assert call.ended


@pytest.mark.parametrize("wide", [False, True])
def test_rpc_call_is_read_and_answered_in_the_transfer_syntax_of_its_context(wide):
    client = Client()
    client.bind(element(5, QM2QM.syntax, NDR64 if wide else NDR))
    encoding = StubEncoding(wide)
    call = client.call(0, 5, encoding, lpRemoteReadDesc=DESC)
    described = {**DESC, "dwSize": 3, "lpBuffer": b"abc"}
    (answer,) = sent(call.respond(lpRemoteReadDesc=described, Return=0))
    found = START.read_out_parameters(answer.body.stub, encoding, call.arguments)
    assert found == {"pphContext": None, "lpRemoteReadDesc": described, "Return": 0}


def test_a_big_endian_client_is_understood_in_ndr_and_answered_in_little_endian(client):
    (event,) = client.request(7, b"\0\0\0\1", packed_drep=bytes(4))
    (answer,) = sent(event.call.respond(Return=2105))
    assert (answer.packed_drep, answer.body.stub) == (b"\x10\0\0\0", (2105).to_bytes(4, "little"))


def test_big_endian_request_in_ndr64_is_refused():
    client = Client()
    client.bind(element(0, QM2QM.syntax, NDR64))
    happened = client.request(7, b"\0\0\0\1", packed_drep=bytes(4))
    assert faults(happened) == [(1, FaultStatus.RPC_X_BAD_STUB_DATA, True)]


@pytest.mark.parametrize(
    ("context", "opnum", "stub", "status"),
    [
        (0, 11, b"", FaultStatus.NCA_S_OP_RNG_ERROR),
        (0, 0xFFFF, b"", FaultStatus.NCA_S_OP_RNG_ERROR),
        (1, 7, PORT_TYPE, FaultStatus.NCA_S_UNK_IF),
        (0, 7, b"\4\0\0\0", FaultStatus.RPC_X_BAD_STUB_DATA),
        (0, 7, b"\1\0\0", FaultStatus.RPC_X_BAD_STUB_DATA),
        (0, 7, b"\1\0\0\0\0", FaultStatus.RPC_X_BAD_STUB_DATA),
        (0, 3, bytes(19), FaultStatus.RPC_X_BAD_STUB_DATA),
        (0, 3, b"\1" + bytes(19), FaultStatus.RPC_X_BAD_STUB_DATA),
        (0, 3, bytes(19) + b"\1", FaultStatus.NCA_S_FAULT_CONTEXT_MISMATCH),
    ],
)
def test_undispatchable_rpc_call_is_faulted_and_the_association_continues(client, context, opnum, stub, status):
    assert faults(client.request(opnum, stub, context)) == [(1, status, True)]
    client.call(8)


def test_fault_of_dispatcher_has_did_not_execute_flag_clear(client):
    call = client.call(6, hQueue=7)
    (answer,) = sent(call.fault(0xC00E0007))
    assert (answer.body, answer.pfc_flags) == (Fault(0, 0xC00E0007), WHOLE_PDU_FLAGS)


@pytest.mark.parametrize("status", [0, 0xC0000005])
def test_invalid_fault_status_raises_misuse_error(client, status):
    call = client.call(6, hQueue=7)
    with pytest.raises(MisuseError):
        call.fault(status)
    assert not call.ended


@pytest.mark.parametrize("results", [{}, {"Return": 1 << 32}, {"Return": 0, "more": 1}])
def test_rpc_call_stays_open_when_its_results_cannot_be_encoded(client, results):
    call = client.call(6, hQueue=7)
    with pytest.raises(MisuseError):
        call.respond(**results)
    assert len(sent(call.respond(Return=0))) == 1


# -- fragments --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 8, 43])
def test_fragmented_rpc_request_is_reassembled(client, size):
    pieces = [START_STUB[at : at + size] for at in range(0, len(START_STUB), size)]
    for place, piece in enumerate(pieces):
        flags = (PfcFlags.FIRST_FRAG if place == 0 else 0) | (PfcFlags.LAST_FRAG if place == len(pieces) - 1 else 0)
        happened = client.send(Request(0, 0, piece, len(START_STUB) - place * size), 9, flags)
        if place < len(pieces) - 1:
            assert happened == []
    assert received(happened).arguments == {"lpRemoteReadDesc": DESC}


@pytest.mark.parametrize(("size", "fragments"), [(0, 1), (1300, 1), (1400, 2), (4325376, 3073)])
def test_rpc_response_is_fragmented_to_the_maximum_of_the_client(size, fragments):
    client = Client()
    client.bind(size=1432)
    call = client.call(0, lpRemoteReadDesc=DESC)
    body = bytes(range(256)) * (size // 256 + 1)
    described = {**DESC, "dwSize": size, "lpBuffer": body[:size] if size else None}
    answers = sent(call.respond(lpRemoteReadDesc=described, Return=0))
    assert len(answers) == fragments
    assert [bool(pdu.pfc_flags & PfcFlags.FIRST_FRAG) for pdu in answers] == [True] + [False] * (fragments - 1)
    assert [bool(pdu.pfc_flags & PfcFlags.LAST_FRAG) for pdu in answers] == [False] * (fragments - 1) + [True]
    assert {pdu.call_id for pdu in answers} == {1}
    assert max(len(pdu.build()) for pdu in answers) <= 1432
    assert all(len(pdu.body.stub) % 8 == 0 for pdu in answers[:-1])
    stub = b"".join(pdu.body.stub for pdu in answers)
    left = len(stub)
    for pdu in answers:
        assert pdu.body.alloc_hint == left
        left -= len(pdu.body.stub)
    assert START.read_out_parameters(stub, StubEncoding(), {})["lpRemoteReadDesc"] == described


def test_rpc_fragment_larger_than_agreed_ends_the_association():
    client = Client()
    client.bind(size=1432)
    happened = client.request(0, bytes(1432 - 23))
    assert sent(happened) == []
    assert closed(happened)


def test_rpc_stub_data_above_four_mebibytes_are_refused_at_once(client):
    room = 5840 - 24
    total, flags, happened = 0, PfcFlags.FIRST_FRAG, []
    while not happened:
        happened = client.send(Request(0, 0, bytes(room)), 1, flags)
        total, flags = total + room, 0
    assert faults(happened) == [(1, FaultStatus.ACCESS_DENIED, True)]
    assert MAX_REQUEST_STUB_BYTES < total <= MAX_REQUEST_STUB_BYTES + room
    assert client.send(Request(0, 0, bytes(room)), 1, PfcFlags.LAST_FRAG) == []
    client.call_id = 1
    client.call(8)


def test_invalid_rpc_call_is_faulted_at_its_first_fragment(client):
    assert faults(client.send(Request(0, 11, b"x"), 1, PfcFlags.FIRST_FRAG)) == [
        (1, FaultStatus.NCA_S_OP_RNG_ERROR, True)
    ]
    assert client.send(Request(0, 11, b"x"), 1, PfcFlags.LAST_FRAG) == []


def test_rpc_request_with_alloc_hint_above_its_stub_data_is_faulted(client):
    happened = client.send(Request(0, 7, PORT_TYPE, alloc_hint=5), 1)
    assert faults(happened) == [(1, FaultStatus.RPC_X_BAD_STUB_DATA, True)]


@pytest.mark.parametrize(
    ("body", "call_id", "flags"),
    [
        (Request(0, 0, b"x"), 2, WHOLE_PDU_FLAGS),
        (Request(0, 0, b"x"), 1, WHOLE_PDU_FLAGS),
        (Request(0, 0, b"x"), 2, 0),
        (Request(0, 1, b"x"), 1, 0),
        (Request(1, 0, b"x"), 1, 0),
    ],
)
def test_rpc_fragment_of_an_interleaved_call_violates_the_protocol(client, body, call_id, flags):
    client.send(Request(0, 0, b"x"), 1, PfcFlags.FIRST_FRAG)
    happened = client.send(body, call_id, flags)
    assert faults(happened) == [(call_id, FaultStatus.NCA_S_PROTO_ERROR, True)]
    assert closed(happened)


@pytest.mark.parametrize(("call_id", "dropped"), [(200, True), (51, True), (50, False), (201, False)])
def test_late_fragments_of_recent_rpc_calls_are_dropped(client, call_id, dropped):
    client.send(Request(0, 8, b""), 200)
    happened = client.send(Request(0, 8, b""), call_id, PfcFlags.LAST_FRAG)
    assert closed(happened) is not dropped
    assert (happened == []) is dropped


# -- several calls ----------------------------------------------------------------------------------------------


def test_waiting_rpc_call_does_not_block_later_calls(client):
    waiting = client.call(0, lpRemoteReadDesc=DESC)
    cancel = client.call(5, hQueue=7, pQueue=7, dwRequestID=1)
    assert [pdu.call_id for pdu in sent(cancel.respond(Return=0))] == [2]
    assert [pdu.call_id for pdu in sent(waiting.respond(Return=0x400E03E9))] == [1]


def test_second_rpc_call_before_the_answer_needs_multiplexing():
    client = Client()
    client.bind(flags=WHOLE_PDU_FLAGS)
    first = client.call(8)
    first.respond(pMajor=6, pMinor=1, pBuildNumber=6531)
    client.call(8)
    happened = client.request(8, b"")
    assert faults(happened) == [(3, FaultStatus.NCA_S_PROTO_ERROR, True)]
    assert closed(happened)


@pytest.mark.parametrize("call_id", [4, 5])
def test_rpc_call_id_that_does_not_increase_violates_the_protocol(client, call_id):
    client.send(Request(0, 8, b""), 5)
    happened = client.send(Request(0, 8, b""), call_id)
    assert faults(happened) == [(call_id, FaultStatus.NCA_S_PROTO_ERROR, True)]
    assert closed(happened)


def test_rpc_calls_above_the_limit_are_refused_until_one_is_answered():
    client = Client(limits=AssociationLimits(pending_calls=2))
    client.bind()
    first, _ = client.call(8), client.call(8)
    assert faults(client.request(8, b"")) == [(3, FaultStatus.NCA_S_SERVER_TOO_BUSY, True)]
    first.fault(FaultStatus.NCA_S_FAULT_UNSPEC)
    client.call(8)


def test_stub_data_of_all_rpc_calls_have_one_common_limit():
    client = Client(limits=AssociationLimits(stub_bytes=2 * len(START_STUB)))
    client.bind()
    first, _ = (client.call(0, lpRemoteReadDesc=DESC) for _ in range(2))
    assert faults(client.request(0, START_STUB)) == [(3, FaultStatus.NCA_S_SERVER_TOO_BUSY, True)]
    first.respond(Return=0)
    client.call(0, lpRemoteReadDesc=DESC)


# -- cancels and orphans ----------------------------------------------------------------------------------------


def test_rpc_cancel_is_reported_and_its_call_is_still_answered(client):
    call = client.call(0, lpRemoteReadDesc=DESC)
    assert client.send(CoCancel(), 1) == [CallCancelled(call)]
    assert call.cancelled
    (answer,) = sent(call.fault(FaultStatus.NCA_S_FAULT_CANCEL))
    assert answer.body == Fault(0, FaultStatus.NCA_S_FAULT_CANCEL, cancel_count=1)
    assert client.send(CoCancel(), 1) == []


def test_pending_cancel_flag_of_a_request_is_reported_with_the_call(client):
    happened = client.request(8, b"", flags=WHOLE_PDU_FLAGS | PfcFlags.PENDING_CANCEL)
    assert [type(one) for one in happened] == [CallReceived, CallCancelled]


def test_rpc_cancel_between_fragments_is_reported_with_the_call(client):
    client.send(Request(0, 0, START_STUB[:8]), 1, PfcFlags.FIRST_FRAG)
    assert client.send(CoCancel(), 1) == []
    happened = client.send(Request(0, 0, START_STUB[8:]), 1, PfcFlags.LAST_FRAG)
    assert [type(one) for one in happened] == [CallReceived, CallCancelled]


def test_orphaned_rpc_call_is_reported_and_never_answered(client):
    call = client.call(0, lpRemoteReadDesc=DESC)
    assert client.send(Orphaned(), 1) == [CallOrphaned(call)]
    assert call.respond(Return=0) == []
    assert call.fault(FaultStatus.NCA_S_FAULT_UNSPEC) == []
    assert client.send(Orphaned(), 1) == []
    client.call(8)


def test_rpc_request_orphaned_between_its_fragments_is_discarded(client):
    client.send(Request(0, 0, START_STUB[:8]), 1, PfcFlags.FIRST_FRAG)
    assert client.send(Orphaned(), 1) == []
    assert client.send(Request(0, 0, START_STUB[8:]), 1, PfcFlags.LAST_FRAG) == []
    client.call_id = 1
    client.call(8)


# -- ends -------------------------------------------------------------------------------------------------------


def test_authenticated_request_without_security_context_ends_the_association(client):
    happened = client.request(8, b"", sec_trailer=SecTrailer(10, 5, 0, b"token"))
    assert faults(happened) == [(1, FaultStatus.ACCESS_DENIED, True)]
    assert closed(happened)


@pytest.mark.parametrize(
    "wire",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        bytes.fromhex("05001003 10000000 1000 0000 01000000"),
        bytes.fromhex("05000203 10000000 1800 0000 01000000 0000000000000000"),
        bytes.fromhex("05000103 10000000 1000 0000 01000000"),
        bytes.fromhex("05001203 10000000 1100 0000 01000000 00"),
    ],
)
def test_server_pdu_sent_by_a_client_ends_the_association_and_its_calls(client, wire):
    call = client.call(8)
    happened = client.feed(wire)
    assert sent(happened) == []
    assert closed(happened)
    assert happened[-1] == CallOrphaned(call)
    assert client.request(8, b"") == []
    assert client.association.on_connection_lost() == []


def test_malformed_rpc_request_is_faulted_before_the_association_ends(client):
    happened = client.feed(bytes.fromhex("05000003 10000000 1400 0000 07000000 00000000"))
    assert faults(happened) == [(7, FaultStatus.NCA_S_PROTO_ERROR, True)]
    assert closed(happened)


def test_rpc_calls_before_protocol_violation_are_handled_and_later_ones_dropped(client):
    good = bytes.fromhex("05000003 10000000 1800 0000 01000000 00000000 0000 0800")
    happened = client.feed(good + bytes.fromhex("05001003 10000000 1000 0000 01000000") + good)
    assert [type(one).__name__ for one in happened] == ["CallReceived", "CloseAssociation", "CallOrphaned"]


def test_lost_rpc_connection_orphans_its_calls(client):
    call = client.call(8)
    assert client.association.on_connection_lost() == [CallOrphaned(call)]
    assert client.association.on_connection_lost() == []


@pytest.mark.parametrize(
    "owed",
    ["bind", "pdu", "fragments"],
)
def test_rpc_client_with_unfinished_pdu_is_disconnected_at_response_timeout(owed):
    client = Client(limits=AssociationLimits(response_timeout_ms=500))
    if owed != "bind":
        client.bind()
        assert client.association.next_due() is None
    if owed == "pdu":
        client.feed(b"\5")
    elif owed == "fragments":
        client.send(Request(0, 0, b"x"), 1, PfcFlags.FIRST_FRAG)
    assert client.association.next_due() == NOW.monotonic_ms + 500
    assert client.association.handle_timer(Now(NOW.monotonic_ms + 499, 0)) == []
    assert closed(client.association.handle_timer(Now(NOW.monotonic_ms + 500, 0)))
    assert client.association.next_due() is None


def test_whole_rpc_pdus_but_not_single_bytes_restart_the_response_timeout(client):
    later = Now(NOW.monotonic_ms + 10, NOW.utc_s)
    client.feed(b"\5", NOW)
    client.feed(b"\0", later)
    assert client.association.next_due() == NOW.monotonic_ms + 30_000
    client.feed(bytes.fromhex("0003 10000000 1800 0000 01000000 00000000 0000 0800"), later)
    assert client.association.next_due() is None


def test_each_rpc_fragment_restarts_the_response_timeout(client):
    later = Now(NOW.monotonic_ms + 10, NOW.utc_s)
    client.send(Request(0, 0, START_STUB[:8]), 1, PfcFlags.FIRST_FRAG)
    client.feed(Pdu(Request(0, 0, START_STUB[8:16]), 1, 0).build(), later)
    assert client.association.next_due() == later.monotonic_ms + 30_000


def test_rpc_shutdown_waits_for_open_calls_and_then_closes(client):
    call = client.call(8)
    happened = client.association.shut_down()
    assert [pdu.body for pdu in sent(happened)] == [Shutdown()]
    assert not closed(happened)
    assert faults(client.request(8, b"")) == [(2, FaultStatus.NCA_S_SERVER_TOO_BUSY, True)]
    happened = call.respond(pMajor=6, pMinor=1, pBuildNumber=1)
    assert [pdu.call_id for pdu in sent(happened)] == [1]
    assert closed(happened)
    assert client.association.shut_down() == []


def test_rpc_shutdown_closes_an_idle_or_unbound_association(client):
    assert closed(client.association.shut_down())
    unbound = Client()
    assert [type(one).__name__ for one in unbound.association.shut_down()] == ["CloseAssociation"]
