"""MS-MQMP 3.1.4.2 to 3.1.4.4, MS-MQMQ 2.2.7: the handles of qmcomm with which remote queues are read."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from remote_reader import QM_ID, Reader, Server

from reference_qm.core.commands import queue_commands as commanding
from reference_qm.model.statuses import Status
from reference_qm.surface.commands import CreateQueue, ReceiveMessage

SYSTEM, JOURNAL, DEADLETTER, DEADXACT = 0x80, 1, 2, 3


def status(results: dict[str, Any]) -> Status:
    return Status(results["Return"])


def queue_format(kind: int, value: Any, suffix: int = 0) -> dict[str, Any]:
    return {"m_qft": kind, "m_SuffixAndFlags": suffix, "m_reserved": 0, "union": value}


# -- R_QMOpenRemoteQueue ---------------------------------------------------------------------------------------


def test_a_share_mode_that_is_none_and_no_name_at_all_are_refused():
    reader = Server().connect()
    assert status(reader.open_remote(share=2)) is Status.MQ_ERROR_INVALID_PARAMETER
    assert status(reader.open_format(None)) is Status.MQ_ERROR_INVALID_PARAMETER


def test_descriptors_are_limited(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("reference_qm.core.remote.qmcomm.OPEN_LIMIT", 2)
    reader = Server().connect()
    codes = [status(reader.open_remote()) for _ in range(3)]
    assert codes == [Status.MQ_OK, Status.MQ_OK, Status.MQ_ERROR_INSUFFICIENT_RESOURCES]
    assert commanding.OPEN_LIMIT > 2


# -- who may read ----------------------------------------------------------------------------------------------


# -- QUEUE_FORMAT ----------------------------------------------------------------------------------------------


def journaled() -> tuple[Server, Reader]:
    """Return a server with a message in a queue and one in its journal."""
    server = Server()
    server.ask(CreateQueue(name="private$\\kept", journaling=True))
    for body in (b"read", b"here"):
        server.send(body, "private$\\kept")
    server.ask(ReceiveMessage(queue="private$\\kept"))
    return server, server.connect()


def test_the_queues_of_the_machine_are_found_by_its_name():
    _, reader = journaled()
    for suffix in (JOURNAL, DEADLETTER, DEADXACT):
        assert status(reader.open_format(queue_format(4, QM_ID, SYSTEM | suffix))) is Status.MQ_OK
    other = UUID("bbbbbbbb-0000-4000-8000-000000000001")
    found = status(reader.open_format(queue_format(4, other, SYSTEM | DEADLETTER)))
    assert found is Status.MQ_ERROR_QUEUE_NOT_FOUND


# -- R_QMCloseRemoteQueueContext, R_QMCreateRemoteCursor -------------------------------------------------------


def test_cursors_are_limited(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("reference_qm.core.remote.qmcomm.CURSOR_LIMIT", 1)
    reader = Server().connect()
    queue = reader.open_remote()["phQueue"]
    codes = [status(reader.open_cursor(queue)) for _ in range(2)]
    assert codes == [Status.MQ_OK, Status.MQ_ERROR_INSUFFICIENT_RESOURCES]
