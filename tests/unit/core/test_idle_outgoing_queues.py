"""MS-MQSO 5.1.1.2: an outgoing queue that stays unused for a time is destroyed."""

from __future__ import annotations

from core_network import TRANSACTIONAL, Host, Network, direct
from core_transactions import begin, commit

HOUR_MS = 3_600_000


def outgoing(host: Host) -> list[str]:
    return [queue["DestinationFormatName"] for queue in host.adm()["OutgoingQueues"]]


def test_idle_outgoing_queue_and_its_entry_are_deleted_after_an_hour():
    sender, receiver = Network().pair()
    sender.send(direct(2), b"one")
    sender.network.advance(HOUR_MS // 2)
    assert outgoing(sender) == [direct(2)]
    sender.network.advance(HOUR_MS)
    assert outgoing(sender) == []
    sender.restart()
    assert outgoing(sender) == []
    sender.send(direct(2), b"two")
    sender.network.settle()
    assert receiver.bodies() == ["one", "two"]


def test_idle_outgoing_queue_waits_for_the_transaction_that_sends_to_it():
    sender, receiver = Network().pair()
    to = direct(2, TRANSACTIONAL)
    unit = begin(sender)
    sender.send(to, b"sent", transactional=True, transaction=unit)
    sender.network.advance(3 * HOUR_MS)
    assert outgoing(sender) == [to]
    commit(sender, unit)
    sender.network.settle()
    assert receiver.bodies(TRANSACTIONAL) == ["sent"]
