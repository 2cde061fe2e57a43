"""MS-MQQP 3.1.4.11: RemoteQMStartReceiveByLookupId reads with each of its six actions."""

from __future__ import annotations

import pytest
from remote_reader import PEEK_ACCESS, PLAIN, Server

from reference_qm.model.statuses import Status

METHOD = "RemoteQMStartReceiveByLookupId"
PEEK_CURRENT, PEEK_NEXT, PEEK_PREV = 0x40000010, 0x40000011, 0x40000012
RECEIVE_CURRENT, RECEIVE_NEXT, RECEIVE_PREV = 0x40000020, 0x40000021, 0x40000022
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


def test_start_receive_by_lookup_id_refuses_a_handle_opened_to_peek(made):
    server, reader, _, lookup_ids = made
    queue = reader.open(access=PEEK_ACCESS).handle
    assert Status(read(reader, queue, RECEIVE_CURRENT, lookup_ids[0])["Return"]) is Status.MQ_ERROR_ACCESS_DENIED
    assert read(reader, queue, PEEK_CURRENT, lookup_ids[0])["Return"] == Status.MQ_OK
    assert server.bodies() == BODIES
