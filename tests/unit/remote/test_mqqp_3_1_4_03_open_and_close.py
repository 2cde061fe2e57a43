"""MS-MQQP 3.1.4.3 to 3.1.4.5, 3.1.4.7: opening and closing queues and cursors, purging."""

from __future__ import annotations

import pytest
from remote_reader import LICENCE, OTHER, PEEK, PEEK_ACCESS, Faulted, Server

from reference_qm.model.statuses import Status
from reference_qm.rpc import FaultStatus

INFINITE = 0xFFFFFFFF


def test_an_opened_queue_is_noted_with_its_client_and_gets_a_handle():
    server = Server()
    reader = server.connect()
    opened = reader.open()
    assert opened.session is not None
    (entry,) = server.core.remote.OpenQueueEntryCollection.of(opened.handle)
    assert (entry.OpenQueueDescriptorHandle, entry.ClientId) == (opened.handle, LICENCE)


@pytest.mark.parametrize(
    ("p_queue", "context", "expected"),
    [
        (0, 7, Status.MQ_ERROR_INVALID_PARAMETER),
        (7, 0, Status.MQ_ERROR_INVALID_PARAMETER),
        (0, 0, Status.MQ_ERROR_INVALID_PARAMETER),
        (7, 8, Status.MQ_ERROR_INVALID_PARAMETER),
        (7, 7, Status.MQ_OK),
    ],
)
def test_values_that_are_zero_or_differ_open_nothing(p_queue, context, expected):
    server = Server()
    reader = server.connect()
    results = reader.call(
        "RemoteQMOpenQueue", pLicGuid=LICENCE, dwMQS=0, hQueue=0xABCD, pQueue=p_queue, dwpContext=context
    )
    assert Status(results["Return"]) is expected
    assert (results["phContext"] is None) is (expected is not Status.MQ_OK)
    assert len(server.core.remote.OpenQueueEntryCollection) == (expected is Status.MQ_OK)


@pytest.mark.parametrize("dw_mqs", [17, 0xFFFFFFFF])
def test_a_system_category_above_its_range_is_a_fault(dw_mqs):
    reader = Server().connect()
    stub = LICENCE.bytes_le + dw_mqs.to_bytes(4, "little") + b"\7\0\0\0" * 3
    with pytest.raises(Faulted) as fault:
        reader.answer(reader.begin_stub("RemoteQMOpenQueue", stub))
    assert fault.value.status == FaultStatus.RPC_X_BAD_STUB_DATA


@pytest.mark.parametrize("dw_mqs", [0, 1, 16])
def test_no_system_category_is_refused(dw_mqs):
    reader = Server().connect()
    results = reader.call("RemoteQMOpenQueue", pLicGuid=LICENCE, dwMQS=dw_mqs, hQueue=7, pQueue=7, dwpContext=7)
    assert results["Return"] == Status.MQ_OK


def test_the_context_of_qmcomm_may_be_closed_once_the_queue_is_open():
    """MS-MQMP 3.1.4.3, 4.2: then the queue is no longer its own."""
    server = Server()
    server.send(b"one")
    reader = server.connect()
    opened = reader.open()
    assert reader.call("R_QMCloseRemoteQueueContext", pphContext=opened.context) == {"pphContext": None}
    assert reader.read(opened.handle, ulAction=PEEK)["Return"] == Status.MQ_OK


# -- RemoteQMCloseQueue ----------------------------------------------------------------------------------------


def test_closing_a_queue_forgets_it_and_its_handles():
    server = Server()
    reader = server.connect()
    opened = reader.open()
    results = reader.call("RemoteQMCloseQueue", pphContext=opened.session)
    assert (results["Return"], results["pphContext"]) == (Status.MQ_OK, None)
    assert len(server.core.remote.OpenQueueEntryCollection) == len(server.core.descriptors) == 0
    assert Status(reader.read(opened.handle)["Return"]) is Status.MQ_ERROR_INVALID_PARAMETER
    with pytest.raises(Faulted) as fault:
        reader.call("RemoteQMCloseQueue", pphContext=opened.session)
    assert fault.value.status == FaultStatus.NCA_S_FAULT_CONTEXT_MISMATCH


