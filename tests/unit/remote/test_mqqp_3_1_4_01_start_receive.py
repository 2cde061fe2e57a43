"""MS-MQQP 3.1.4.1, 3.1.4.10: RemoteQMStartReceive and RemoteQMStartReceive2 read a message, or wait for one."""

from __future__ import annotations

import pytest
from remote_reader import OTHER, PEEK, PEEK_ACCESS, PEEK_NEXT, PLAIN, QM_ID, RECEIVE, Reader, Server

from reference_qm.codec import UserMessagePacket, parse_packet
from reference_qm.config import QueueSettings
from reference_qm.model.statuses import Status
from reference_qm.surface.commands import DeleteQueue, OpenQueue

FIRST, SECOND = "RemoteQMStartReceive", "RemoteQMStartReceive2"
BOTH = pytest.mark.parametrize("method", [FIRST, SECOND])
INFINITE = 0xFFFFFFFF


def made(*bodies: bytes, wide: bool = False) -> tuple[Server, Reader, int]:
    """Return a server with messages, a client, and the handle of the queue that it has opened."""
    server = Server()
    for body in bodies:
        server.send(body)
    reader = server.connect(wide=wide)
    return server, reader, reader.open().handle


def desc_of(results):
    """Return the REMOTEREADDESC of an answer of either method."""
    both = results.get("lpRemoteReadDesc2")
    return results["lpRemoteReadDesc"] if both is None else both["pRemoteReadDesc"]


def body_of(results) -> bytes:
    packet = parse_packet(desc_of(results)["lpBuffer"])
    assert isinstance(packet, UserMessagePacket)
    return packet.MessagePropertiesHeader.MessageBody


def status(number: int) -> Status:
    return Status(number)


# -- what is answered ------------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("wide", [False, True], ids=["NDR", "NDR64"])
def test_a_receive_gives_the_first_message_as_a_user_message_packet_and_a_handle(method, wide):
    server, reader, queue = made(b"one", b"two", wide=wide)
    results = reader.read(queue, method)
    assert (results["Return"], body_of(results)) == (Status.MQ_OK, b"one")
    assert results["pphContext"] is not None
    desc = desc_of(results)
    packet = parse_packet(desc["lpBuffer"])
    assert desc["dwSize"] == len(desc["lpBuffer"]) == packet.BaseHeader.PacketSize
    assert packet.UserHeader.SourceQueueManager == QM_ID
    assert server.bodies() == ["two"]


def test_the_time_of_arrival_is_returned_in_seconds_since_1970():
    server = Server()
    server.wait(7_000)
    server.send(b"one")
    server.wait(5_000)
    reader = server.connect()
    desc = desc_of(reader.read(reader.open().handle))
    assert (desc["dwArriveTime"], desc["Reserved"]) == (1_800_000_007, 1)


@BOTH
def test_a_peek_gives_the_first_message_without_a_handle_and_leaves_it(method):
    server, reader, queue = made(b"one", b"two")
    results = reader.read(queue, method, ulAction=PEEK)
    assert (results["Return"], results["pphContext"], body_of(results)) == (Status.MQ_OK, None, b"one")
    assert server.bodies() == ["one", "two"]


def test_the_sequential_id_is_the_lower_seven_bytes_of_the_lookup_identifier():
    server, reader, queue = made(b"one")
    results = reader.read(queue, SECOND, ulAction=PEEK)
    (position,) = server.core.adm.QueueCollection[PLAIN].MessagePositionList
    assert position.LookupIdentifier >> 56 == 4  # 7 - priority
    assert results["lpRemoteReadDesc2"]["SequentialId"] == position.LookupIdentifier & 0x00FFFFFFFFFFFFFF


@BOTH
def test_a_large_message_comes_in_fragments(method):
    body = bytes(range(256)) * 4096
    _, reader, queue = made(body)
    assert body_of(reader.read(queue, method, ulAction=PEEK)) == body


@BOTH
def test_a_failure_gives_neither_handle_nor_message(method):
    _, reader, queue = made()
    results = reader.read(queue, method)
    desc = desc_of(results)
    assert (status(results["Return"]), results["pphContext"]) == (Status.MQ_ERROR_IO_TIMEOUT, None)
    assert (desc["dwSize"], desc["lpBuffer"]) == (0, None)


