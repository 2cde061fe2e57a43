"""MS-RPCE 3.3.3, MS-MQQP 2.1: the RPC associations of the core, their timers, and how they end."""

from __future__ import annotations

from remote_reader import LISTENING, PLAIN, Reader, Server, bind, request

from reference_qm.rpc import AssociationLimits
from reference_qm.rpc.bodies import Fault
from reference_qm.surface.effects import CloseRpcConnection, SendRpcBytes
from reference_qm.surface.inputs import Endpoint, RpcAccepted, RpcBytesReceived, RpcConnectionLost

RESPONSE_TIMEOUT_MS = AssociationLimits().response_timeout_ms
CAME_FROM = Endpoint("192.0.2.7", 40_000)


def connected(server: Server) -> Reader:
    """Return a client that has connected but has not sent a PDU."""
    reader = server.readers["silent"] = Reader(server, "silent")
    server.handle(RpcAccepted("silent", CAME_FROM, LISTENING.read))
    return reader


def test_rpc_client_that_never_binds_is_disconnected_at_the_response_timeout():
    server = Server()
    reader = connected(server)
    server.wait(RESPONSE_TIMEOUT_MS - 1)
    assert reader.closed is None
    server.wait(1)
    assert reader.closed is not None
    assert len(server.core.remote.associations) == 0


def test_rpc_client_with_unfinished_request_is_disconnected_and_its_messages_returned():
    server = Server()
    server.send(b"one")
    reader, other = server.connect(), server.connect("192.0.2.99")
    reader.read(reader.open().handle)
    server.wait(60 * RESPONSE_TIMEOUT_MS)
    assert reader.closed is None  # nothing is owed
    reader.feed(request("RemoteQmGetVersion", 50)[:20])
    server.wait(RESPONSE_TIMEOUT_MS)
    assert reader.closed is not None
    assert server.bodies() == ["one"]
    assert other.closed is None


def test_rpc_request_that_arrives_in_pieces_in_time_is_carried_out():
    server = Server()
    reader = server.connect()
    call = reader.begin_pieces("RemoteQmGetVersion", lambda: server.wait(RESPONSE_TIMEOUT_MS // 30))
    server.wait(2 * RESPONSE_TIMEOUT_MS)
    assert reader.answer(call)["pMajor"] == 6
    assert reader.closed is None


def test_input_of_unknown_rpc_connections_is_ignored():
    server = Server()
    for event in (RpcBytesReceived("rpc-77", bind()), RpcConnectionLost("rpc-77", "gone")):
        assert server.core.handle(event, server.now) == []


def test_rpc_bytes_after_a_protocol_violation_are_ignored():
    core = Server().core
    now = Server().now
    core.handle(RpcAccepted("rpc-1", CAME_FROM, LISTENING.read), now)
    breach = b"\xff" * 16
    effects = core.handle(RpcBytesReceived("rpc-1", bind() + breach + request("RemoteQmGetVersion")), now)
    assert [type(effect) for effect in effects] == [SendRpcBytes, CloseRpcConnection]
    assert core.handle(RpcBytesReceived("rpc-1", request("RemoteQmGetVersion")), now) == []


def test_rpc_calls_received_with_the_end_of_their_client_leave_no_state():
    """Calls that arrive together with the bytes that end their association leave no state, because all bytes are read
    before the first call is carried out.
    """
    server = Server()
    server.send(b"one")
    reader = server.connect()
    queue = reader.open()
    desc = {"hRemoteQueue": queue.handle, "dwQueue": queue.handle, "dwRequestID": 9, "ulTimeout": 0}
    asked = request("RemoteQMStartReceive", 50, lpRemoteReadDesc=reader.desc(**desc))
    reader.feed(asked + b"\xff" * 16)
    assert reader.closed is not None
    assert server.bodies(PLAIN) == ["one"]
    assert len(server.core.descriptors) == len(server.core.remote.RemoteReadEntryCollection) == 0
    assert server.core.remote.associations.server.groups.handle_count == 0


def test_rpc_client_of_another_machine_cannot_join_a_group():
    server = Server()
    group = server.connect().group
    other_client = server.readers["silent"] = Reader(server, "silent")
    server.handle(RpcAccepted("silent", Endpoint("192.0.2.99", 40_000), LISTENING.read))
    other_client.feed(bind(group))
    assert other_client.closed is not None
    assert not isinstance(other_client.pdus[0].body, Fault)
