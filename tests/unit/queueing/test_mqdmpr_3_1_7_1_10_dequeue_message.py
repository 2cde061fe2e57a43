"""MS-MQDMPR 3.1.7.1.10, 3.1.7.3.2: receiving."""

from queueing_made import PLAIN, Reads, direct, one_host, open_, put, queue_of

from harness.faults.parts import changed
from reference_qm.codec import MessageClass
from reference_qm.core.queueing.seeking import Seeking
from reference_qm.core.replacing import put_in_place
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.surface.commands import ReceiveMessage, SendMessage

OK, TIMEOUT = Status.MQ_OK, Status.MQ_ERROR_IO_TIMEOUT


def test_the_first_message_is_received_and_gone(host, reads):
    put(host, "a", "b")
    put(host, "c", priority=7)
    descriptor = open_(host)
    assert [reads.call(name, "dequeue_message", descriptor) for name in "xyz"] == [(OK, "c"), (OK, "a"), (OK, "b")]
    assert len(queue_of(host).MessagePositionList) == 0


def test_nothing_to_receive_and_no_time_is_a_time_out(host, reads):
    assert reads.call("x", "dequeue_message", open_(host), timeout_ms=0) == (TIMEOUT, None)


def test_without_a_time_out_it_waits_for_ever(host, reads):
    assert reads.call("x", "dequeue_message", open_(host)) is None
    host.network.advance(7 * 24 * 3_600_000)
    assert reads.answers == {}
    put(host, "late")
    assert reads.answers["x"] == (OK, "late")


def test_a_wait_ends_at_its_time(host, reads):
    reads.call("x", "dequeue_message", open_(host), timeout_ms=500)
    host.network.advance(499)
    assert reads.answers == {}
    host.network.advance(1)
    assert reads.answers == {"x": (TIMEOUT, None)}
    put(host, "after")
    assert host.bodies() == ["after"]


def test_who_waits_longest_gets_the_message_and_the_others_wait_on(host, reads):
    one, two = open_(host), open_(host)
    for name, descriptor in ("first", one), ("second", one), ("third", two):
        reads.call(name, "dequeue_message", descriptor)
    put(host, "a")
    assert reads.answers == {"first": (OK, "a")}
    for body in "bcd":
        host.send(direct(1), body.encode())
    assert reads.answers == {"first": (OK, "a"), "second": (OK, "b"), "third": (OK, "c")}
    assert host.bodies() == ["d"]


def test_a_locked_message_is_passed_over(host, reads):
    put(host, "a", "b")
    descriptor = open_(host)
    assert reads.call("two-phase", "dequeue_message", descriptor, two_phase_read=True) == (OK, "a")
    locked = reads.positions["two-phase"]
    assert locked.State is MessagePositionState.LOCKED
    assert reads.call("next", "dequeue_message", descriptor) == (OK, "b")
    assert reads.call("none", "dequeue_message", descriptor, timeout_ms=0) == (TIMEOUT, None)
    host.core.positions.unlock_message(locked)
    assert reads.call("again", "dequeue_message", descriptor) == (OK, "a")


def test_a_message_that_is_unlocked_goes_to_who_waits(host, reads):
    put(host, "a")
    descriptor = open_(host)
    reads.call("two-phase", "dequeue_message", descriptor, two_phase_read=True)
    reads.call("waits", "dequeue_message", descriptor)
    host.core.positions.unlock_message(reads.positions["two-phase"])
    assert reads.answers["waits"] == (OK, "a")


def test_the_cursor_says_which_message_is_received(host, reads):
    put(host, "a", "b", "c")
    descriptor = open_(host)
    cursor = host.core.cursors.open(descriptor)
    reads.call("1", "peek_message", descriptor, cursor=cursor)
    reads.call("2", "peek_next_message", descriptor, cursor)
    assert reads.call("3", "dequeue_message", descriptor, cursor=cursor) == (OK, "b")
    assert host.bodies() == ["a", "c"]
    assert reads.call("4", "dequeue_message", descriptor, cursor=cursor) == (OK, "c"), "unread: on to the next"
    assert reads.call("5", "dequeue_message", descriptor, cursor=cursor, timeout_ms=0) == (
        Status.MQ_ERROR_MESSAGE_NOT_FOUND,
        None,
    )
    assert host.bodies() == ["a"]


