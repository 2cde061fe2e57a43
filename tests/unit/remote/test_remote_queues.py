"""MS-MQMP 3.1.4.2 to 3.1.4.4, MS-MQMQ 2.2.7: the handles of qmcomm with which remote queues are read."""

from __future__ import annotations

from typing import Any

import pytest
from remote_reader import PLAIN, Server

from reference_qm.core.commands import queue_commands as commanding
from reference_qm.model.statuses import Status
from reference_qm.surface.commands import CloseQueue, OpenQueue


def status(results: dict[str, Any]) -> Status:
    return Status(results["Return"])


# -- R_QMOpenRemoteQueue ---------------------------------------------------------------------------------------


def test_a_share_mode_that_is_none_and_no_name_at_all_are_refused():
    reader = Server().connect()
    assert status(reader.open_remote(share=2)) is Status.MQ_ERROR_INVALID_PARAMETER
    assert status(reader.open_format(None)) is Status.MQ_ERROR_INVALID_PARAMETER


def test_local_and_remote_readers_share_a_queue_by_the_same_rule():
    server = Server()
    local = server.ask(OpenQueue(queue=PLAIN, deny_receive=True))["handle"]
    reader = server.connect()
    assert status(reader.open_remote()) is Status.STATUS_SHARING_VIOLATION
    server.ask(CloseQueue(handle=local))
    assert status(reader.open_remote()) is Status.MQ_OK


def test_descriptors_are_limited(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("reference_qm.core.remote.qmcomm.OPEN_LIMIT", 2)
    reader = Server().connect()
    codes = [status(reader.open_remote()) for _ in range(3)]
    assert codes == [Status.MQ_OK, Status.MQ_OK, Status.MQ_ERROR_INSUFFICIENT_RESOURCES]
    assert commanding.OPEN_LIMIT > 2


# -- who may read ----------------------------------------------------------------------------------------------


# -- QUEUE_FORMAT ----------------------------------------------------------------------------------------------


# -- R_QMCloseRemoteQueueContext, R_QMCreateRemoteCursor -------------------------------------------------------


def test_cursors_are_limited(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("reference_qm.core.remote.qmcomm.CURSOR_LIMIT", 1)
    reader = Server().connect()
    queue = reader.open_remote()["phQueue"]
    codes = [status(reader.open_cursor(queue)) for _ in range(2)]
    assert codes == [Status.MQ_OK, Status.MQ_ERROR_INSUFFICIENT_RESOURCES]
