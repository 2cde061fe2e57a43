"""MS-MQQP 3.1.4.3 to 3.1.4.5, 3.1.4.7: opening and closing queues and cursors, purging."""

from __future__ import annotations

from published_bytes import load_published
from remote_reader import OTHER, PEEK, PEEK_ACCESS, Server

from reference_qm.model.statuses import Status

INFINITE_TIMEOUT = 0xFFFFFFFF


def test_qmcomm_context_handle_may_be_closed_while_the_queue_stays_open():
    """A client may close the context handle of qmcomm while the queue stays open, because qm2qm then owns the queue
    (MS-MQMP 3.1.4.3, 4.2).
    """
    server = Server()
    server.send(b"one")
    reader = server.connect()
    opened = reader.open()
    assert reader.call("R_QMCloseRemoteQueueContext", pphContext=opened.context) == {"pphContext": None}
    assert reader.read(opened.handle, ulAction=PEEK)["Return"] == Status.MQ_OK


def test_open_call_of_a_scanner_fails_in_a_response_of_the_expected_size():
    """The open call of the scanner nessus, whose dwDesiredAccess is 0, fails with a response of the size that the
    scanner expects. Windows returns a different failure, but clients treat all failures alike (MS-MQMP 3.1.4.2).
    """
    probe = load_published()["nessus-open-remote-queue"]
    reader = Server().connect()
    call = reader.begin_stub(probe.packet, probe.data)
    assert [len(pdu.body.stub) for pdu in reader.pdus] == [probe.answer_size]
    results = reader.answer(call)
    assert results is not None
    assert results["Return"] >> 31 == probe.answer_status >> 31 == 1


# -- RemoteQMCloseQueue ----------------------------------------------------------------------------------------


def test_closing_a_queue_cancels_its_reads_and_no_others():
    server = Server()
    reader = server.connect()
    opened, other = reader.open(), reader.open(OTHER)
    calls = [reader.begin_read(opened.handle, ulTimeout=INFINITE_TIMEOUT, dwRequestID=number) for number in (1, 2)]
    elsewhere = reader.begin_read(other.handle, ulTimeout=INFINITE_TIMEOUT)
    reader.call("RemoteQMCloseQueue", pphContext=opened.session)
    for call in calls:
        results = reader.answer(call)
        assert Status(results["Return"]) is Status.MQ_INFORMATION_REMOTE_CANCELED_BY_CLIENT
        assert results["pphContext"] is None
    assert reader.answer(elsewhere) is None
    assert len(server.core.remote.RemoteReadEntryCollection) == 1


# -- RemoteQMCloseCursor ---------------------------------------------------------------------------------------


def test_remote_cursor_can_be_closed_only_once():
    server = Server()
    reader = server.connect()
    queue = reader.open().handle
    cursor = reader.open_cursor(queue)["phCursor"]
    assert reader.call("RemoteQMCloseCursor", hQueue=queue, hCursor=cursor)["Return"] == Status.MQ_OK
    again = reader.call("RemoteQMCloseCursor", hQueue=queue, hCursor=cursor)
    assert Status(again["Return"]) is Status.MQ_ERROR_INVALID_HANDLE
    read = reader.read(queue, ulAction=PEEK, hCursor=cursor)
    assert Status(read["Return"]) is Status.STATUS_INVALID_PARAMETER


# -- RemoteQMPurgeQueue ----------------------------------------------------------------------------------------


def test_handle_opened_to_peek_cannot_purge():
    """A handle with MQ_PEEK_ACCESS cannot purge the queue; purging needs MQ_RECEIVE_ACCESS (MS-MQMP 3.1.4.2)."""
    server = Server()
    server.send(b"one")
    reader = server.connect()
    results = reader.call("RemoteQMPurgeQueue", hQueue=reader.open(access=PEEK_ACCESS).handle)
    assert Status(results["Return"]) is Status.MQ_ERROR_ACCESS_DENIED
    assert server.bodies() == ["one"]


def test_remote_purge_is_answered_after_disk_write_and_fails_with_disk():
    for error, expected, left in ((None, Status.MQ_OK, []), ("full", Status.MQ_ERROR_MESSAGE_STORAGE_FAILED, ["one"])):
        server = Server()
        server.send(b"one", recoverable=True)
        reader = server.connect()
        queue = reader.open().handle
        server.slow_disk = True
        purging = reader.begin("RemoteQMPurgeQueue", hQueue=queue)
        assert reader.answer(purging) is None
        server.write(error)
        assert Status(reader.answer(purging)["Return"]) is expected
        assert server.bodies() == left
