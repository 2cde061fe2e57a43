"""MS-MQQP 3.1.4.11: RemoteQMStartReceiveByLookupId reads in six actions."""

from __future__ import annotations

import pytest
from remote_reader import PEEK_ACCESS, PLAIN, Server

from reference_qm.codec import parse_packet
from reference_qm.model.statuses import Status

METHOD = "RemoteQMStartReceiveByLookupId"
PEEK_CURRENT, PEEK_NEXT, PEEK_PREV = 0x40000010, 0x40000011, 0x40000012
RECEIVE_CURRENT, RECEIVE_NEXT, RECEIVE_PREV = 0x40000020, 0x40000021, 0x40000022
FIRST, LAST = 0, 0xFFFFFFFFFFFFFFFF
NACK, ACK = 1, 2
BODIES = ["one", "two", "three"]


@pytest.fixture
def made():
    """Return a server with three messages, a client, its queue, and the LookupIdentifiers."""
    server = Server()
    for body in BODIES:
        server.send(body.encode())
    reader = server.connect()
    positions = server.core.adm.QueueCollection[PLAIN].MessagePositionList
    return server, reader, reader.open().handle, [position.LookupIdentifier for position in positions]


def read(reader, queue: int, action: int, lookup_id: int, **change):
    change = {"dwQueue": 0, **change}  # which this method does not look at
    return reader.read(queue, METHOD, ulAction=action, LookupId=lookup_id, **change)


def body_of(results) -> str:
    buffer = results["lpRemoteReadDesc2"]["pRemoteReadDesc"]["lpBuffer"]
    return parse_packet(buffer).MessagePropertiesHeader.MessageBody.decode()


CASES = [
    (PEEK_CURRENT, 1, "two"),
    (PEEK_NEXT, 1, "three"),
    (PEEK_PREV, 1, "one"),
    (RECEIVE_CURRENT, 1, "two"),
    (RECEIVE_NEXT, 1, "three"),
    (RECEIVE_PREV, 1, "one"),
    (PEEK_NEXT, FIRST, "one"),
    (PEEK_PREV, LAST, "three"),
    (RECEIVE_NEXT, FIRST, "one"),
    (RECEIVE_PREV, LAST, "three"),
]


@pytest.mark.parametrize(("action", "place", "expected"), CASES)
def test_the_message_that_an_action_means_is_read(made, action, place, expected):
    server, reader, queue, lookup_ids = made
    lookup_id = place if place in (FIRST, LAST) else lookup_ids[place]
    results = read(reader, queue, action, lookup_id)
    assert (results["Return"], body_of(results)) == (Status.MQ_OK, expected)
    found = lookup_ids[BODIES.index(expected)]
    assert results["lpRemoteReadDesc2"]["SequentialId"] == found & 0x00FFFFFFFFFFFFFF
    receives = action & 0x20
    assert (results["pphContext"] is not None) is bool(receives)
    assert server.bodies() == [body for body in BODIES if not (receives and body == expected)]


@pytest.mark.parametrize(("ack", "left"), [(ACK, ["one", "three"]), (NACK, BODIES)])
def test_a_received_message_is_locked_until_its_end(made, ack, left):
    """The method raises no two-phase read as printed, yet returns a handle for RemoteQMEndReceive."""
    server, reader, queue, lookup_ids = made
    results = read(reader, queue, RECEIVE_CURRENT, lookup_ids[1])
    assert reader.end(results["pphContext"], ack) == Status.MQ_OK
    assert server.bodies() == left


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"hRemoteQueue": 0}, Status.MQ_ERROR_INVALID_PARAMETER),
        ({"hRemoteQueue": 0xFFFF}, Status.MQ_ERROR_INVALID_PARAMETER),
        ({"ulTimeout": 1}, Status.MQ_ERROR_INVALID_PARAMETER),
        ({"hCursor": 1}, Status.MQ_ERROR_INVALID_PARAMETER),
        ({"ulAction": 0}, Status.MQ_ERROR_INVALID_PARAMETER),
        ({"ulAction": 0x80000000}, Status.MQ_ERROR_INVALID_PARAMETER),
        ({"ulAction": 0x40000013}, Status.MQ_ERROR_INVALID_PARAMETER),
    ],
)
def test_wrong_values_are_refused(made, change, expected):
    server, reader, queue, lookup_ids = made
    change = {"ulAction": RECEIVE_CURRENT, **change}
    results = reader.read(queue, METHOD, LookupId=lookup_ids[1], **change)
    assert Status(results["Return"]) is expected
    assert results["pphContext"] is None
    assert server.bodies() == BODIES


@pytest.mark.parametrize("action", [PEEK_CURRENT, PEEK_NEXT, PEEK_PREV, RECEIVE_CURRENT, RECEIVE_NEXT, RECEIVE_PREV])
def test_an_identifier_of_no_message_is_not_found(made, action):
    _, reader, queue, lookup_ids = made
    results = read(reader, queue, action, lookup_ids[2] + 1)
    assert Status(results["Return"]) is Status.MQ_ERROR_MESSAGE_NOT_FOUND


@pytest.mark.parametrize(("action", "lookup_id"), [(PEEK_CURRENT, 0), (RECEIVE_CURRENT, 0), (PEEK_PREV, 0)])
def test_zero_means_the_first_message_to_the_next_actions_only(made, action, lookup_id):
    _, reader, queue, _ = made
    assert Status(read(reader, queue, action, lookup_id)["Return"]) is Status.MQ_ERROR_MESSAGE_NOT_FOUND


def test_there_is_nothing_beside_the_ends(made):
    _, reader, queue, lookup_ids = made
    for action, lookup_id in ((PEEK_PREV, lookup_ids[0]), (PEEK_NEXT, lookup_ids[2])):
        assert Status(read(reader, queue, action, lookup_id)["Return"]) is Status.MQ_ERROR_MESSAGE_NOT_FOUND


def test_a_null_description_is_an_invalid_handle(made):
    _, reader, _, _ = made
    results = reader.call(METHOD, LookupId=1, lpRemoteReadDesc2={"pRemoteReadDesc": None, "SequentialId": 0})
    assert Status(results["Return"]) is Status.MQ_ERROR_INVALID_HANDLE


def test_what_was_opened_to_peek_does_not_receive(made):
    server, reader, _, lookup_ids = made
    queue = reader.open(access=PEEK_ACCESS).handle
    assert Status(read(reader, queue, RECEIVE_CURRENT, lookup_ids[0])["Return"]) is Status.MQ_ERROR_ACCESS_DENIED
    assert read(reader, queue, PEEK_CURRENT, lookup_ids[0])["Return"] == Status.MQ_OK
    assert server.bodies() == BODIES
