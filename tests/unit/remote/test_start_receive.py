"""MS-MQQP 3.1.4.1, 3.1.4.10: RemoteQMStartReceive and RemoteQMStartReceive2 read a message, or wait for one."""

from __future__ import annotations

import pytest
from remote_reader import PEEK, PEEK_ACCESS, PEEK_NEXT, PLAIN, Reader, Server

from reference_qm.model.statuses import Status
from reference_qm.surface.commands import OpenQueue

FIRST, SECOND = "RemoteQMStartReceive", "RemoteQMStartReceive2"
BOTH = pytest.mark.parametrize("method", [FIRST, SECOND])
INFINITE_TIMEOUT = 0xFFFFFFFF


def made(*bodies: bytes, wide: bool = False) -> tuple[Server, Reader, int]:
    """Return a server with messages, a client, and the handle of the queue that the client has opened."""
    server = Server()
    for body in bodies:
        server.send(body)
    reader = server.connect(wide=wide)
    return server, reader, reader.open().handle


def status(number: int) -> Status:
    return Status(number)


# -- what is answered ------------------------------------------------------------------------------------------


# -- what is refused -------------------------------------------------------------------------------------------


@BOTH
def test_start_receive_checks_its_arguments_in_documented_order(method):
    """RemoteQMStartReceive checks in this order: dwQueue, dwRequestID, the missing cursor, the queue that is not open,
    the invalid cursor.
    """
    _, reader, queue = made()
    reader.begin_read(queue, method, ulTimeout=INFINITE_TIMEOUT, dwRequestID=5)
    everything = {"dwQueue": 0, "dwRequestID": 5, "ulAction": PEEK_NEXT}
    assert status(reader.read(queue, method, **everything)["Return"]) is Status.MQ_ERROR_INVALID_PARAMETER
    del everything["dwQueue"]
    assert status(reader.read(queue, method, **everything)["Return"]) is Status.MQ_ERROR_INVALID_PARAMETER
    everything["dwRequestID"] = 6
    assert status(reader.read(queue, method, **everything)["Return"]) is Status.STATUS_INVALID_PARAMETER
    nowhere = {"hRemoteQueue": 0xFFFF, "dwQueue": 0xFFFF}
    assert status(reader.read(queue, method, **everything, **nowhere)["Return"]) is Status.STATUS_INVALID_PARAMETER
    everything["hCursor"] = 0xFFFF
    assert status(reader.read(queue, method, **everything, **nowhere)["Return"]) is Status.MQ_ERROR_INVALID_PARAMETER


def test_remote_reader_cannot_use_handle_of_local_application():
    server, reader, _ = made(b"one")
    local = server.ask(OpenQueue(queue=PLAIN))["handle"]
    assert reader.open_queue(local)["Return"] == Status.MQ_OK  # RemoteQMOpenQueue looks at no descriptor
    assert status(reader.read(local)["Return"]) is Status.MQ_ERROR_INVALID_PARAMETER
    assert server.bodies() == ["one"]


@BOTH
def test_start_receive_refuses_a_handle_opened_to_peek(method):
    """A handle with MQ_PEEK_ACCESS permits peeks only (MS-MQMP 3.1.4.2)."""
    server = Server()
    server.send(b"one")
    reader = server.connect()
    queue = reader.open(access=PEEK_ACCESS).handle
    assert status(reader.read(queue, method)["Return"]) is Status.MQ_ERROR_ACCESS_DENIED
    assert reader.read(queue, method, ulAction=PEEK)["Return"] == Status.MQ_OK
    assert server.bodies() == ["one"]


# -- waiting ---------------------------------------------------------------------------------------------------


# -- cursors ---------------------------------------------------------------------------------------------------
