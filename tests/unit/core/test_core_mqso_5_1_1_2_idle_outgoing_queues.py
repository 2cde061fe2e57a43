"""MS-MQSO 5.1.1.2: an outgoing queue that nothing happens to for a time is destroyed."""

from __future__ import annotations

from core_network import PLAIN, TRANSACTIONAL, Host, Network, direct
from core_transactions import begin, commit

HOUR_MS = 3_600_000


def outgoing(host: Host) -> list[str]:
    return [queue["DestinationFormatName"] for queue in host.adm()["OutgoingQueues"]]


def test_an_empty_outgoing_queue_goes_after_an_hour_and_its_entry_with_it():
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


def test_one_that_holds_a_message_stays_over_restarts():
    network = Network()
    sender = network.host(1)
    sender.send(direct(2), b"waits", recoverable=True)
    sender.restart()
    network.advance(3 * HOUR_MS)
    assert outgoing(sender) == [direct(2)]
    network.host(2)
    network.advance(HOUR_MS // 60)
    network.advance(2 * HOUR_MS)
    assert outgoing(sender) == []


def test_a_sequence_begins_anew_with_the_queue():
    sender, receiver = Network().pair()
    to = direct(2, TRANSACTIONAL)
    for body in (b"one", b"two"):
        sender.send(to, body, transactional=True)
        sender.network.advance(3 * HOUR_MS)
        assert outgoing(sender) == []
    assert receiver.bodies(TRANSACTIONAL) == ["one", "two"]
    assert receiver.bodies(PLAIN) == []


def test_one_that_a_transaction_sends_to_waits_for_that():
    sender, receiver = Network().pair()
    to = direct(2, TRANSACTIONAL)
    unit = begin(sender)
    sender.send(to, b"sent", transactional=True, transaction=unit)
    sender.network.advance(3 * HOUR_MS)
    assert outgoing(sender) == [to]
    commit(sender, unit)
    sender.network.settle()
    assert receiver.bodies(TRANSACTIONAL) == ["sent"]
