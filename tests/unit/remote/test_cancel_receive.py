"""MS-MQQP 3.1.4.6: RemoteQMCancelReceive, and the cancels and orphans of DCE/RPC, end a waiting read."""

from __future__ import annotations

import pytest
from remote_reader import Faulted, Server

from reference_qm.model.statuses import Status
from reference_qm.rpc import FaultStatus

INFINITE_TIMEOUT = 0xFFFFFFFF
BOTH = pytest.mark.parametrize("method", ["RemoteQMStartReceive", "RemoteQMStartReceive2"])


def waiting(method: str = "RemoteQMStartReceive", **change):
    """Return a server, a client, its queue, and a call that waits with the dwRequestID 5."""
    server = Server()
    reader = server.connect()
    queue = reader.open().handle
    return server, reader, queue, reader.begin_read(queue, method, ulTimeout=INFINITE_TIMEOUT, dwRequestID=5, **change)


def cancel(reader, queue: int, request: int, p_queue: int | None = None) -> Status:
    p_queue = queue if p_queue is None else p_queue
    results = reader.call("RemoteQMCancelReceive", hQueue=queue, pQueue=p_queue, dwRequestID=request)
    return Status(results["Return"])


@BOTH
def test_cancelled_remote_receive_is_answered_with_a_fault_and_takes_no_message(method):
    """A waiting receive that a co_cancel PDU cancels is answered with a fault, and takes no message (C706 12.6.4.6,
    6.1.8).
    """
    server, reader, queue, call = waiting(method)
    reader.cancel(call)
    with pytest.raises(Faulted) as fault:
        reader.answer(call)
    assert fault.value.status == FaultStatus.NCA_S_FAULT_CANCEL
    server.send(b"late")
    assert server.bodies() == ["late"]
    assert cancel(reader, queue, 5) is Status.MQ_ERROR_INVALID_HANDLE


def test_stopped_queue_manager_answers_waiting_calls_and_ends_associations():
    from reference_qm.surface.inputs import QueueManagerStopped

    server, reader, _, call = waiting()
    server.handle(QueueManagerStopped())
    assert Status(reader.answer(call)["Return"]) is Status.MQ_ERROR_OPERATION_CANCELLED
    assert reader.closed is not None
    assert len(server.core.remote.associations) == len(server.core.descriptors) == 0
