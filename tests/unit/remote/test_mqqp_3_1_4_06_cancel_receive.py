"""MS-MQQP 3.1.4.6: RemoteQMCancelReceive, and the cancels and orphans of DCE/RPC, end a read that waits."""

from __future__ import annotations

import pytest
from remote_reader import OTHER, PEEK, PEEK_NEXT, RECEIVE, Faulted, Server

from reference_qm.model.statuses import Status
from reference_qm.rpc import FaultStatus

INFINITE = 0xFFFFFFFF
BOTH = pytest.mark.parametrize("method", ["RemoteQMStartReceive", "RemoteQMStartReceive2"])


def waiting(method: str = "RemoteQMStartReceive", **change):
    """Return a server, a client, its queue, and the call that waits under dwRequestID 5."""
    server = Server()
    reader = server.connect()
    queue = reader.open().handle
    return server, reader, queue, reader.begin_read(queue, method, ulTimeout=INFINITE, dwRequestID=5, **change)


def cancel(reader, queue: int, request: int, p_queue: int | None = None) -> Status:
    p_queue = queue if p_queue is None else p_queue
    results = reader.call("RemoteQMCancelReceive", hQueue=queue, pQueue=p_queue, dwRequestID=request)
    return Status(results["Return"])


@BOTH
@pytest.mark.parametrize("action", [RECEIVE, PEEK])
def test_a_cancelled_read_is_answered_as_cancelled_by_its_client(method, action):
    server, reader, queue, call = waiting(method, ulAction=action)
    assert cancel(reader, queue, 5) is Status.MQ_OK
    results = reader.answer(call)
    assert Status(results["Return"]) is Status.MQ_INFORMATION_REMOTE_CANCELED_BY_CLIENT
    assert results["pphContext"] is None
    server.send(b"late")
    assert server.bodies() == ["late"]
    assert reader.read(queue, method, dwRequestID=5)["Return"] == Status.MQ_OK


def test_the_next_message_that_is_waited_for_by_a_cursor_is_cancelled_too():
    server = Server()
    server.send(b"one")
    reader = server.connect()
    queue = reader.open().handle
    cursor = reader.open_cursor(queue)["phCursor"]
    reader.read(queue, ulAction=PEEK, hCursor=cursor)
    call = reader.begin_read(queue, ulAction=PEEK_NEXT, hCursor=cursor, ulTimeout=INFINITE, dwRequestID=5)
    assert cancel(reader, queue, 5) is Status.MQ_OK
    assert Status(reader.answer(call)["Return"]) is Status.MQ_INFORMATION_REMOTE_CANCELED_BY_CLIENT


def test_values_that_are_zero_or_differ_cancel_nothing():
    _, reader, queue, call = waiting()
    for h_queue, p_queue in ((queue, 0), (0, 0), (queue, queue + 1)):
        assert cancel(reader, h_queue, 5, p_queue) is Status.MQ_ERROR_INVALID_PARAMETER
    assert reader.answer(call) is None


def test_a_queue_without_reads_is_an_invalid_handle_and_a_request_that_is_none_an_error():
    _, reader, queue, call = waiting()
    other = reader.open(OTHER).handle
    assert cancel(reader, other, 5) is Status.MQ_ERROR_INVALID_HANDLE
    assert cancel(reader, queue, 6) is Status.MQ_ERROR
    assert reader.answer(call) is None


def test_a_read_that_has_its_message_cannot_be_cancelled():
    server, reader, queue, call = waiting()
    server.send(b"one")
    assert cancel(reader, queue, 5) is Status.MQ_ERROR_INVALID_HANDLE
    assert reader.end(reader.answer(call)["pphContext"], 1) == Status.MQ_OK
    assert server.bodies() == ["one"]


def test_the_read_of_another_client_with_the_same_request_id_goes_on():
    server, reader, queue, call = waiting()
    other = server.connect("192.0.2.99")
    others = other.open().handle
    theirs = other.begin_read(others, ulTimeout=INFINITE, dwRequestID=5)
    assert cancel(other, others, 5) is Status.MQ_OK
    assert other.answer(theirs) is not None
    assert reader.answer(call) is None
    assert cancel(reader, queue, 5) is Status.MQ_OK


def test_a_read_is_cancelled_from_another_association():
    server, reader, queue, call = waiting()
    other = server.connect(group=reader.group)
    assert cancel(other, queue, 5) is Status.MQ_OK
    assert Status(reader.answer(call)["Return"]) is Status.MQ_INFORMATION_REMOTE_CANCELED_BY_CLIENT


@BOTH
def test_a_cancelled_call_is_answered_with_a_fault_and_takes_no_message(method):
    """C706 12.6.4.6, 6.1.8: co_cancel."""
    server, reader, queue, call = waiting(method)
    reader.cancel(call)
    with pytest.raises(Faulted) as fault:
        reader.answer(call)
    assert fault.value.status == FaultStatus.NCA_S_FAULT_CANCEL
    server.send(b"late")
    assert server.bodies() == ["late"]
    assert cancel(reader, queue, 5) is Status.MQ_ERROR_INVALID_HANDLE


@BOTH
def test_an_orphaned_call_takes_no_message_and_is_not_answered(method):
    """C706 12.6.4.8: orphaned."""
    server, reader, _, call = waiting(method)
    reader.orphan(call)
    server.send(b"late")
    assert server.bodies() == ["late"]
    assert reader.answer(call) is None
    assert len(server.core.remote.reads) == len(server.core.remote.RemoteReadEntryCollection) == 0


def test_a_client_that_vanishes_waits_no_more():
    server, reader, _, _ = waiting()
    reader.vanish()
    server.send(b"late")
    assert server.bodies() == ["late"]
    assert len(server.core.readers) == len(server.core.descriptors) == 0


def test_a_stopped_queue_manager_answers_who_waits_and_ends_associations():
    from reference_qm.surface.inputs import Stopped

    server, reader, _, call = waiting()
    server.handle(Stopped())
    assert Status(reader.answer(call)["Return"]) is Status.MQ_ERROR_OPERATION_CANCELLED
    assert reader.closed is not None
    assert len(server.core.remote.associations) == len(server.core.descriptors) == 0
