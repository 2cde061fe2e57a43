"""MS-MQQP 3.1.4.2: RemoteQMEndReceive deletes a locked message, or returns it to the queue."""

from __future__ import annotations

import pytest
from remote_reader import ADDRESS, OTHER, PEEK, Server

from reference_qm.model.statuses import Status

NACK, ACK = 1, 2
INFINITE_TIMEOUT = 0xFFFFFFFF


def locked():
    """Return a server with one message, a client that has locked the message, its queue, and the context handle of the
    read.
    """
    server = Server()
    server.send(b"one", recoverable=True)
    reader = server.connect()
    queue = reader.open()
    return server, reader, queue, reader.read(queue.handle)["pphContext"]


@pytest.mark.parametrize("ack", [NACK, ACK])
def test_end_receive_of_a_purged_locked_message_removes_it_for_ack_and_nack(ack):
    server, reader, _, context = locked()
    server.purge()
    assert reader.end(context, ack) == Status.MQ_OK
    assert server.bodies() == []


def test_end_receive_is_answered_after_disk_write():
    server, reader, _, context = locked()
    server.slow_disk = True
    ending = reader.begin("RemoteQMEndReceive", pphContext=context, dwAck=ACK)
    assert reader.answer(ending) is None
    server.write()
    assert reader.answer(ending)["Return"] == Status.MQ_OK
    assert server.bodies() == []


def test_message_returns_to_its_queue_when_end_receive_cannot_be_written():
    server, reader, _, context = locked()
    server.slow_disk = True
    ending = reader.begin("RemoteQMEndReceive", pphContext=context, dwAck=ACK)
    server.write(error="full")
    results = reader.answer(ending)
    assert (Status(results["Return"]), results["pphContext"]) == (Status.MQ_ERROR_MESSAGE_STORAGE_FAILED, None)
    assert server.bodies() == ["one"]


def test_end_receive_takes_effect_although_its_client_vanishes_during_the_write():
    """RemoteQMEndReceive takes effect although its client vanishes during the write; otherwise another reader would get
    the message before it is deleted.
    """
    server, reader, _, context = locked()
    server.slow_disk = True
    reader.begin("RemoteQMEndReceive", pphContext=context, dwAck=ACK)
    reader.vanish()
    assert server.bodies() == []
    server.write()
    server.slow_disk = False
    assert server.bodies() == []
    other = server.connect()
    assert Status(other.read(other.open().handle, ulAction=PEEK)["Return"]) is Status.MQ_ERROR_IO_TIMEOUT


def test_end_receive_is_answered_before_its_consequences():
    """RemoteQMEndReceive is answered before the read in another queue that waits for the resulting acknowledgment."""
    server = Server()
    admin = f"DIRECT=TCP:{ADDRESS}\\{OTHER}"
    server.send(b"one", acks=frozenset({"positive_receive"}), admin_queue=admin)
    reader = server.connect()
    waiting = reader.begin_read(reader.open(OTHER).handle, ulTimeout=INFINITE_TIMEOUT)
    read = reader.read(reader.open().handle)
    assert reader.answer(waiting) is None
    assert reader.end(read["pphContext"], ACK) == Status.MQ_OK
    assert reader.answer(waiting)["Return"] == Status.MQ_OK
