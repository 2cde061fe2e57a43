"""MS-MQQP 3.1.4.2: RemoteQMEndReceive deletes a message that was locked, return it."""

from __future__ import annotations

from uuid import UUID

import pytest
from remote_reader import ADDRESS, OTHER, PEEK, Faulted, Server

from reference_qm.model.statuses import Status
from reference_qm.rpc import FaultStatus
from reference_qm.surface.commands import CreateQueue, PeekMessages

NACK, ACK = 1, 2
INFINITE = 0xFFFFFFFF


@pytest.mark.parametrize("wide", [False, True], ids=["NDR", "NDR64"])
def test_an_acknowledged_message_is_deleted_and_one_that_is_refused_is_given_back(wide):
    server = Server()
    for body in (b"one", b"two"):
        server.send(body)
    reader = server.connect(wide=wide)
    queue = reader.open()
    first = reader.read(queue.handle)
    assert first["Return"] == Status.MQ_OK
    assert server.bodies() == ["two"]
    assert reader.end(first["pphContext"], NACK) == Status.MQ_OK
    assert server.bodies() == ["one", "two"]
    again = reader.read(queue.handle)
    assert reader.end(again["pphContext"], ACK) == Status.MQ_OK
    assert server.bodies() == ["two"]


def locked():
    """Return a server with one message, a client that has it, its queue and the context handle of the read."""
    server = Server()
    server.send(b"one", recoverable=True)
    reader = server.connect()
    queue = reader.open()
    return server, reader, queue, reader.read(queue.handle)["pphContext"]


def test_null_is_an_invalid_handle():
    _, reader, _, _ = locked()
    assert Status(reader.end(None, ACK)) is Status.MQ_ERROR_INVALID_HANDLE


@pytest.mark.parametrize("ack", [0, 3, 0xFFFFFFFF])
def test_an_ack_outside_of_its_range_is_a_fault_and_changes_nothing(ack):
    server, reader, _, context = locked()
    stub = _end_stub(context, ack)
    call_id = reader.begin_stub("RemoteQMEndReceive", stub)
    with pytest.raises(Faulted) as fault:
        reader.answer(call_id)
    assert fault.value.status == FaultStatus.RPC_X_BAD_STUB_DATA
    assert reader.end(context, NACK) == Status.MQ_OK
    assert server.bodies() == ["one"]


def _end_stub(context: UUID, ack: int) -> bytes:
    return bytes(4) + context.bytes_le + ack.to_bytes(4, "little")


@pytest.mark.parametrize("ack", [NACK, ACK])
def test_a_handle_is_closed_by_its_end_and_unknown_afterwards(ack):
    _, reader, _, context = locked()
    assert reader.end(context, ack) == Status.MQ_OK
    with pytest.raises(Faulted) as fault:
        reader.end(context, ack)
    assert fault.value.status == FaultStatus.NCA_S_FAULT_CONTEXT_MISMATCH


def test_a_handle_of_another_client_or_of_another_type_is_unknown():
    server, reader, queue, context = locked()
    other_client = server.connect("192.0.2.99")
    for client, handle in ((other_client, context), (reader, queue.session), (reader, queue.context)):
        with pytest.raises(Faulted) as fault:
            client.end(handle, ACK)
        assert fault.value.status == FaultStatus.NCA_S_FAULT_CONTEXT_MISMATCH
    assert reader.end(context, NACK) == Status.MQ_OK
    assert server.bodies() == ["one"]


def test_a_message_that_is_given_back_goes_to_who_waits_for_it():
    server, reader, _, context = locked()
    other = server.connect("192.0.2.99")
    waiting = other.begin_read(other.open().handle, ulTimeout=INFINITE)
    assert reader.end(context, NACK) == Status.MQ_OK
    assert other.answer(waiting)["Return"] == Status.MQ_OK
    assert server.bodies() == []


@pytest.mark.parametrize("ack", [NACK, ACK])
def test_a_message_that_was_purged_while_it_was_locked_is_gone_either_way(ack):
    server, reader, _, context = locked()
    server.purge()
    assert reader.end(context, ack) == Status.MQ_OK
    assert server.bodies() == []


@pytest.mark.parametrize("ack", [NACK, ACK])
def test_after_its_queue_was_closed_an_end_fails_and_the_message_is_given_back(ack):
    """No descriptor is found; nothing is printed for that."""
    server, reader, queue, context = locked()
    assert reader.call("RemoteQMCloseQueue", pphContext=queue.session)["Return"] == Status.MQ_OK
    assert server.bodies() == []
    assert Status(reader.end(context, ack)) is Status.MQ_ERROR_INVALID_PARAMETER
    assert server.bodies() == ["one"]


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


def test_a_client_that_vanishes_while_its_end_is_written_has_ended_it():
    """Else the message would be given to another reader, and then be deleted."""
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


def test_a_restart_forgets_clients_and_gives_their_messages_back():
    server, reader, _, _ = locked()
    reader.begin_read(reader.open().handle, ulTimeout=INFINITE)
    server.restart()
    assert server.bodies() == ["one"]
    assert len(server.core.remote.associations) == len(server.core.remote.RemoteReadEntryCollection) == 0
    assert server.core.remote.associations.server.groups.handles == 0
    again = server.connect()
    assert again.read(again.open().handle)["Return"] == Status.MQ_OK


@pytest.mark.parametrize(("ack", "notified", "kept"), [(NACK, [], []), (ACK, ["MQMSG_CLASS_ACK_RECEIVE"], ["one"])])
def test_only_an_acknowledged_message_is_journaled_and_its_sender_notified(ack, notified, kept):
    server = Server()
    server.ask(CreateQueue(name="private$\\kept", journaling=True))
    admin = f"DIRECT=TCP:{ADDRESS}\\{OTHER}"
    server.send(b"one", "private$\\kept", acks=frozenset({"positive_receive"}), admin_queue=admin)
    reader = server.connect()
    read = reader.read(reader.open("private$\\kept").handle)
    assert server.bodies(OTHER) == server.bodies("private$\\kept;journal") == []
    assert reader.end(read["pphContext"], ack) == Status.MQ_OK
    assert [one["class"] for one in server.ask(PeekMessages(OTHER))["messages"]] == notified
    assert server.bodies("private$\\kept;journal") == kept


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