def test_a_message_at_the_cursor_that_another_received_is_said_to_be(host, reads):
    put(host, "a", "b")
    descriptor = open_(host)
    cursor = host.core.cursors.open(descriptor)
    reads.call("1", "peek_message", descriptor, cursor=cursor)
    reads.call("other", "dequeue_message", descriptor)
    for name in "2", "3":
        assert reads.call(name, "dequeue_message", descriptor, cursor=cursor) == (
            Status.MQ_ERROR_MESSAGE_ALREADY_RECEIVED,
            None,
        )
    assert reads.call("4", "peek_next_message", descriptor, cursor) == (OK, "b"), "it still knows what is next"


def test_a_cursor_waits_for_what_comes_after_it(host, reads):
    put(host, "a")
    descriptor = open_(host)
    cursor = host.core.cursors.open(descriptor)
    reads.call("1", "dequeue_message", descriptor, cursor=cursor)
    reads.call("waits", "dequeue_message", descriptor, cursor=cursor, timeout_ms=1_000)
    put(host, "b")
    assert reads.answers["waits"] == (OK, "b")
    reads.call("in vain", "dequeue_message", descriptor, cursor=cursor, timeout_ms=1_000)
    host.network.advance(1_000)
    assert reads.answers["in vain"] == (TIMEOUT, None)
    put(host, "c")
    assert reads.call("on", "dequeue_message", descriptor, cursor=cursor) == (OK, "c")


def test_what_is_not_on_disk_yet_is_waited_for_and_what_is_behind_it_too():
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


def test_a_received_message_is_answered_when_the_disk_knows_and_kept_when_it_refuses():
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


def test_what_was_locked_by_who_is_gone_can_be_received_after_a_restart(host, reads):
    put(host, "a", recoverable=True)
    reads.call("two-phase", "dequeue_message", open_(host), two_phase_read=True)
    host.restart()
    assert host.ask(ReceiveMessage(PLAIN))["message"]["body"] == "a"


def test_a_search_that_passed_locked_messages_finds_what_becomes_available_among_them(host, reads):
    put(host, "a", "b", "c", "d")
    descriptor = open_(host)
    for name in "abc":
        reads.call(name, "dequeue_message", descriptor, two_phase_read=True)
    host.core.positions.unlock_message(reads.positions["b"])
    assert reads.call("again", "dequeue_message", descriptor) == (OK, "b")
    assert reads.call("last", "dequeue_message", descriptor) == (OK, "d")
    put(host, "urgent", priority=7)
    assert reads.call("first", "dequeue_message", descriptor) == (OK, "urgent")
    assert reads.call("none", "dequeue_message", descriptor, timeout_ms=0) == (TIMEOUT, None)
    host.core.positions.delete_message(reads.positions["c"], MessageClass.MQMSG_CLASS_ACK_RECEIVE)
    host.core.positions.unlock_message(reads.positions["a"])
    assert reads.call("unlocked", "dequeue_message", descriptor) == (OK, "a")


def test_receiving_among_a_thousand_locked_messages_looks_at_each_of_them_once(host, reads):
    put(host, *(str(number) for number in range(1_000)))
    descriptor = open_(host)
    looked_at = []
    put_in_place(
        host.core,
        changed(Seeking.is_readable, lambda original: lambda *arguments: looked_at.append(1) or original(*arguments)),
    )
    for number in range(1_000):
        reads.call(str(number), "dequeue_message", descriptor, two_phase_read=True)
    assert len(looked_at) < 3_000
