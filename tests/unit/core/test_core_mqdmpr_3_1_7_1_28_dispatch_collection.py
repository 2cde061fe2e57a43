"""MS-MQDMPR 3.1.7.1.28, 3.1.7.1.29, 3.1.7.1.34, 3.1.7.3.9: what may be sent next, and what may not."""

from __future__ import annotations

import pytest
from core_network import Host, Network, direct
from core_raw import Raw, user_message

from reference_qm.model.states import SessionState
from reference_qm.surface.commands import PauseQueue, ResumeQueue

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
    """Return the body of the message that would be sent next."""
    position = session_of(host).OutgoingMessageTable.next_unsent()
    return None if position is None else position.MessagePosition.MessageReference.Body.decode()


def sent(raw):
    return [message.MessagePropertiesHeader.MessageBody.decode() for message in raw.messages]


def fill(host, *bodies):
    """Put messages into the table while the queue is on hold: none of them is dispatched."""
    host.ask(PauseQueue(NINE))
    for body in bodies:
        host.send(NINE, body.encode(), priority=int(body[0]))
    return {one.MessagePosition.MessageReference.Body.decode(): one for one in session_of(host).OutgoingMessageTable}


def test_only_what_was_added_is_sent_by_priority_then_as_it_was_queued(host, raw):
    table = fill(host, "3 a", "5 b", "3 c", "7 d")
    assert next_one(host) is None
    for body in ("3 c", "5 b", "3 a"):
        host.core.dispatch_collection.add(session_of(host), table[body])
    queue = session_of(host).OutgoingQueueReference
    queue.State = type(queue.State).CONNECTED
    host.core.sending.dispatch_messages(session_of(host), host.network.now)
    host.network.carry_out(host, host.core.handle_timer(host.network.now))
    assert sent(raw) == ["5 b", "3 a", "3 c"]
    assert len(session_of(host).OutgoingMessageTable) == 4


def test_the_base_priority_of_the_queue_is_added(host, raw):
    table = fill(host, "3 a", "5 b")
    session_of(host).OutgoingQueueReference.BasePriority = 9
    assert [one.priority for one in table.values()] == [12, 14]


def test_one_that_is_removed_is_not_next_any_more(host, raw):
    table = fill(host, "3 a", "5 b")
    session = session_of(host)
    for position in table.values():
        host.core.dispatch_collection.add(session, position)
    host.core.dispatch_collection.remove(session, table["5 b"])
    assert next_one(host) == "3 a"
    assert len(session.OutgoingMessageTable) == 2, "its table still has it"


def test_of_a_queue_that_is_removed_nothing_is_next_and_of_others_all_is(host, raw):
    table = fill(host, "3 a", "5 b")
    session = session_of(host)
    host.send(direct(8), b"other")
    for position in table.values():
        host.core.dispatch_collection.add(session, position)
    host.core.dispatch_collection.remove_queue(session.OutgoingQueueReference)
    assert next_one(host) is None
    assert session_of(host, direct(8)).OutgoingMessageTable.next_unsent() is not None


def test_a_pause_empties_it_and_a_resume_fills_it_with_what_was_not_sent(host, raw):
    host.send(NINE, b"3 sent", recoverable=True)
    fill(host, "3 a", "5 b")
    assert next_one(host) is None
    for _ in range(2):
        host.ask(ResumeQueue(NINE))
        assert sent(raw) == ["3 sent", "5 b", "3 a"]
        host.ask(PauseQueue(NINE))


def test_a_lost_connection_empties_it_and_the_next_session_fills_it_with_all(host, raw):
    host.send(NINE, b"sent", recoverable=True)
    raw.lose()
    assert session_of(host).SessionState is SessionState.WAITING_RECONNECT
    assert next_one(host) is None
    host.send(NINE, b"later", recoverable=True)
    host.network.advance(60_000)
    again = Raw.next_acceptor(host).accept()
    assert sent(again) == ["sent", "later"]


def test_a_message_is_in_it_once_however_often_the_queue_was_resumed(host, raw):
    fill(host, "3 a")
    for _ in range(3):
        host.ask(ResumeQueue(NINE))
        host.ask(PauseQueue(NINE))
    host.ask(ResumeQueue(NINE))
    raw.feed(user_message(1))
    assert sent(raw) == ["3 a"]
