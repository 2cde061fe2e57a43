"""MS-MQQP 3.2.4.7 and 3.2.4.8; MS-MQMP 3.2.4.8: pending reads are cancelled, cursors are opened and closed."""

import pytest
from core_remote import CURSOR, HANDLE, PORT, READ_PORT, Remote, read, returning

from reference_qm.surface.commands import CancelWaiting
from reference_qm.surface.remote_commands import (
    RemoteClose,
    RemoteCloseCursor,
    RemoteOpenCursor,
    RemotePeek,
    RemoteReceive,
)


def waiting(remote, request=RemoteReceive):
    remote.waits.add("RemoteQMStartReceive2")
    token = remote.begin(request(remote.open(), timeout_ms=None))
    (call,) = remote.calls["RemoteQMStartReceive2"]
    remote.log.clear()
    return token, call


def test_message_received_after_cancel_is_returned_to_server():
    remote = Remote()
    token, call = waiting(remote)
    remote.ask(CancelWaiting(token))
    remote.answer(call, read(call))
    assert remote.arguments("RemoteQMEndReceive")["dwAck"] == 1
    assert "cancelled" in remote.error(token)


@pytest.mark.parametrize("how", [CancelWaiting, RemoteClose])
def test_read_cancelled_before_its_request_is_not_requested(how):
    remote = Remote()
    number = remote.open()
    remote.waits.add("RemoteQmGetVersion")
    token = remote.begin(RemoteReceive(number, timeout_ms=None))
    (call,) = remote.calls["RemoteQmGetVersion"]
    remote.ask(how(token if how is CancelWaiting else number))
    assert remote.pending() == []
    assert "RemoteQMCancelReceive" not in remote.methods
    if how is CancelWaiting:
        remote.answer(call, remote.answers["RemoteQmGetVersion"](call))
        assert "cancelled" in remote.error(token)
    assert "RemoteQMStartReceive2" not in remote.methods


def test_cancel_of_a_read_that_is_not_pending_is_refused():
    remote = Remote()
    assert remote.ask(CancelWaiting(99)) == {"cancelled": False}
    assert remote.log == []


def test_remote_queue_closes_although_its_read_ended_meanwhile():
    remote = Remote()
    _token, _call = waiting(remote)
    remote.answers["RemoteQMCancelReceive"] = returning(0xC00E0001)
    number = next(iter(remote.core.remote_client.queues))
    remote.ask(RemoteClose(number))
    assert remote.methods == ["RemoteQMCancelReceive", "RemoteQMCloseQueue"]


def test_a_cursor_is_opened_and_closed():
    remote = Remote()
    number = remote.open()
    cursor = remote.ask(RemoteOpenCursor(number))["cursor"]
    assert [(port, method) for port, method, _ in remote.log] == [
        (PORT, "R_QMGetRTQMServerPort"),
        (PORT, "R_QMCreateRemoteCursor"),
    ]
    remote.log.clear()
    remote.ask(RemoteCloseCursor(cursor))
    assert remote.log == [(READ_PORT, "RemoteQMCloseCursor", {"hQueue": HANDLE, "hCursor": CURSOR})]
    assert "is not open: open a new cursor" in remote.refusal(RemoteCloseCursor(cursor))


def test_cursors_end_with_their_queue():
    remote = Remote()
    number = remote.open()
    cursor = remote.ask(RemoteOpenCursor(number))["cursor"]
    remote.ask(RemoteClose(number))
    assert "is not open: open a new cursor" in remote.refusal(RemotePeek(cursor=cursor))


def test_a_cursor_that_cannot_be_made_is_an_error():
    remote = Remote()
    number = remote.open()
    remote.answers["R_QMCreateRemoteCursor"] = returning(0xC00E0007)
    assert "R_QMCreateRemoteCursor returned" in remote.refusal(RemoteOpenCursor(number))
    assert remote.core.remote_client.queue_and_handle_by_cursor == {}
