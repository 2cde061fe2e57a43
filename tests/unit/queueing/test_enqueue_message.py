"""MS-MQDMPR 3.1.7.1.9, 3.1.1.1, 3.1.1.2: quotas, lookup identifiers, order."""

from core_network import direct
from queueing_made import PLAIN, one_host, put, queue_of

from reference_qm.model.statuses import EnqueueStatus
from reference_qm.surface.commands import PeekMessages, ReceiveMessage, SendMessage, SetQueue

KB = b"x" * 1024


def message_of(host, body=b"body", **fields):
    """Return a message that is not in a queue."""
    host.send(direct(1), body, **fields)
    position = next(iter(queue_of(host).MessagePositionList))
    queue_of(host).MessagePositionList.remove(position)
    return position.MessageReference


def enqueue(host, message, name=PLAIN):
    status, position = host.core.message_enqueueing.enqueue_message(queue_of(host, name), message, host.network.now)
    assert (position is not None) is (status is EnqueueStatus.NO_ERROR)
    return status


def test_removed_message_frees_its_share_of_the_quota(host):
    host.ask(SetQueue(PLAIN, quota_kb=2))
    host.send(direct(1), KB)
    host.refusal(SendMessage(direct(1), KB))
    host.ask(ReceiveMessage(PLAIN))
    host.send(direct(1), KB)


def test_a_message_that_timed_out_in_transit_is_refused(host):
    message = message_of(host, time_to_reach_queue_s=5)
    host.network.advance(5_000)
    assert enqueue(host, message) is EnqueueStatus.NO_ERROR
    host.network.advance(1_000)
    assert enqueue(host, message) is EnqueueStatus.TIMED_OUT


def test_messages_above_journal_quota_are_discarded(host):
    core, queue = host.core, queue_of(host)
    host.ask(SetQueue(PLAIN, journal_quota_kb=2))
    put(host, "a" * 1024, "b" * 1024)
    journal = queue.JournalQueueReference
    moved = [core.message_positions.move_message(position, journal) for position in queue.MessagePositionList]
    assert [one is not None for one in moved] == [True, False]
    assert host.bodies(f"{PLAIN};journal") == ["a" * 1024]
    assert (queue.TotalBytes, core.adm.storage.used_bytes) == (0, 0)
    assert core.adm.journal_storage.used_bytes == journal.TotalBytes > 1024


def test_lookup_identifiers_go_up_with_the_position_in_the_list(host):
    for number in range(40):
        host.send(direct(1), str(number).encode(), priority=number * 5 % 8)
    found = [one["lookup_id"] for one in host.ask(PeekMessages(PLAIN))["messages"]]
    assert found == sorted(found)
    assert len(set(found)) == 40
    assert {one >> 56 for one in found} == set(range(8))


def test_lookup_identifiers_survive_and_none_is_given_twice():
    host = one_host()
    before = put(host, "a", "b", recoverable=True)
    (express,) = put(host, "c")
    host.network.kill(host)
    after = [one["lookup_id"] for one in host.ask(PeekMessages(PLAIN))["messages"]]
    assert after == before
    (new,) = put(host, "d")
    assert new > express
    for _ in range(3):
        host.network.kill(host)
        (newer,) = put(host, "e")
        assert newer > new
        new = newer
