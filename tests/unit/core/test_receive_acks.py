"""MS-MQQB 3.1.7.2 and 3.1.7.2.1: administration acknowledgments of messages that leave their queue."""

import pytest
from core_admin import ADMIN, acks, classes, pair, send
from core_network import PLAIN, Network, direct
from core_raw import Raw

from reference_qm.surface.commands import CreateQueue, DeleteQueue, ListQueues, PurgeQueue, ReceiveMessage, TakeOffline

REMOVALS = {
    "received": (lambda host: host.ask(ReceiveMessage(PLAIN)), "positive_receive", "ACK_RECEIVE"),
    "purged": (lambda host: host.ask(PurgeQueue(PLAIN)), "negative_receive", "NACK_Q_PURGED"),
    "deleted": (lambda host: host.ask(DeleteQueue(PLAIN)), "negative_receive", "NACK_Q_DELETED"),
}
WANTED = ["positive_arrival", "positive_receive", "negative_arrival", "negative_receive"]


@pytest.mark.parametrize("wanted", WANTED)
@pytest.mark.parametrize("how", REMOVALS)
@pytest.mark.parametrize("recoverable", [False, True])
def test_receive_ack_is_sent_on_request(how, wanted, recoverable):
    remove, needed, expected = REMOVALS[how]
    near, far = pair()
    send(near, wanted, recoverable=recoverable)
    before = classes(near)
    remove(far)
    assert classes(near) == before + ([expected] if wanted == needed else [])
    if wanted == needed:
        assert acks(near)[-1]["delivery"] == ("recoverable" if recoverable else "express")


def test_acknowledgments_of_one_purge_respect_the_limit_of_outgoing_messages():
    _, far = pair(max_outgoing_messages=2)
    far.ask(TakeOffline())
    for _ in range(4):
        far.send(direct(2), acks=frozenset({"negative_receive"}), admin_queue=direct(1, ADMIN))
    far.ask(PurgeQueue(PLAIN))
    assert [one["count"] for one in far.ask(ListQueues())["outgoing"]] == [2]


@pytest.mark.parametrize("written", [0, 1, 2, 3])
def test_a_receive_that_is_on_disk_is_acknowledged_even_after_a_crash(written):
    """A receive whose record is on disk is acknowledged even after a crash: once, or twice if the process ended before
    it knew that the acknowledgment was sent.
    """
    network = Network()
    near, far = network.pair()
    near.ask(CreateQueue(ADMIN))
    send(near, "positive_receive", recoverable=True)
    network.advance(2_000)
    far.disk = "slow"
    token = far.begin(ReceiveMessage(PLAIN))
    network.kill(far, written)
    far.disk = "works"
    network.advance(60_000)
    if far.bodies():
        assert (written, token in far.answers, classes(near)) == (0, False, [])
        far.ask(ReceiveMessage(PLAIN))
    network.advance(60_000)
    assert classes(near) in (["ACK_RECEIVE"], ["ACK_RECEIVE"] * 2)


def test_a_late_message_in_the_dead_letters_survives_a_crash():
    network = Network()
    near, far = network.pair()
    held = []
    near.tamper = lambda data: held.append(data) if b"late" in data else data
    wanted = {"journal": frozenset({"negative"}), "time_to_reach_queue_s": 5}
    send(near, body=b"late", recoverable=True, **wanted)
    network.advance(6_000)
    ordinal = far.core.adm.MessageIdOrdinal
    Raw.open(far).feed(held[0])
    network.kill(far)
    assert far.bodies("system$;deadletter") == ["late"]
    assert far.core.adm.MessageIdOrdinal < ordinal + 0x10000, "the sender's ordinal is not ours"
