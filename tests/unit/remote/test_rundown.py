"""MS-MQQP 3.1.6.1, 3.1.6.2 and MS-MQMP 3.1.7.2: what clients leave behind when they vanish."""

from __future__ import annotations

import gc

import pytest
from remote_reader import LICENCE, LISTENING, PLAIN, Server, bind, request

from reference_qm.model.statuses import Status
from reference_qm.surface.effects import RpcSend
from reference_qm.surface.inputs import Endpoint, RpcAccepted, RpcBytes, RpcLost


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


@pytest.mark.parametrize("wide", [False, True], ids=["NDR", "NDR64"])
def test_clients_that_vanish_in_the_middle_of_everything_leave_nothing(wide):
    """Each opens a queue with a cursor, holds a message, waits for another, and vanishes."""
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
    assert position.held == 0


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
                (answer,) = core.handle(RpcBytes("rpc-0", data), now)
                assert isinstance(answer, RpcSend)
            assert len(core.remote.OpenQueueEntryCollection) == 1
            core.handle(RpcLost("rpc-0", "gone"), now)

    abandon(100)
    before = objects()
    abandon(2_000)
    assert nothing_is_left(server)
    assert objects() - before < 100, "an object for every twentieth of them, or more"


def objects() -> int:
    """Return the number of objects."""
    gc.collect()
    return len(gc.get_objects())