# -- what is refused -------------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"dwQueue": 0}, Status.MQ_ERROR_INVALID_PARAMETER),
        ({"dwQueue": 0xFFFF}, Status.MQ_ERROR_INVALID_PARAMETER),
        ({"hRemoteQueue": 0xFFFF, "dwQueue": 0xFFFF}, Status.MQ_ERROR_INVALID_PARAMETER),
        ({"hRemoteQueue": 0, "dwQueue": 0}, Status.MQ_ERROR_INVALID_PARAMETER),
        ({"ulAction": PEEK_NEXT}, Status.STATUS_INVALID_PARAMETER),
        ({"ulAction": PEEK_NEXT, "hCursor": 0xFFFF}, Status.STATUS_INVALID_PARAMETER),
        ({"hCursor": 0xFFFF}, Status.STATUS_INVALID_PARAMETER),
        ({"ulAction": 0x40000010}, Status.MQ_ERROR_INVALID_PARAMETER),
        ({"ulAction": 7}, Status.MQ_ERROR_INVALID_PARAMETER),
    ],
)
def test_wrong_values_are_refused(method, change, expected):
    server, reader, queue = made(b"one")
    assert status(reader.read(queue, method, **change)["Return"]) is expected
    assert server.bodies() == ["one"]


@BOTH
def test_the_order_of_refusals_is_that_of_the_document(method):
    """dwQueue, dwRequestID, the missing cursor, the queue that is not open, the cursor that is none."""
    _, reader, queue = made()
    reader.begin_read(queue, method, ulTimeout=INFINITE, dwRequestID=5)
    everything = {"dwQueue": 0, "dwRequestID": 5, "ulAction": PEEK_NEXT}
    assert status(reader.read(queue, method, **everything)["Return"]) is Status.MQ_ERROR_INVALID_PARAMETER
    del everything["dwQueue"]
    assert status(reader.read(queue, method, **everything)["Return"]) is Status.MQ_ERROR_INVALID_PARAMETER
    everything["dwRequestID"] = 6
    assert status(reader.read(queue, method, **everything)["Return"]) is Status.STATUS_INVALID_PARAMETER
    nowhere = {"hRemoteQueue": 0xFFFF, "dwQueue": 0xFFFF}
    assert status(reader.read(queue, method, **everything, **nowhere)["Return"]) is Status.STATUS_INVALID_PARAMETER
    everything["hCursor"] = 0xFFFF
    assert status(reader.read(queue, method, **everything, **nowhere)["Return"]) is Status.MQ_ERROR_INVALID_PARAMETER


def test_a_null_description_is_an_invalid_handle():
    _, reader, _ = made()
    results = reader.call(SECOND, lpRemoteReadDesc2={"pRemoteReadDesc": None, "SequentialId": 0})
    assert status(results["Return"]) is Status.MQ_ERROR_INVALID_HANDLE
    assert results["lpRemoteReadDesc2"]["pRemoteReadDesc"] is None


@BOTH
def test_a_request_id_at_work_is_refused_and_is_free_again_when_it_is_not(method):
    server, reader, queue = made()
    waiting = reader.begin_read(queue, method, ulTimeout=INFINITE, dwRequestID=5)
    again = reader.read(queue, method, dwRequestID=5)
    assert status(again["Return"]) is Status.MQ_ERROR_INVALID_PARAMETER
    assert status(reader.read(queue, method, dwRequestID=6)["Return"]) is Status.MQ_ERROR_IO_TIMEOUT
    server.send(b"one")
    assert reader.answer(waiting)["Return"] == Status.MQ_OK
    assert status(reader.read(queue, method, dwRequestID=5)["Return"]) is Status.MQ_ERROR_IO_TIMEOUT


def test_the_same_request_id_is_at_work_for_two_queues():
    server, reader, queue = made()
    other = reader.open(OTHER).handle
    calls = [reader.begin_read(one, ulTimeout=INFINITE, dwRequestID=5) for one in (queue, other)]
    server.send(b"one")
    server.send(b"two", OTHER)
    assert [body_of(reader.answer(call)) for call in calls] == [b"one", b"two"]


def test_a_queue_that_no_client_opened_by_qm2qm_cannot_be_read():
    _, reader, _ = made(b"one")
    handle = reader.open_remote()["phQueue"]
    assert status(reader.read(handle)["Return"]) is Status.MQ_ERROR_INVALID_PARAMETER
    assert reader.open_queue(handle)["Return"] == Status.MQ_OK
    assert reader.read(handle)["Return"] == Status.MQ_OK


def test_a_handle_of_a_local_application_is_none_of_a_remote_reader():
    server, reader, _ = made(b"one")
    local = server.ask(OpenQueue(queue=PLAIN))["handle"]
    assert reader.open_queue(local)["Return"] == Status.MQ_OK  # RemoteQMOpenQueue looks at no descriptor
    assert status(reader.read(local)["Return"]) is Status.MQ_ERROR_INVALID_PARAMETER
    assert server.bodies() == ["one"]


@BOTH
def test_what_was_opened_to_peek_does_not_receive(method):
    """MS-MQMP 3.1.4.2: a handle with MQ_PEEK_ACCESS permits peeks only."""
    server = Server()
    server.send(b"one")
    reader = server.connect()
    queue = reader.open(access=PEEK_ACCESS).handle
    assert status(reader.read(queue, method)["Return"]) is Status.MQ_ERROR_ACCESS_DENIED
    assert reader.read(queue, method, ulAction=PEEK)["Return"] == Status.MQ_OK
    assert server.bodies() == ["one"]


