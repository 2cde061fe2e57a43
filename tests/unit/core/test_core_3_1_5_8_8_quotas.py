"""MS-MQQB 3.1.5.8.8: messages for which there is no room; MS-MQDMPR 3.1.1.2 (Journaling): those that were received."""

import pytest
from core_admin import acks, classes, pair, send
from core_network import PLAIN, TRANSACTIONAL, Network, direct

from reference_qm.surface.commands import PurgeQueue, ReceiveMessage, SetQueue

BIG = b"x" * 1_500
JOURNAL = f"{PLAIN};journal"
KINDS = {
    "express": (PLAIN, {}),
    "recoverable": (PLAIN, {"recoverable": True}),
    "transactional": (TRANSACTIONAL, {"transactional": True}),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_message_above_the_quota_of_its_queue_is_refused(kind):
    queue, fields = KINDS[kind]
    near, far = pair()
    far.ask(SetQueue(queue, quota_kb=2))
    for number in (b"1", b"2"):
        send(near, "negative_arrival", to=direct(2, queue), body=number + BIG, **fields)
    near.network.advance(2_000)
    assert [body[0] for body in far.bodies(queue)] == ["1"]
    assert classes(near) == ["NACK_Q_EXCEED_QUOTA"]
    assert acks(near)[0]["body"].startswith("2")


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_logged_where_it_asks_for_it_by_the_receiver_unless_it_has_a_transaction(kind):
    queue, fields = KINDS[kind]
    near, far = pair()
    far.ask(SetQueue(queue, quota_kb=0))
    send(near, to=direct(2, queue), journal=frozenset({"negative"}), **fields)
    transactional = kind == "transactional"
    assert far.bodies("system$;deadletter") == ([] if transactional else ["body"])
    assert near.bodies("system$;deadxact") == (["body"] if transactional else [])


def test_the_dead_letters_have_a_quota_too():
    near, far = pair()
    far.ask(SetQueue(PLAIN, quota_kb=0))
    far.core.adm.JournalQuota = 0
    send(near, journal=frozenset({"negative"}))
    assert far.bodies("system$;deadletter") == []
    assert classes(near) == ["NACK_Q_EXCEED_QUOTA"]


def test_the_messages_behind_a_refused_one_go_on_in_sequence():
    near, far = pair()
    far.ask(SetQueue(TRANSACTIONAL, quota_kb=2))
    for number in (b"1", b"2", b"3"):
        near.send(direct(2, TRANSACTIONAL), number + (BIG if number < b"3" else b""), transactional=True)
    near.network.advance(120_000)
    assert [body[0] for body in far.bodies(TRANSACTIONAL)] == ["1", "3"]
    assert near.adm()["Sessions"][-1]["OutgoingMessageTable"] == []


@pytest.mark.parametrize("kind", KINDS)
def test_above_the_quota_of_the_queue_manager_the_session_ends_and_the_message_comes_again(kind):
    queue, fields = KINDS[kind]
    near, far = pair()
    far.core.adm.QueueManagerQuota = 2
    for number in (b"1", b"2"):
        send(near, "negative_arrival", to=direct(2, queue), body=number + BIG, **fields)
    near.network.advance(12_000)
    assert [body[0] for body in far.bodies(queue)] == ["1"]
    assert any("quota of the queue manager" in one.reason for one in far.closed)
    assert classes(near) == []
    far.ask(PurgeQueue(queue))
    near.network.advance(12_000)
    assert [body[0] for body in far.bodies(queue)] == ["2"]


# -- journaling of the destination queue ------------------------------------------------------------------------


@pytest.mark.parametrize("recoverable", [False, True])
def test_a_queue_with_journaling_keeps_what_was_received(recoverable):
    network = Network()
    near, far = network.pair()
    far.ask(SetQueue(PLAIN, journaling=True))
    for body in (b"1", b"2", b"3"):
        near.send(direct(2), body, recoverable=recoverable)
    network.advance(2_000)
    far.ask(ReceiveMessage(PLAIN))
    far.ask(ReceiveMessage(PLAIN))
    assert far.bodies(JOURNAL) == ["1", "2"]
    far.ask(PurgeQueue(PLAIN))
    assert far.bodies(JOURNAL) == ["1", "2"]
    network.kill(far)
    assert far.bodies(JOURNAL) == (["1", "2"] if recoverable else [])


def test_a_queue_without_journaling_keeps_nothing():
    near, far = pair()
    near.send(direct(2))
    far.ask(ReceiveMessage(PLAIN))
    assert far.bodies(JOURNAL) == []


def test_a_journal_that_is_full_takes_no_more():
    near, far = pair()
    far.ask(SetQueue(PLAIN, journaling=True, journal_quota_kb=2))
    for number in (b"1", b"2"):
        near.send(direct(2), number + BIG)
        far.ask(ReceiveMessage(PLAIN))
    assert [body[0] for body in far.bodies(JOURNAL)] == ["1"]


def test_what_expires_is_not_journaled():
    near, far = pair()
    far.ask(SetQueue(PLAIN, journaling=True))
    near.send(direct(2), time_to_be_received_s=5)
    near.network.advance(6_000)
    assert far.bodies() == far.bodies(JOURNAL) == []
