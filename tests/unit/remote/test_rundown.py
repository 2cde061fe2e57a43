"""MS-MQQP 3.1.6.1, 3.1.6.2 and MS-MQMP 3.1.7.2: the rundown of handles after a client vanishes."""

from __future__ import annotations

import gc

import pytest
from remote_reader import ADDRESS, LICENCE, LISTENING, OTHER, PLAIN, Server, bind, request

from reference_qm.model.statuses import Status
from reference_qm.surface.effects import SendRpcBytes
from reference_qm.surface.inputs import Endpoint, RpcAccepted, RpcBytesReceived, RpcConnectionLost


def nothing_is_left(server: Server) -> bool:
    remote = server.core.remote
    left = (
        remote.associations,
        remote.RemoteReadEntryCollection,
        remote.OpenQueueEntryCollection,
        remote.RemoteQueueOpenContextHandleTable,
        remote.reads,
        remote.associations.server.groups,
        server.core.descriptors,
        server.core.readers,
    )
    return [len(one) for one in left] == [0] * len(left)


def test_remote_queues_of_a_vanished_client_are_closed():
    server = Server()
    reader = server.connect()
    reader.open()
    reader.open(OTHER)
    reader.vanish()
    assert nothing_is_left(server)


def test_messages_of_vanished_client_return_without_receive_ack():
    server = Server()
    for body in (b"one", b"two"):
        admin = f"DIRECT=TCP:{ADDRESS}\\{OTHER}"
        server.send(body, acks=frozenset({"positive_receive"}), admin_queue=admin)
    reader = server.connect()
    queue = reader.open()
    reader.read(queue.handle)
    reader.read(queue.handle, dwRequestID=2)
    assert server.bodies() == []
    reader.vanish()
    assert (server.bodies(), server.bodies(OTHER)) == (["one", "two"], [])
    assert nothing_is_left(server)


def test_rundown_does_not_return_a_message_purged_meanwhile():
    server = Server()
    server.send(b"one")
    reader = server.connect()
    reader.read(reader.open().handle)
    server.purge()
    reader.vanish()
    assert server.bodies() == []


def test_remote_handles_stay_open_while_the_client_has_another_association():
    """The handles of a client stay open while the client has another association, because they belong to the
    association group (MS-RPCE 3.3.1.5.7).
    """
    server = Server()
    server.send(b"one")
    first = server.connect()
    queue = first.open()
    read = first.read(queue.handle)
    second = server.connect(group=first.group)
    first.vanish()
    assert server.bodies() == []
    assert second.end(read["pphContext"], 2) == Status.MQ_OK
    second.vanish()
    assert server.bodies() == []
    assert nothing_is_left(server)


def test_queue_opened_only_by_qmcomm_is_closed_with_its_context_handle():
    server = Server()
    reader = server.connect()
    reader.open_remote()
    assert len(server.core.descriptors) == 1
    reader.vanish()
    assert nothing_is_left(server)


def test_a_queue_that_qm2qm_took_over_outlives_the_client_of_qmcomm():
    """A queue that an application opened with qmcomm stays open after the application vanishes, because its supporting
    server has opened it with qm2qm (MS-MQMP 4.2).
    """
    server = Server()
    server.send(b"one")
    application, supporting = server.connect("192.0.2.1"), server.connect("192.0.2.2")
    handle = application.open_remote()["phQueue"]
    supporting.open_queue(handle)
    application.vanish()
    assert supporting.read(handle)["Return"] == Status.MQ_OK
    supporting.vanish()
    assert server.bodies() == ["one"]
    assert nothing_is_left(server)


@pytest.mark.parametrize("wide", [False, True], ids=["NDR", "NDR64"])
def test_clients_vanishing_at_any_point_leave_no_state(wide):
    """Each client opens a queue with a cursor, locks a message, waits for another message, and vanishes; no state
    remains.
    """
    server = Server()
    server.send(b"one")
    for _ in range(200):
        reader = server.connect(wide=wide)
        queue = reader.open().handle
        reader.open_cursor(queue)
        assert reader.read(queue)["Return"] == Status.MQ_OK
        reader.begin_read(queue, dwRequestID=2, ulTimeout=60_000)
        reader.vanish()
    assert server.bodies() == ["one"]
    assert nothing_is_left(server)
    (position,) = server.core.adm.QueueCollection[PLAIN].MessagePositionList
    assert position.reader_hold_count == 0


def test_sessions_opened_and_abandoned_leave_no_handle_and_no_memory():
    server = Server()
    reader = server.connect()
    sent = [bind(), request("RemoteQMOpenQueue", pLicGuid=LICENCE, dwMQS=0, hQueue=7, pQueue=7, dwpContext=7)]
    reader.vanish()
    core, now, came_from = server.core, server.now, Endpoint("192.0.2.7", 40_000)

    def abandon(sessions: int) -> None:
        for _ in range(sessions):
            core.handle(RpcAccepted("rpc-0", came_from, LISTENING.read), now)
            for data in sent:
                (answer,) = core.handle(RpcBytesReceived("rpc-0", data), now)
                assert isinstance(answer, SendRpcBytes)
            assert len(core.remote.OpenQueueEntryCollection) == 1
            core.handle(RpcConnectionLost("rpc-0", "gone"), now)

    abandon(100)
    before = objects()
    abandon(2_000)
    assert nothing_is_left(server)
    assert objects() - before < 100, "an object for every twentieth of them, or more"


def objects() -> int:
    """Return the number of live objects."""
    gc.collect()
    return len(gc.get_objects())