def test_closing_null_is_an_invalid_handle():
    results = Server().connect().call("RemoteQMCloseQueue", pphContext=None)
    assert (Status(results["Return"]), results["pphContext"]) == (Status.MQ_ERROR_INVALID_HANDLE, None)


def test_closing_a_queue_cancels_its_reads_and_no_others():
    server = Server()
    reader = server.connect()
    opened, other = reader.open(), reader.open(OTHER)
    calls = [reader.begin_read(opened.handle, ulTimeout=INFINITE, dwRequestID=number) for number in (1, 2)]
    elsewhere = reader.begin_read(other.handle, ulTimeout=INFINITE)
    reader.call("RemoteQMCloseQueue", pphContext=opened.session)
    for call in calls:
        results = reader.answer(call)
        assert Status(results["Return"]) is Status.MQ_INFORMATION_REMOTE_CANCELED_BY_CLIENT
        assert results["pphContext"] is None
    assert reader.answer(elsewhere) is None
    assert len(server.core.remote.RemoteReadEntryCollection) == 1


# -- RemoteQMCloseCursor ---------------------------------------------------------------------------------------


def test_a_cursor_is_closed_once():
    server = Server()
    reader = server.connect()
    queue = reader.open().handle
    cursor = reader.open_cursor(queue)["phCursor"]
    assert reader.call("RemoteQMCloseCursor", hQueue=queue, hCursor=cursor)["Return"] == Status.MQ_OK
    again = reader.call("RemoteQMCloseCursor", hQueue=queue, hCursor=cursor)
    assert Status(again["Return"]) is Status.MQ_ERROR_INVALID_HANDLE
    read = reader.read(queue, ulAction=PEEK, hCursor=cursor)
    assert Status(read["Return"]) is Status.STATUS_INVALID_PARAMETER


def test_a_cursor_of_another_queue_or_of_none_is_an_invalid_handle():
    reader = Server().connect()
    queue, other = reader.open().handle, reader.open(OTHER).handle
    cursor = reader.open_cursor(queue)["phCursor"]
    for h_queue, h_cursor in ((other, cursor), (queue, 0xFFFF), (0xFFFF, cursor), (0, 0)):
        results = reader.call("RemoteQMCloseCursor", hQueue=h_queue, hCursor=h_cursor)
        assert Status(results["Return"]) is Status.MQ_ERROR_INVALID_HANDLE


# -- RemoteQMPurgeQueue ----------------------------------------------------------------------------------------


def test_purging_deletes_every_message_of_that_queue():
    server = Server()
    for body in (b"one", b"two"):
        server.send(body)
    server.send(b"three", OTHER)
    reader = server.connect()
    queue = reader.open().handle
    assert reader.call("RemoteQMPurgeQueue", hQueue=queue)["Return"] == Status.MQ_OK
    assert (server.bodies(), server.bodies(OTHER)) == ([], ["three"])


def test_a_queue_that_is_not_open_cannot_be_purged():
    server = Server()
    server.send(b"one")
    reader = server.connect()
    reader.open(OTHER)
    only_qmcomm = reader.open_remote()["phQueue"]
    for handle in (only_qmcomm, 0, 0xFFFF):
        results = reader.call("RemoteQMPurgeQueue", hQueue=handle)
        assert Status(results["Return"]) is Status.MQ_ERROR_INVALID_HANDLE
    assert server.bodies() == ["one"]


def test_what_was_opened_to_peek_does_not_purge():
    """MS-MQMP 3.1.4.2: purging needs MQ_RECEIVE_ACCESS."""
    server = Server()
    server.send(b"one")
    reader = server.connect()
    results = reader.call("RemoteQMPurgeQueue", hQueue=reader.open(access=PEEK_ACCESS).handle)
    assert Status(results["Return"]) is Status.MQ_ERROR_ACCESS_DENIED
    assert server.bodies() == ["one"]


def test_a_purge_is_answered_when_the_disk_knows_and_fails_with_it():
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