def test_a_queue_that_was_deleted_is_not_available():
    server = Server(QueueSettings("private$\\gone"))
    reader = server.connect()
    queue = reader.open("private$\\gone").handle
    waiting = reader.begin_read(queue, ulTimeout=INFINITE)
    server.ask(DeleteQueue(name="private$\\gone"))
    assert reader.answer(waiting)["Return"] & 0x80000000
    assert status(reader.read(queue, dwRequestID=2)["Return"]) is Status.MQ_ERROR_QUEUE_NOT_AVAILABLE


# -- waiting ---------------------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("action", [RECEIVE, PEEK])
def test_a_read_waits_for_a_message_as_long_as_its_time_out_says(method, action):
    """MS-MQQP 3.1.2: the Call Timer runs for ulTimeout milliseconds."""
    server, reader, queue = made()
    waiting = reader.begin_read(queue, method, ulTimeout=5_000, ulAction=action)
    server.wait(4_999)
    assert reader.answer(waiting) is None
    server.wait(1)
    assert status(reader.answer(waiting)["Return"]) is Status.MQ_ERROR_IO_TIMEOUT
    server.send(b"late")
    assert server.bodies() == ["late"]


@BOTH
def test_a_message_that_comes_meanwhile_is_given_to_who_waits(method):
    server, reader, queue = made()
    waiting = reader.begin_read(queue, method, ulTimeout=5_000)
    server.wait(3_000)
    server.send(b"one")
    results = reader.answer(waiting)
    assert (results["Return"], body_of(results)) == (Status.MQ_OK, b"one")
    assert reader.end(results["pphContext"], 2) == Status.MQ_OK
    server.wait(10_000)
    assert server.bodies() == []


def test_an_infinite_time_out_is_waited_for():
    server, reader, queue = made()
    waiting = reader.begin_read(queue, ulTimeout=INFINITE)
    server.wait(3_600_000)
    assert reader.answer(waiting) is None
    server.send(b"one")
    assert body_of(reader.answer(waiting)) == b"one"


def test_several_reads_wait_on_one_association_and_each_gets_its_own_message():
    server, reader, queue = made()
    calls = [reader.begin_read(queue, ulTimeout=INFINITE, dwRequestID=number) for number in (1, 2, 3)]
    for body in (b"one", b"two", b"three"):
        server.send(body)
    assert [body_of(reader.answer(call)) for call in calls] == [b"one", b"two", b"three"]
    assert server.bodies() == []


# -- cursors ---------------------------------------------------------------------------------------------------


@BOTH
def test_a_cursor_peeks_where_it_is_goes_on_and_receives(method):
    server, reader, queue = made(b"one", b"two", b"three")
    cursor = reader.open_cursor(queue)["phCursor"]

    def read(action: int) -> bytes:
        results = reader.read(queue, method, ulAction=action, hCursor=cursor)
        assert results["Return"] == Status.MQ_OK
        if results["pphContext"] is not None:
            reader.end(results["pphContext"], 2)
        return body_of(results)

    assert [read(PEEK), read(PEEK), read(PEEK_NEXT)] == [b"one", b"one", b"two"]
    assert read(RECEIVE) == b"two"
    assert server.bodies() == ["one", "three"]
    assert read(PEEK) == b"three"


@BOTH
def test_the_next_message_before_any_was_peeked_is_an_illegal_cursor_action(method):
    _, reader, queue = made(b"one")
    cursor = reader.open_cursor(queue)["phCursor"]
    results = reader.read(queue, method, ulAction=PEEK_NEXT, hCursor=cursor)
    assert status(results["Return"]) is Status.MQ_ERROR_ILLEGAL_CURSOR_ACTION


def test_a_message_under_a_cursor_that_somebody_received_is_gone():
    _, reader, queue = made(b"one", b"two")
    cursor = reader.open_cursor(queue)["phCursor"]
    reader.read(queue, ulAction=PEEK, hCursor=cursor)
    reader.end(reader.read(queue)["pphContext"], 2)
    again = reader.read(queue, ulAction=PEEK, hCursor=cursor)
    assert status(again["Return"]) is Status.MQ_ERROR_MESSAGE_ALREADY_RECEIVED


def test_a_cursor_belongs_to_its_queue_handle():
    _, reader, queue = made(b"one")
    cursor = reader.open_cursor(queue)["phCursor"]
    other = reader.open().handle
    assert status(reader.read(other, ulAction=PEEK, hCursor=cursor)["Return"]) is Status.STATUS_INVALID_PARAMETER
