"""MS-MQDMPR 3.1.7.1.7: purging a queue."""

import pytest
from queueing_made import PLAIN, Reads, one_host, open_, put, queue_of

from harness.faults.parts import override_method
from reference_qm.codec import MessageClass
from reference_qm.core.replacing import replace_part_by_subclass
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.surface.commands import PurgeQueue

PURGED = MessageClass.MQMSG_CLASS_NACK_Q_PURGED


@pytest.fixture
def left(host):
    found = []
    replace_part_by_subclass(
        host.core,
        override_method(
            FinalAcks.on_message_position_deleted,
            lambda original: (
                lambda qm, position, reason, now: found.append((position.MessageReference.Body.decode(), reason))
            ),
        ),
    )
    return found


def test_purge_removes_available_messages_at_once(host, left):
    put(host, "a", "b")
    assert host.ask(PurgeQueue(PLAIN)) == {"purged": 2}
    assert left == [("a", PURGED), ("b", PURGED)]
    assert queue_of(host).TotalBytes == 0


def test_purge_removes_a_locked_message_when_it_is_unlocked(host, left):
    put(host, "a", "b")
    reads = Reads(host)
    reads.call("first", "dequeue_message", open_(host), two_phase_read=True)
    assert host.ask(PurgeQueue(PLAIN)) == {"purged": 1}
    locked = reads.positions["first"]
    assert locked.State is MessagePositionState.PURGE_PENDING
    assert reads.call("nothing", "dequeue_message", open_(host), timeout_ms=0) == (Status.MQ_ERROR_IO_TIMEOUT, None)
    host.core.message_positions.unlock_message(locked)
    host.core.handle_events(host.network.now)
    assert left == [("b", PURGED), ("a", PURGED)]
    assert len(queue_of(host).MessagePositionList) == 0


def test_locked_message_received_after_a_purge_counts_as_received(host, left):
    put(host, "a")
    reads = Reads(host)
    reads.call("first", "dequeue_message", open_(host), two_phase_read=True)
    host.ask(PurgeQueue(PLAIN))
    host.core.message_positions.delete_message(reads.positions["first"], MessageClass.MQMSG_CLASS_ACK_RECEIVE)
    host.core.handle_events(host.network.now)
    assert left == [("a", MessageClass.MQMSG_CLASS_ACK_RECEIVE)]


def test_message_cannot_be_read_while_its_purge_is_written():
    host = one_host()
    put(host, "a", recoverable=True)
    host.disk = "slow"
    token = host.begin(PurgeQueue(PLAIN))
    reads = Reads(host)
    assert reads.call("late", "dequeue_message", open_(host), timeout_ms=0) == (Status.MQ_ERROR_IO_TIMEOUT, None)
    put(host, "b")
    host.network.write(host)
    host.network.settle()
    assert host.answers[token].result.values == {"purged": 1}
    assert host.bodies() == ["b"]
    host.disk = "works"
    host.network.kill(host)
    assert host.bodies() == []


def test_message_stays_when_the_disk_refuses_its_purge():
    host = one_host()
    put(host, "a", "b", recoverable=True)
    host.disk = "broken"
    assert "could not be saved" in host.refusal(PurgeQueue(PLAIN))
    assert host.bodies() == ["a", "b"]
    host.disk = "works"
    assert host.ask(PurgeQueue(PLAIN)) == {"purged": 2}
