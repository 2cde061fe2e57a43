"""MS-MQQP 3.2.4.7 and 3.2.4.8; MS-MQMP 3.2.4.8: pending reads are cancelled, cursors are opened and closed."""

import pytest
from core_remote import Remote

from reference_qm.surface.commands import CancelWaiting
from reference_qm.surface.remote_commands import (
    RemoteClose,
    RemoteOpenCursor,
    RemotePeek,
    RemoteReceive,
)


@pytest.mark.parametrize("how", [CancelWaiting, RemoteClose])
def test_a_read_that_the_server_was_not_asked_for_yet_is_not_asked_for_any_more(how):
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


def test_cursors_end_with_their_queue():
    remote = Remote()
    number = remote.open()
    cursor = remote.ask(RemoteOpenCursor(number))["cursor"]
    remote.ask(RemoteClose(number))
    assert "no remote cursor" in remote.refusal(RemotePeek(cursor=cursor))
