"""Reads that wait: MS-MQDMPR 3.1.6.3, 3.1.7.3.1, 3.1.7.3.4, 3.1.7.3.5, 3.1.7.3.6 and 3.1.7.3.7.

And what ends their wait, MS-MQDMPR 3.1.7.2.1 and 3.1.7.2.2: messages that leave and become available.
"""

import pytest
from queueing_made import open_, put, queue_of

from harness.faults.parts import changed
from reference_qm.codec import MessageClass
from reference_qm.core.replacing import put_in_place
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.model.position_list import storage_size
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.model.timers import TimerKey, TimerName

OK, TIMEOUT = Status.MQ_OK, Status.MQ_ERROR_IO_TIMEOUT


def wait(host, reads, name, descriptor, timeout_ms=None, destructive=True, **named):
    core = host.core
    core.waiting.wait_for_new_message(
        descriptor, timeout_ms, destructive, reads.answered(name), host.network.now, **named
    )


def runs(host, reader):
    return host.core.timers.is_running(TimerKey(TimerName.WAITING_MESSAGE_READ, reader.number))


def test_a_wait_is_in_the_collection_of_its_descriptor_with_what_it_was_given(host, reads, descriptor):
    cursor = host.core.cursors.open(descriptor)
    wait(host, reads, "x", descriptor, 100, destructive=False, tag="tag", cursor=cursor)
    (reader,) = descriptor.WaitingMessageReadOperationCollection
    assert (reader.DestructiveRead, reader.Tag, reader.CursorReference) == (False, "tag", cursor)
    assert runs(host, reader)
    assert reads.answers == {}


def test_what_was_not_given_is_null_and_without_a_time_no_timer_runs(host, reads, descriptor):
    wait(host, reads, "x", descriptor)
    (reader,) = descriptor.WaitingMessageReadOperationCollection
    assert (reader.DestructiveRead, reader.Tag, reader.CursorReference) == (True, None, None)
    assert not runs(host, reader)


@pytest.mark.parametrize("timeout_ms", [0, -1])
def test_a_wait_of_no_time_fails_at_once(host, reads, descriptor, timeout_ms):
    wait(host, reads, "x", descriptor, timeout_ms)
    assert reads.answers == {"x": (TIMEOUT, None)}
    assert not descriptor.WaitingMessageReadOperationCollection


def test_a_wait_for_a_queue_that_is_gone_fails_at_once(host, reads, descriptor):
    descriptor.QueueReference = None
    wait(host, reads, "x", descriptor, 100)
    assert reads.answers == {"x": (Status.MQ_ERROR_QUEUE_NOT_AVAILABLE, None)}


def test_the_timer_ends_the_wait_that_it_was_started_for(host, reads, descriptor):
    for name, timeout_ms in ("long", 200), ("short", 100):
        wait(host, reads, name, descriptor, timeout_ms)
    long, short = descriptor.WaitingMessageReadOperationCollection
    host.network.advance(100)
    assert reads.answers == {"short": (TIMEOUT, None)}
    assert list(descriptor.WaitingMessageReadOperationCollection) == [long]
    assert (runs(host, long), runs(host, short)) == (True, False)


def test_a_wait_that_is_stopped_returns_the_status_it_was_stopped_with(host, reads, descriptor):
    wait(host, reads, "x", descriptor, 100)
    (reader,) = descriptor.WaitingMessageReadOperationCollection
    host.core.waiting.stop_reader(reader, Status.MQ_ERROR_OPERATION_CANCELLED)
    assert reads.answers == {"x": (Status.MQ_ERROR_OPERATION_CANCELLED, None)}
    assert (runs(host, reader), len(descriptor.WaitingMessageReadOperationCollection)) == (False, 0)


def test_a_wait_that_is_satisfied_returns_the_message_and_its_timer_stops(host, reads, descriptor):
    wait(host, reads, "x", descriptor, 100)
    (reader,) = descriptor.WaitingMessageReadOperationCollection
    put(host, "message")
    assert reads.answers == {"x": (OK, "message")}
    assert (runs(host, reader), len(descriptor.WaitingMessageReadOperationCollection)) == (False, 0)
    host.network.advance(1_000)
    assert reads.answers == {"x": (OK, "message")}


def test_those_that_only_look_release_the_next_reader_up_to_the_first_that_takes(host, reads, descriptor):
    other = open_(host)
    places = {"look 1": descriptor, "look 2": descriptor, "take 1": descriptor, "take 2": other, "look 3": other}
    for name, place in places.items():
        event = "peek_message" if name.startswith("look") else "dequeue_message"
        assert reads.call(name, event, place) is None
    put(host, "message")
    assert set(reads.answers) == {"look 1", "look 2", "take 1"}
    assert len(other.WaitingMessageReadOperationCollection) == 2


def test_an_available_message_is_counted_and_may_be_received(host):
    message_ids = put(host, "a", "b")
    queue = queue_of(host)
    positions = [queue.MessagePositionList.find(one) for one in message_ids]
    assert [one.State for one in positions] == [MessagePositionState.AVAILABLE] * 2
    assert queue.TotalBytes == sum(storage_size(one.MessageReference) for one in positions)


def test_a_deleted_message_is_not_counted_and_whoever_wants_gets_the_reason(host):
    (message_id,) = put(host, "a")
    queue, deleted = queue_of(host), []
    position = queue.MessagePositionList.find(message_id)
    put_in_place(
        host.core,
        changed(
            FinalAcks.position_deleted,
            lambda original: lambda qm, position, reason, now: deleted.append((position, reason)),
        ),
    )
    reason = MessageClass.MQMSG_CLASS_NACK_Q_PURGED
    for _ in range(2):
        host.core.positions.delete_message(position, reason)
    host.core.hear_events(host.network.now)
    assert (queue.TotalBytes, len(queue.MessagePositionList)) == (0, 0)
    assert position.State is MessagePositionState.DELETED
    assert deleted == [(position, reason)], "once"
