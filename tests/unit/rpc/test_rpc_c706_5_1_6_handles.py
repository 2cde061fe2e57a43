"""C706 5.1.6; MS-RPCE 3.1.1.5.3.3.1.1, 3.3.3.7.1: context handles, the clients that own them, and their rundown."""

from uuid import UUID

import pytest
from rpc_made import DESC, Client, element, received, sent

from reference_qm.codec.format_error import MisuseError
from reference_qm.rpc import QM2QM, QMCOMM, AssociationLimits, CallOrphaned, CallReceived, FaultStatus, HandleRundown
from reference_qm.rpc.bodies import CoCancel, Orphaned
from reference_qm.rpc.ndr import StubEncoding
from reference_qm.rpc.syntaxes import NDR

CLOSE = QM2QM.methods[3]


@pytest.fixture
def client():
    bound = Client()
    bound.bind(element(0, QM2QM.syntax, NDR), element(1, QMCOMM.syntax, NDR))
    return bound


def closing(client, handle):
    """Call RemoteQMCloseQueue; return the outputs of the server's association."""
    return client.request(3, CLOSE.build_in_parameters({"pphContext": handle}, StubEncoding()))


def status(happened):
    return [pdu.body.status for pdu in sent(happened)]


MISMATCH = [FaultStatus.NCA_S_FAULT_CONTEXT_MISMATCH]


def test_context_handle_keeps_its_state_until_closed_with_null(client):
    handle = client.opened()
    call = received(closing(client, handle))
    assert (call.handle.state, call.handle.kind) == ("queue", "PCTX_RRSESSION_HANDLE_TYPE")
    assert call.arguments["pphContext"] is call.handle
    (answer,) = sent(call.respond(Return=0, pphContext=None))
    assert answer.body.stub == bytes(24)
    assert status(closing(client, handle)) == MISMATCH


def test_context_handle_stays_open_until_it_is_answered_with_null(client):
    handle = client.opened()
    (answer,) = sent(received(closing(client, handle)).respond(Return=0xC00E0006))
    assert CLOSE.read_out_parameters(answer.body.stub, StubEncoding(), {})["pphContext"] == handle
    assert received(closing(client, handle)).handle.state == "queue"


def test_null_context_handle_reaches_the_dispatcher_as_none(client):
    call = received(closing(client, None))
    assert (call.handle, call.arguments) == (None, {"pphContext": None})
    assert sent(call.respond(Return=0xC00E0007))[0].body.stub == bytes(20) + bytes.fromhex("07000ec0")


@pytest.mark.parametrize("which", ["foreign", "made up", "of another type"])
def test_foreign_context_handle_is_a_context_mismatch(client, which):
    other_client = Client(client.server)
    other_client.bind()
    handle = {"foreign": other_client.opened(), "made up": UUID(int=5), "of another type": client.opened()}[which]
    if which == "of another type":
        stub = QM2QM.methods[1].build_in_parameters({"pphContext": handle, "dwAck": 2}, StubEncoding())
        assert status(client.request(1, stub)) == MISMATCH
        stub = QMCOMM.methods[3].build_in_parameters({"pphContext": handle}, StubEncoding())
        assert status(client.request(3, stub, 1)) == MISMATCH
    else:
        assert status(closing(client, handle)) == MISMATCH


def test_context_handles_run_down_with_the_last_association_of_their_group(client):
    group = client.association.group.identifier
    second = Client(client.server)
    second.bind(group=group)
    handle = client.opened()
    assert client.association.on_connection_lost() == []
    assert received(closing(second, handle)).handle.uuid == handle
    happened = second.association.on_connection_lost()
    assert [type(one) for one in happened] == [CallOrphaned, HandleRundown]
    assert happened[1].handle.state == "queue"
    assert client.server.groups.handle_count == 0


def test_context_handles_run_down_when_the_client_violates_the_protocol(client):
    client.opened()
    assert [one.handle.state for one in client.feed(b"x" * 16) if isinstance(one, HandleRundown)] == ["queue"]


