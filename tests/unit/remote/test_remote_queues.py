"""MS-MQMP 3.1.4.2 to 3.1.4.4, MS-MQMQ 2.2.7: the handles of qmcomm with which clients read remote queues."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from remote_reader import ADDRESS, OTHER, PEEK, PEEK_ACCESS, PLAIN, QM_ID, RECEIVE_ACCESS, Faulted, Reader, Server

from reference_qm.core.commands import queue_commands as commanding
from reference_qm.model.statuses import Status
from reference_qm.rpc import FaultStatus
from reference_qm.surface.commands import CloseQueue, CreateQueue, MoveMessage, OpenQueue, PeekMessages, ReceiveMessage

DENY_RECEIVE = 1
SYSTEM, JOURNAL, DEADLETTER, DEADXACT = 0x80, 1, 2, 3


def status(results: dict[str, Any]) -> Status:
    return Status(results["Return"])


def queue_format(kind: int, value: Any, suffix: int = 0) -> dict[str, Any]:
    return {"m_qft": kind, "m_SuffixAndFlags": suffix, "m_reserved": 0, "union": value}


# -- R_QMOpenRemoteQueue ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("access", [0, 2, 3, 0x21, 0x80000001])
def test_an_access_that_is_neither_receive_nor_peek_is_refused(access):
    assert status(Server().connect().open_remote(access=access)) is Status.MQ_ERROR_INVALID_PARAMETER


def test_invalid_share_mode_and_missing_name_are_refused():
    reader = Server().connect()
    assert status(reader.open_remote(share=2)) is Status.MQ_ERROR_INVALID_PARAMETER
    assert status(reader.open_format(None)) is Status.MQ_ERROR_INVALID_PARAMETER


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ((RECEIVE_ACCESS, 0), (RECEIVE_ACCESS, DENY_RECEIVE), Status.STATUS_SHARING_VIOLATION),
        ((RECEIVE_ACCESS, DENY_RECEIVE), (RECEIVE_ACCESS, 0), Status.STATUS_SHARING_VIOLATION),
        ((RECEIVE_ACCESS, 0), (RECEIVE_ACCESS, 0), Status.MQ_OK),
        ((RECEIVE_ACCESS, DENY_RECEIVE), (PEEK_ACCESS, 0), Status.MQ_OK),
    ],
)
def test_exclusive_remote_read_lasts_until_the_queue_is_closed(first, second, expected):
    reader = Server().connect()
    opened = reader.open_remote(access=first[0], share=first[1])
    assert status(opened) is Status.MQ_OK
    assert status(reader.open_remote(access=second[0], share=second[1])) is expected
    reader.call("R_QMCloseRemoteQueueContext", pphContext=opened["pphContext"])
    assert status(reader.open_remote(access=second[0], share=second[1])) is Status.MQ_OK


def test_share_modes_apply_equally_to_local_and_remote_readers():
    server = Server()
    local = server.ask(OpenQueue(queue=PLAIN, deny_receive=True))["handle"]
    reader = server.connect()
    assert status(reader.open_remote()) is Status.STATUS_SHARING_VIOLATION
    server.ask(CloseQueue(handle=local))
    assert status(reader.open_remote()) is Status.MQ_OK


def test_number_of_remotely_opened_queues_is_limited(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("reference_qm.core.remote.qmcomm_methods.OPEN_DESCRIPTORS_LIMIT", 2)
    reader = Server().connect()
    codes = [status(reader.open_remote()) for _ in range(3)]
    assert codes == [Status.MQ_OK, Status.MQ_OK, Status.MQ_ERROR_INSUFFICIENT_RESOURCES]
    assert commanding.OPEN_DESCRIPTORS_LIMIT > 2


# -- who may read ----------------------------------------------------------------------------------------------


# -- QUEUE_FORMAT ----------------------------------------------------------------------------------------------


def journaled() -> tuple[Server, Reader]:
    """Return a server with one message in a queue and one message in its journal."""
    server = Server()
    server.ask(CreateQueue(name="private$\\kept", journaling=True))
    for body in (b"read", b"here"):
        server.send(body, "private$\\kept")
    server.ask(ReceiveMessage(queue="private$\\kept"))
    return server, server.connect()


def first_body(reader: Reader, name: dict[str, Any]) -> bytes:
    opened = reader.open_format(name, PEEK_ACCESS)
    assert status(opened) is Status.MQ_OK, status(opened)
    reader.open_queue(opened["phQueue"])
    desc = reader.read(opened["phQueue"], ulAction=PEEK)["lpRemoteReadDesc"]
    return bytes(desc["lpBuffer"][-4:])


def test_remote_open_finds_journal_and_dead_letter_queues_of_the_machine():
    _, reader = journaled()
    for suffix in (JOURNAL, DEADLETTER, DEADXACT):
        assert status(reader.open_format(queue_format(4, QM_ID, SYSTEM | suffix))) is Status.MQ_OK
    other = UUID("bbbbbbbb-0000-4000-8000-000000000001")
    found = status(reader.open_format(queue_format(4, other, SYSTEM | DEADLETTER)))
    assert found is Status.MQ_ERROR_QUEUE_NOT_FOUND


def test_remote_open_finds_a_subqueue_by_its_format_name_type():
    server, reader = journaled()
    server.ask(CreateQueue(name=f"{PLAIN};urgent"))
    server.send(b"fast")
    (message,) = server.ask(PeekMessages(PLAIN))["messages"]
    server.ask(MoveMessage(queue=PLAIN, to=f"{PLAIN};urgent", lookup_id=message["lookup_id"]))
    assert first_body(reader, queue_format(8, f"TCP:{ADDRESS}\\{PLAIN};urgent", 5)) == b"fast"


@pytest.mark.parametrize(
    ("direct", "expected"),
    [
        (f"HTTP://{ADDRESS}/MSMQ\\private$\\plain", Status.MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION),
        ("TCP:192.0.2.50\\private$\\there", Status.MQ_ERROR_QUEUE_NOT_FOUND),
        ("TCP:192.0.2.51\\private$\\there", Status.MQ_ERROR_QUEUE_NOT_FOUND),
    ],
    ids=["by HTTP", "an outgoing queue", "a queue elsewhere"],
)
def test_http_remote_and_outgoing_queues_are_not_opened_for_reading(direct, expected):
    server = Server()
    server.send_away("TCP:192.0.2.50\\private$\\there")
    assert status(server.connect().open_format(queue_format(3, direct))) is expected
    assert len(server.core.descriptors) == 0


# -- R_QMCloseRemoteQueueContext, R_QMCreateRemoteCursor -------------------------------------------------------


def test_qmcomm_open_context_is_closed_once_and_null_is_ignored():
    server = Server()
    reader = server.connect()
    context = reader.open_remote()["pphContext"]
    assert reader.call("R_QMCloseRemoteQueueContext", pphContext=None) == {"pphContext": None}
    assert len(server.core.descriptors) == 1
    assert reader.call("R_QMCloseRemoteQueueContext", pphContext=context) == {"pphContext": None}
    assert len(server.core.descriptors) == len(server.core.remote.RemoteQueueOpenContextHandleTable) == 0
    with pytest.raises(Faulted) as fault:
        reader.call("R_QMCloseRemoteQueueContext", pphContext=context)
    assert fault.value.status == FaultStatus.NCA_S_FAULT_CONTEXT_MISMATCH


def test_remote_cursor_is_created_only_for_an_open_queue():
    server = Server()
    reader = server.connect()
    queue, other = reader.open_remote()["phQueue"], reader.open_remote(OTHER)["phQueue"]
    cursors = [reader.open_cursor(one) for one in (queue, queue, other)]
    assert [status(one) for one in cursors] == [Status.MQ_OK] * 3
    assert len({one["phCursor"] for one in cursors}) == 3
    for nothing in (0, 0xFFFF):
        refused = reader.open_cursor(nothing)
        assert (status(refused), refused["phCursor"]) == (Status.MQ_ERROR_INVALID_HANDLE, 0)


def test_number_of_remote_cursors_is_limited(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("reference_qm.core.remote.qmcomm_methods.CURSORS_PER_HANDLE_LIMIT", 1)
    reader = Server().connect()
    queue = reader.open_remote()["phQueue"]
    codes = [status(reader.open_cursor(queue)) for _ in range(2)]
    assert codes == [Status.MQ_OK, Status.MQ_ERROR_INSUFFICIENT_RESOURCES]
