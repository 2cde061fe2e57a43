"""MS-MQQB 3.1.5.8.10 Sending Administration Acknowledgments, and 3.1.5.8.2 for acknowledgments of refused messages."""

import pytest
from core_admin import ADMIN, classes, pair, send
from core_network import PLAIN, TRANSACTIONAL, direct
from core_raw import Raw

from reference_qm.core.transfer import own_message_sending
from reference_qm.surface.commands import SetQueue

KINDS = {
    "express": (PLAIN, {}),
    "recoverable": (PLAIN, {"recoverable": True}),
    "transactional": (TRANSACTIONAL, {"transactional": True}),
}


@pytest.mark.parametrize("kind", ["recoverable", "transactional"])
def test_arrival_is_acknowledged_after_message_is_on_disk(kind):
    queue, fields = KINDS[kind]
    near, far = pair()
    far.disk = "slow"
    send(near, to=direct(2, queue), **fields)
    assert classes(near) == []
    far.network.settle_disk()
    assert classes(near) == ["ACK_REACH_QUEUE"]


def test_a_message_that_could_not_be_saved_is_not_acknowledged():
    near, far = pair()
    far.disk = "broken"
    send(near, recoverable=True)
    assert classes(near) == []


# -- messages that are refused ----------------------------------------------------------------------------------


def test_a_message_that_arrives_too_late_is_acknowledged_negatively_and_logged():
    near, far = pair()
    held = []
    near.tamper = lambda data: held.append(data) if b"late" in data else data
    send(near, body=b"late", time_to_reach_queue_s=5, journal=frozenset({"negative"}))
    far.network.advance(6_000)
    near.tamper = lambda data: data
    Raw.open(far).feed(held[0])
    assert classes(near) == ["NACK_REACH_QUEUE_TIMEOUT"]
    assert (far.bodies(), far.bodies("system$;deadletter")) == ([], ["late"])


def test_an_administration_queue_that_cannot_be_opened_loses_the_acknowledgment():
    near, far = pair()
    near.send(direct(2), acks=frozenset({"positive_arrival"}), admin_queue=direct(2, "private$\\gone"))
    near.send(direct(2), acks=frozenset({"positive_arrival"}), admin_queue=direct(2, TRANSACTIONAL))
    assert far.bodies() == ["body", "body"]
    assert far.bodies(TRANSACTIONAL) == []


def test_an_administration_queue_without_room_loses_the_acknowledgment():
    near, far = pair()
    near.ask(SetQueue(ADMIN, quota_kb=0))
    near.send(direct(1), acks=frozenset({"positive_arrival"}), admin_queue=direct(1, ADMIN))
    send(near)
    assert (near.bodies(), far.bodies(), classes(near)) == (["body"], ["body"], [])


def test_unknown_senders_cannot_make_acknowledgments_pile_up(monkeypatch):
    monkeypatch.setattr(own_message_sending, "OUTGOING_QUEUES_LIMIT", 3)
    _, far = pair(max_outgoing_messages=2)
    for number in (11, 12, 13, 14, 11, 11, 14):
        far.send(direct(2), acks=frozenset({"positive_arrival"}), admin_queue=direct(number, ADMIN))
    waiting = {one["DestinationFormatName"]: 0 for one in far.adm()["OutgoingQueues"]}
    for one in far.adm()["Sessions"]:
        waiting[one["OutgoingQueueReference"]] = len(one["OutgoingMessageTable"])
    assert waiting == {direct(11, ADMIN): 2, direct(12, ADMIN): 1, direct(13, ADMIN): 1}
