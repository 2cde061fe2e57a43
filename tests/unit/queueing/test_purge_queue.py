"""MS-MQDMPR 3.1.7.1.7: purging a queue."""

from queueing_made import PLAIN, Reads, one_host, open_, put

from reference_qm.model.statuses import Status
from reference_qm.surface.commands import PurgeQueue


def test_nobody_gets_a_message_while_the_disk_purges_it():
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


def test_what_the_disk_cannot_purge_is_still_there():
    host = one_host()
    put(host, "a", "b", recoverable=True)
    host.disk = "broken"
    assert "could not be saved" in host.refusal(PurgeQueue(PLAIN))
    assert host.bodies() == ["a", "b"]
    host.disk = "works"
    assert host.ask(PurgeQueue(PLAIN)) == {"purged": 2}
