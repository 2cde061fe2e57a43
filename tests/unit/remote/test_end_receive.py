"""MS-MQQP 3.1.4.2: RemoteQMEndReceive deletes a message that was locked, return it."""

from __future__ import annotations

from remote_reader import ADDRESS, OTHER, Server

from reference_qm.model.statuses import Status

NACK, ACK = 1, 2
INFINITE = 0xFFFFFFFF


def locked():
    """Return a server with one message, a client that has it, its queue and the context handle of the read."""
    server = Server()
    server.send(b"one", recoverable=True)
    reader = server.connect()
    queue = reader.open()
    return server, reader, queue, reader.read(queue.handle)["pphContext"]


def test_an_end_is_answered_when_the_disk_knows():
    server, reader, _, context = locked()
    server.slow_disk = True
    ending = reader.begin("RemoteQMEndReceive", pphContext=context, dwAck=ACK)
    assert reader.answer(ending) is None
    server.write()
    assert reader.answer(ending)["Return"] == Status.MQ_OK
    assert server.bodies() == []


def test_a_message_whose_end_cannot_be_written_is_given_back():
    server, reader, _, context = locked()
    server.slow_disk = True
    ending = reader.begin("RemoteQMEndReceive", pphContext=context, dwAck=ACK)
    server.write(error="full")
    results = reader.answer(ending)
    assert (Status(results["Return"]), results["pphContext"]) == (Status.MQ_ERROR_MESSAGE_STORAGE_FAILED, None)
    assert server.bodies() == ["one"]


def test_the_answer_to_an_end_comes_before_what_follows_from_it():
    """Whoever waits for the acknowledgment, in another queue, is answered too."""
    server = Server()
    admin = f"DIRECT=TCP:{ADDRESS}\\{OTHER}"
    server.send(b"one", acks=frozenset({"positive_receive"}), admin_queue=admin)
    reader = server.connect()
    waiting = reader.begin_read(reader.open(OTHER).handle, ulTimeout=INFINITE)
    read = reader.read(reader.open().handle)
    assert reader.answer(waiting) is None
    assert reader.end(read["pphContext"], ACK) == Status.MQ_OK
    assert reader.answer(waiting)["Return"] == Status.MQ_OK
