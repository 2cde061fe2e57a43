"""MS-MQDMPR 3.1.7.1.9, 3.1.1.1, 3.1.1.2: quotas, lookup identifiers, order."""

from queueing_made import PLAIN, put, queue_of

from reference_qm.surface.commands import SetQueue


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
