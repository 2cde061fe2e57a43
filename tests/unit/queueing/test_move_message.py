"""MS-MQDMPR 3.1.7.1.16: moving messages; subqueues."""

import pytest
from core_network import TRANSACTIONAL
from queueing_made import PLAIN, Reads, one_host, open_, put, queue_of

from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.surface.commands import (
    CreateQueue,
    MoveMessage,
    PeekMessages,
    PurgeQueue,
    ReceiveMessage,
)

SUB = f"{PLAIN};sub"


@pytest.fixture
def host():
    host = one_host()
    host.ask(CreateQueue(SUB))
    return host


def test_a_message_is_moved_with_its_lookup_identifier(host):
    ids = put(host, "a", "b", "c")
    assert host.ask(MoveMessage(PLAIN, ids[1], SUB)) == {"lookup_id": ids[1]}
    assert (host.bodies(), host.bodies(SUB)) == (["a", "c"], ["b"])
    assert host.ask(PeekMessages(SUB))["messages"][0]["lookup_id"] == ids[1]
    host.ask(MoveMessage(SUB, ids[1], PLAIN))
    assert host.bodies() == ["a", "c", "b"], "it arrived last"


@pytest.mark.parametrize("to", [TRANSACTIONAL, PLAIN, f"{PLAIN};journal", "system$;deadletter", f"{PLAIN};none"])
def test_messages_are_moved_only_within_a_queue(host, to):
    (one,) = put(host, "a")
    refused = host.refusal(MoveMessage(PLAIN, one, to))
    assert "between a queue and its subqueues" in refused or "create it" in refused
    assert host.bodies() == ["a"]


def test_unavailable_message_is_not_moved(host):
    (one,) = put(host, "a")
    assert "MESSAGE_NOT_FOUND" in host.refusal(MoveMessage(PLAIN, one + 1, SUB))
    queue_of(host).MessagePositionList.find(one).State = MessagePositionState.LOCKED
    assert "MESSAGE_NOT_FOUND" in host.refusal(MoveMessage(PLAIN, one, SUB))


def test_receive_and_purge_of_a_subqueue_leave_its_queue_unchanged(host):
    for one in put(host, "a", "b", "c")[:2]:
        host.ask(MoveMessage(PLAIN, one, SUB))
    assert host.ask(ReceiveMessage(SUB))["message"]["body"] == "a"
    assert host.ask(PurgeQueue(SUB)) == {"purged": 1}
    assert host.bodies() == ["c"]


def test_moved_message_is_in_target_queue_after_crash():
    host = one_host()
    host.ask(CreateQueue(SUB))
    ids = put(host, "a", "b", recoverable=True)
    host.ask(MoveMessage(PLAIN, ids[0], SUB))
    host.network.kill(host)
    assert (host.bodies(), host.bodies(SUB)) == (["b"], ["a"])
    assert host.ask(PeekMessages(SUB))["messages"][0]["lookup_id"] == ids[0]
    host.ask(ReceiveMessage(SUB))
    host.network.kill(host)
    assert host.bodies(SUB) == []


def test_message_moved_back_stays_the_last_after_a_crash():
    host = one_host()
    host.ask(CreateQueue(SUB))
    ids = put(host, "a", "b", recoverable=True)
    host.ask(MoveMessage(PLAIN, ids[0], SUB))
    host.ask(MoveMessage(SUB, ids[0], PLAIN))
    host.network.kill(host)
    assert host.bodies() == ["b", "a"]


def test_message_received_during_its_move_stays_removed_after_a_crash():
    host = one_host()
    host.ask(CreateQueue(SUB))
    (one,) = put(host, "a", recoverable=True)
    host.ask(MoveMessage(PLAIN, one, SUB))
    reads = Reads(host)
    reads.call("waits", "dequeue_message", open_(host))
    host.ask(MoveMessage(SUB, one, PLAIN))
    assert reads.answers["waits"] == (Status.MQ_OK, "a")
    host.network.kill(host)
    assert host.bodies() == []


def test_a_journaled_message_is_in_the_journal_after_a_crash():
    host = one_host()
    put(host, "a", recoverable=True)
    (position,) = queue_of(host).MessagePositionList
    host.core.message_positions.move_message(position, queue_of(host).JournalQueueReference)
    host.network.carry_out(host, host.core.handle_timer(host.network.now))
    host.network.kill(host)
    assert (host.bodies(), host.bodies(f"{PLAIN};journal")) == ([], ["a"])
    assert host.core.adm.journal_storage.used_bytes == queue_of(host).JournalQueueReference.TotalBytes > 0
