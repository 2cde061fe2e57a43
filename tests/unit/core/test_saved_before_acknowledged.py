"""MS-MQQB 3.1.5.8.7: a recoverable message is acknowledged only when all records that result from it are on disk."""

import pytest
from core_network import TRANSACTIONAL, Network, direct
from core_transactions import receive

REMOTE = direct(2, TRANSACTIONAL)
JOURNAL = "system$;journal"


@pytest.fixture
def pair():
    """Return two hosts: the first host waits for the FinalAck of a message for which it requested positive
    journaling.
    """
    a, b = Network().pair()
    a.send(REMOTE, b"acked", transactional=True, journal=frozenset({"positive"}))
    a.network.advance(60_000)
    return a, b


@pytest.mark.parametrize("disk", ["slow", "broken"])
def test_unsaved_final_ack_is_repeated_after_crash(pair, disk):
    a, b = pair
    a.disk = disk
    assert receive(b) == "acked"
    a.network.advance(5_000)
    a.network.kill(a)
    a.disk = "works"
    a.network.advance(120_000)
    assert a.bodies(JOURNAL) == ["acked"]


def test_final_ack_is_acknowledged_after_retried_save(pair):
    a, b = pair
    a.disk = "broken"
    assert receive(b) == "acked"
    a.network.advance(120_000)
    kept = [queue for queue in b.core.adm.OutgoingQueues.values() if len(queue.session.OutgoingMessageTable)]
    assert kept, "its sender has it yet"
    a.disk = "works"
    a.network.advance(120_000)
    assert not any(len(queue.session.OutgoingMessageTable) for queue in b.core.adm.OutgoingQueues.values())
    assert a.bodies(JOURNAL) == ["acked"]
    a.network.kill(a)
    assert a.bodies(JOURNAL) == ["acked"]


def test_a_refused_message_is_acknowledged_when_its_record_is_on_disk():
    """A refused nontransactional message is acknowledged on the session only after the record of its negative
    acknowledgment is on disk: MS-MQQB 3.1.5.8.2, 3.1.7.15.
    """
    a, b = Network().pair()
    b.disk, a.reachable = "broken", False
    refused = {"acks": frozenset({"negative_arrival"}), "admin_queue": direct(1)}
    a.send(REMOTE, b"refused", recoverable=True, **refused)
    a.network.advance(5_000)
    b.network.kill(b)
    b.disk, a.reachable = "works", True
    a.network.advance(120_000)
    assert a.bodies() == ["refused"], "the acknowledgment brings it back"