def test_context_handle_opened_for_a_vanished_client_runs_down_at_once(client):
    lost, orphaned = client.open_queue(), client.open_queue()
    client.send(Orphaned(), 2)
    handle = orphaned.make_context_handle("for nobody")
    assert orphaned.respond(Return=0, phContext=handle) == [HandleRundown(handle)]
    client.association.on_connection_lost()
    handle = lost.make_context_handle("locked message")
    assert lost.respond(Return=0, phContext=handle) == [HandleRundown(handle)]
    assert client.server.groups.handle_count == 0


def test_failed_open_call_leaves_no_context_handle(client):
    (answer,) = sent(client.open_queue().respond(Return=0xC00E0006))
    assert answer.body.stub == bytes(20) + bytes.fromhex("06000ec0")
    assert client.server.groups.handle_count == 0


def test_calls_with_one_context_handle_are_carried_out_in_sequence(client):
    handle = client.opened()
    first = received(closing(client, handle))
    assert closing(client, handle) == []
    assert closing(client, handle) == []
    happened = first.respond(Return=1)
    assert [pdu.call_id for pdu in sent(happened)] == [2]
    second = happened[-1].call
    assert isinstance(happened[-1], CallReceived)
    happened = second.respond(Return=0, pphContext=None)
    assert [pdu.call_id for pdu in sent(happened)] == [3, 4]
    assert sent(happened)[1].body.status == FaultStatus.NCA_S_FAULT_CONTEXT_MISMATCH


def test_call_waiting_for_a_context_handle_can_be_cancelled_or_orphaned(client):
    handle = client.opened()
    first = received(closing(client, handle))
    closing(client, handle)
    closing(client, handle)
    assert status(client.send(CoCancel(), 3)) == [FaultStatus.NCA_S_FAULT_CANCEL]
    assert client.send(Orphaned(), 4) == []
    assert [type(one).__name__ for one in first.respond(Return=0)] == ["SendBytes"]


def test_handle_released_by_lost_association_serves_next_waiting_call(client):
    second = Client(client.server)
    second.bind(group=client.association.group.identifier)
    handle = client.opened()
    first = received(closing(client, handle))
    assert closing(client, handle) == []
    assert closing(second, handle) == []
    happened = client.association.on_connection_lost()
    assert [type(one) for one in happened] == [CallOrphaned, CallReceived]
    assert (happened[0].call, happened[1].call.association) == (first, second.association)


def test_call_waiting_for_a_closed_context_handle_is_faulted_on_its_association(client):
    second = Client(client.server)
    second.bind(group=client.association.group.identifier)
    handle = client.opened()
    first = received(closing(client, handle))
    assert closing(second, handle) == []
    happened = first.respond(Return=0, pphContext=None)
    assert [one.association for one in happened] == [client.association, second.association]
    assert sent(happened)[1].body.status == FaultStatus.NCA_S_FAULT_CONTEXT_MISMATCH
    assert (len(client.association.calls), len(second.association.calls)) == (0, 0)


def test_open_call_above_the_limit_of_context_handles_is_refused_as_too_busy(client):
    small = Client(limits=AssociationLimits(handles=2))
    small.bind()
    small.opened()
    pending = small.open_queue()
    busy = small.request(2, QM2QM.methods[2].build_in_parameters(_licence(), StubEncoding()))
    assert status(busy) == [FaultStatus.NCA_S_SERVER_TOO_BUSY]
    small.call(8)
    pending.respond(Return=0xC00E0006)
    small.opened()
    assert small.server.groups.handle_count == 2


def _licence():
    return {"pLicGuid": UUID(int=1), "dwMQS": 0, "hQueue": 1, "pQueue": 1, "dwpContext": 1}


def test_misplaced_context_handle_raises_misuse_error(client):
    with pytest.raises(MisuseError):
        client.call(8).make_context_handle("x")
    opened = client.open_queue()
    other = client.call(0, lpRemoteReadDesc=DESC)
    with pytest.raises(MisuseError):
        other.respond(Return=0, pphContext=opened.make_context_handle("queue"))
    with pytest.raises(MisuseError):
        opened.respond(Return=0, phContext=UUID(int=1))


def test_a_thousand_clients_that_vanish_leave_no_handle_and_no_group():
    server = Client().server
    for _ in range(1_000):
        client = Client(server)
        client.bind()
        client.opened()
        client.association.on_connection_lost()
    assert (server.groups.handle_count, len(server.groups)) == (0, 0)
