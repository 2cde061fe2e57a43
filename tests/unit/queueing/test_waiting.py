"""Reads that wait: MS-MQDMPR 3.1.6.3, 3.1.7.3.1, 3.1.7.3.4, 3.1.7.3.5, 3.1.7.3.6 and 3.1.7.3.7.

A message that leaves or becomes available ends the wait: MS-MQDMPR 3.1.7.2.1 and 3.1.7.2.2.
"""

import pytest
from queueing_made import Reads, open_, put, queue_of

from harness.faults.parts import override_method
from reference_qm.codec import MessageClass
from reference_qm.core.replacing import replace_part_by_subclass
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.model.timers import TimerKey, TimerName

OK, TIMEOUT = Status.MQ_OK, Status.MQ_ERROR_IO_TIMEOUT


def wait(host, reads, name, descriptor, timeout_ms=None, destructive=True, **named):
    core = host.core
    core.waiting_reads.wait_for_new_message(
        descriptor, timeout_ms, destructive, reads.answered(name), host.network.now, **named
    )


def runs(host, reader):
    return host.core.timers.is_running(TimerKey(TimerName.WAITING_MESSAGE_READ, reader.number))


@pytest.mark.parametrize("timeout_ms", [0, -1])
def test_read_wait_with_timeout_of_zero_or_less_fails_at_once(host, reads, descriptor, timeout_ms):
    wait(host, reads, "x", descriptor, timeout_ms)
    assert reads.answers == {"x": (TIMEOUT, None)}
    assert not descriptor.WaitingMessageReadOperationCollection


def test_read_wait_on_a_deleted_queue_fails_at_once(host, reads, descriptor):
    descriptor.QueueReference = None
    wait(host, reads, "x", descriptor, 100)
    assert reads.answers == {"x": (Status.MQ_ERROR_QUEUE_NOT_AVAILABLE, None)}


def test_expired_read_timer_ends_only_its_own_wait(host, reads, descriptor):
    for name, timeout_ms in ("long", 200), ("short", 100):
        wait(host, reads, name, descriptor, timeout_ms)
    long, short = descriptor.WaitingMessageReadOperationCollection
    host.network.advance(100)
    assert reads.answers == {"short": (TIMEOUT, None)}
    assert list(descriptor.WaitingMessageReadOperationCollection) == [long]
    assert (runs(host, long), runs(host, short)) == (True, False)


def test_deleted_message_leaves_the_count_and_its_reason_is_reported(host):
    (message_id,) = put(host, "a")
    queue, deleted = queue_of(host), []
    position = queue.MessagePositionList.find(message_id)
    replace_part_by_subclass(
        host.core,
        override_method(
            FinalAcks.on_message_position_deleted,
            lambda original: lambda qm, position, reason, now: deleted.append((position, reason)),
        ),
    )
    reason = MessageClass.MQMSG_CLASS_NACK_Q_PURGED
    for _ in range(2):
        host.core.message_positions.delete_message(position, reason)
    host.core.handle_events(host.network.now)
    assert (queue.TotalBytes, len(queue.MessagePositionList)) == (0, 0)
    assert position.State is MessagePositionState.DELETED
    assert deleted == [(position, reason)], "once"


def test_read_by_cursor_with_timeout_0_informs_the_cursor_of_the_expired_wait(host, monkeypatch):
    descriptor = open_(host)
    cursor = host.core.queue_cursors.open(descriptor)
    expired = []
    monkeypatch.setattr(type(host.core.queue_cursors), "on_read_wait_expired", lambda part, one: expired.append(one))
    reads = Reads(host)
    reads.call("peek", "peek_message", descriptor, cursor=cursor, timeout_ms=0)
    assert reads.answers["peek"] == (TIMEOUT, None)
    assert expired == [cursor]
