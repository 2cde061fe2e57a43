"""MS-MQDMPR 3.1.7.1.10, 3.1.7.3.2: receiving."""

from queueing_made import Reads, direct, one_host, open_, put

from harness.faults.parts import override_method
from reference_qm.codec import MessageClass
from reference_qm.core.queueing.message_search import MessageSearch
from reference_qm.core.replacing import replace_part_by_subclass
from reference_qm.model.statuses import Status
from reference_qm.surface.commands import SendMessage

OK, TIMEOUT = Status.MQ_OK, Status.MQ_ERROR_IO_TIMEOUT


def test_read_by_cursor_waits_for_the_next_message(host, reads):
    put(host, "a")
    descriptor = open_(host)
    cursor = host.core.queue_cursors.open(descriptor)
    reads.call("1", "dequeue_message", descriptor, cursor=cursor)
    reads.call("waits", "dequeue_message", descriptor, cursor=cursor, timeout_ms=1_000)
    put(host, "b")
    assert reads.answers["waits"] == (OK, "b")
    reads.call("in vain", "dequeue_message", descriptor, cursor=cursor, timeout_ms=1_000)
    host.network.advance(1_000)
    assert reads.answers["in vain"] == (TIMEOUT, None)
    put(host, "c")
    assert reads.call("on", "dequeue_message", descriptor, cursor=cursor) == (OK, "c")


def test_receive_waits_for_message_that_is_not_yet_on_disk():
    host = one_host()
    reads, descriptor = Reads(host), open_(host)
    for name in "xy":
        reads.call(name, "dequeue_message", descriptor)
    host.disk = "slow"
    token = host.begin(SendMessage(direct(1), b"slow", recoverable=True))
    host.send(direct(1), b"behind")
    assert reads.answers == {}
    host.disk = "works"
    host.network.write(host)
    host.network.settle()
    assert token in host.answers
    assert reads.answers == {"x": (OK, "slow"), "y": (OK, "behind")}


def test_receive_is_answered_after_disk_write_and_message_kept_on_failure():
    host = one_host()
    reads, descriptor = Reads(host), open_(host)
    put(host, "a", recoverable=True)
    host.disk = "slow"
    assert reads.call("x", "dequeue_message", descriptor) is None
    assert reads.call("other", "dequeue_message", descriptor, timeout_ms=0) == (TIMEOUT, None)
    host.disk = "broken"
    host.network.write(host)
    host.network.settle()
    assert reads.answers["x"] == (Status.MQ_ERROR_MESSAGE_STORAGE_FAILED, None)
    host.disk = "works"
    assert reads.call("again", "dequeue_message", descriptor) == (OK, "a")
    host.network.kill(host)
    assert host.bodies() == []


def test_search_finds_messages_that_become_available_before_its_position(host, reads):
    put(host, "a", "b", "c", "d")
    descriptor = open_(host)
    for name in "abc":
        reads.call(name, "dequeue_message", descriptor, two_phase_read=True)
    host.core.message_positions.unlock_message(reads.positions["b"])
    assert reads.call("again", "dequeue_message", descriptor) == (OK, "b")
    assert reads.call("last", "dequeue_message", descriptor) == (OK, "d")
    put(host, "urgent", priority=7)
    assert reads.call("first", "dequeue_message", descriptor) == (OK, "urgent")
    assert reads.call("none", "dequeue_message", descriptor, timeout_ms=0) == (TIMEOUT, None)
    host.core.message_positions.delete_message(reads.positions["c"], MessageClass.MQMSG_CLASS_ACK_RECEIVE)
    host.core.message_positions.unlock_message(reads.positions["a"])
    assert reads.call("unlocked", "dequeue_message", descriptor) == (OK, "a")


def test_receive_among_a_thousand_locked_messages_inspects_each_message_once(host, reads):
    put(host, *(str(number) for number in range(1_000)))
    descriptor = open_(host)
    looked_at = []
    replace_part_by_subclass(
        host.core,
        override_method(
            MessageSearch.is_message_readable,
            lambda original: lambda *arguments: looked_at.append(1) or original(*arguments),
        ),
    )
    for number in range(1_000):
        reads.call(str(number), "dequeue_message", descriptor, two_phase_read=True)
    assert len(looked_at) < 3_000
