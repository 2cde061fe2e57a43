"""MS-MQDMPR 3.1.7.1.9, 3.1.1.1, 3.1.1.2: quotas, lookup identifiers, order."""

from dataclasses import replace

from core_network import TRANSACTIONAL, direct
from queueing_made import PLAIN, one_host, put, queue_of

from reference_qm.model.statuses import EnqueueStatus
from reference_qm.surface.commands import CreateQueue, MoveMessage, PeekMessages, ReceiveMessage, SendMessage, SetQueue

KB = b"x" * 1024


def message_of(host, body=b"body", **fields):
    """Return a message that is in no queue."""
    host.send(direct(1), body, **fields)
    position = next(iter(queue_of(host).MessagePositionList))
    queue_of(host).MessagePositionList.remove(position)
    return position.MessageReference


def enqueue(host, message, name=PLAIN):
    status, position = host.core.enqueueing.enqueue_message(queue_of(host, name), message, host.network.now)
    assert (position is not None) is (status is EnqueueStatus.NO_ERROR)
    return status


def test_a_message_is_in_its_queue_but_not_available_yet(host):
    message = message_of(host)
    host.network.advance(3_000)
    assert enqueue(host, message) is EnqueueStatus.NO_ERROR
    (position,) = queue_of(host).MessagePositionList
    assert position.MessageReference == replace(message, ArrivalTime=host.network.now.utc_s)
    assert host.bodies() == []
    host.core.positions.message_available(position)
    assert host.bodies() == ["body"]


def test_the_quota_of_a_queue(host):
    message = message_of(host, KB)
    host.ask(SetQueue(PLAIN, quota_kb=3))
    statuses = [enqueue(host, message) for _ in range(3)]
    assert statuses == [EnqueueStatus.NO_ERROR, EnqueueStatus.NO_ERROR, EnqueueStatus.QUEUE_QUOTA_EXCEEDED]
    assert "quota of the queue" in host.refusal(SendMessage(direct(1), KB))
    assert len(queue_of(host).MessagePositionList) == 2
    assert enqueue(host, message, TRANSACTIONAL) is EnqueueStatus.NO_ERROR, "another queue has its own"


def test_a_quota_of_nothing_takes_nothing_and_one_of_all_ones_everything(host):
    message = message_of(host)
    queue_of(host).Quota = 0
    assert enqueue(host, message) is EnqueueStatus.QUEUE_QUOTA_EXCEEDED
    queue_of(host).Quota = 0xFFFFFFFF
    assert enqueue(host, message) is EnqueueStatus.NO_ERROR


def test_a_message_makes_room_when_it_leaves(host):
    host.ask(SetQueue(PLAIN, quota_kb=2))
    host.send(direct(1), KB)
    host.refusal(SendMessage(direct(1), KB))
    host.ask(ReceiveMessage(PLAIN))
    host.send(direct(1), KB)


def test_the_quota_of_the_queue_manager_counts_all_queues(host):
    host.core.adm.QueueManagerQuota = 3
    host.send(direct(1), KB)
    host.send(direct(1, TRANSACTIONAL), KB, transactional=True)
    assert "quota of the queue manager" in host.refusal(SendMessage(direct(1), KB))


def test_a_throttled_queue_manager_takes_nothing(host):
    message = message_of(host)
    host.core.adm.Throttled = True
    assert enqueue(host, message) is EnqueueStatus.QUEUE_MANAGER_QUOTA_EXCEEDED


def test_a_message_that_timed_out_in_transit_is_refused(host):
    message = message_of(host, time_to_reach_queue_s=5)
    host.network.advance(5_000)
    assert enqueue(host, message) is EnqueueStatus.NO_ERROR
    host.network.advance(1_000)
    assert enqueue(host, message) is EnqueueStatus.TIMED_OUT


def test_subqueues_share_the_quota_of_their_queue(host):
    host.ask(SetQueue(PLAIN, quota_kb=2))
    host.ask(CreateQueue(f"{PLAIN};sub"))
    (one,) = put(host, "a" * 1024)
    host.ask(MoveMessage(PLAIN, one, f"{PLAIN};sub"))
    assert "quota of the queue" in host.refusal(SendMessage(direct(1), KB))


def test_a_journal_has_its_own_quota_and_what_exceeds_it_is_discarded(host):
    core, queue = host.core, queue_of(host)
    host.ask(SetQueue(PLAIN, journal_quota_kb=2))
    put(host, "a" * 1024, "b" * 1024)
    journal = queue.JournalQueueReference
    moved = [core.positions.move_message(position, journal) for position in queue.MessagePositionList]
    assert [one is not None for one in moved] == [True, False]
    assert host.bodies(f"{PLAIN};journal") == ["a" * 1024]
    assert (queue.TotalBytes, core.adm.storage.used) == (0, 0)
    assert core.adm.journal_storage.used == journal.TotalBytes > 1024


def test_the_journals_of_all_queues_share_the_journal_quota_of_the_queue_manager(host):
    core = host.core
    core.adm.JournalQuota = 2
    put(host, "a" * 1024, "b" * 1024)
    one, two = queue_of(host).MessagePositionList
    assert core.positions.move_message(one, core.adm.SystemJournalQueue) is not None
    assert core.positions.move_message(two, queue_of(host).JournalQueueReference) is None


def test_lookup_identifiers_go_up_with_the_position_in_the_list(host):
    for number in range(40):
        host.send(direct(1), str(number).encode(), priority=number * 5 % 8)
    found = [one["lookup_id"] for one in host.ask(PeekMessages(PLAIN))["messages"]]
    assert found == sorted(found)
    assert len(set(found)) == 40
    assert {one >> 56 for one in found} == set(range(8))


def test_a_transactional_message_has_a_lookup_identifier_without_priority(host):
    host.send(direct(1, TRANSACTIONAL), b"a", transactional=True)
    host.send(direct(1), b"b")
    (one,) = queue_of(host, TRANSACTIONAL).MessagePositionList
    (two,) = queue_of(host).MessagePositionList
    assert (one.LookupIdentifier, two.LookupIdentifier) == (1, 4 << 56 | 2)
    assert host.core.adm.SequentialID == 2


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


def test_the_sequential_id_is_reserved_before_it_is_used_up():
    host = one_host()
    host.core.adm.SequentialID = host.core.disk.reserved_sequential - 1
    (old,) = put(host, "a")
    host.network.kill(host)
    (new,) = put(host, "b")
    assert new > old
