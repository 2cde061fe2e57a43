"""MS-MQDMPR 3.1.7.1.28, 3.1.7.1.29, 3.1.7.1.34, 3.1.7.3.9: the message that a session may send next."""

from __future__ import annotations

import pytest
from core_network import Host, Network, direct
from core_raw import Raw

from reference_qm.model.states import SessionState
from reference_qm.surface.commands import PauseQueue

NINE = direct(9)


@pytest.fixture
def host() -> Host:
    return Network().host(1)


@pytest.fixture
def raw(host) -> Raw:
    return Raw.accepted(host)


def session_of(host, name=NINE):
    return host.core.adm.OutgoingQueues[name.lower()].session


def next_one(host):
    """Return the body of the message that the session would send next."""
    position = session_of(host).OutgoingMessageTable.get_next_unsent()
    return None if position is None else position.MessagePosition.MessageReference.Body.decode()


def sent(raw):
    return [message.MessagePropertiesHeader.MessageBody.decode() for message in raw.messages]


def fill(host, *bodies):
    """Pause the outgoing queue, then put messages into its table, so that none of them is sent."""
    host.ask(PauseQueue(NINE))
    for body in bodies:
        host.send(NINE, body.encode(), priority=int(body[0]))
    return {one.MessagePosition.MessageReference.Body.decode(): one for one in session_of(host).OutgoingMessageTable}


def test_removed_position_is_not_dispatched_next(host, raw):
    table = fill(host, "3 a", "5 b")
    session = session_of(host)
    for position in table.values():
        host.core.dispatch_collection.add(session, position)
    host.core.dispatch_collection.remove(session, table["5 b"])
    assert next_one(host) == "3 a"
    assert len(session.OutgoingMessageTable) == 2, "its table still has it"


def test_removed_queue_is_not_dispatched_and_other_queues_are(host, raw):
    table = fill(host, "3 a", "5 b")
    session = session_of(host)
    host.send(direct(8), b"other")
    for position in table.values():
        host.core.dispatch_collection.add(session, position)
    host.core.dispatch_collection.remove_queue(session.OutgoingQueueReference)
    assert next_one(host) is None
    assert session_of(host, direct(8)).OutgoingMessageTable.get_next_unsent() is not None


def test_dispatch_collection_is_emptied_at_connection_loss_and_refilled_by_next_session(host, raw):
    host.send(NINE, b"sent", recoverable=True)
    raw.lose()
    assert session_of(host).SessionState is SessionState.WAITING_RECONNECT
    assert next_one(host) is None
    host.send(NINE, b"later", recoverable=True)
    host.network.advance(60_000)
    again = Raw.next_acceptor(host).accept()
    assert sent(again) == ["sent", "later"]
