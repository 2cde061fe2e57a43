"""MS-MQQB 3.1.5.8.10 Sending Administration Acknowledgments, 3.1.5.8.2 for those of messages that are refused."""

from dataclasses import replace

import pytest
from core_admin import ADMIN, acks, classes, pair, send
from core_network import PLAIN, TRANSACTIONAL, Network, direct, guid, private
from core_raw import Raw, user_message

from reference_qm.codec import MessagePropertiesHeader, SessionAckPacket, UserMessagePacket, parse_packet
from reference_qm.core.transfer import own_messages
from reference_qm.surface.commands import CreateQueue, ReceiveMessage, SetQueue

KINDS = {
    "express": (PLAIN, {}),
    "recoverable": (PLAIN, {"recoverable": True}),
    "transactional": (TRANSACTIONAL, {"transactional": True}),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_message_that_reaches_its_queue_is_acknowledged_once(kind):
    queue, fields = KINDS[kind]
    near, far = pair()
    send(near, "positive_arrival", to=direct(2, queue), **fields)
    assert far.bodies(queue) == ["body"]
    assert classes(near) == ["ACK_REACH_QUEUE"]


@pytest.mark.parametrize("wanted", ["positive_receive", "negative_arrival", "negative_receive"])
def test_it_is_not_acknowledged_unless_wanted(wanted):
    near, far = pair()
    send(near, wanted)
    assert far.bodies() == ["body"]
    assert classes(near) == []


@pytest.mark.parametrize("kind", ["recoverable", "transactional"])
def test_it_is_acknowledged_only_when_it_is_on_disk(kind):
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


def test_a_duplicate_is_not_acknowledged_again():
    near, far = pair()
    far.tamper = lambda data: None if isinstance(parse_packet(data), SessionAckPacket) else data
    send(near, recoverable=True)
    near.network.cut(near)
    near.network.advance(60_000)
    carried = [one for one in near.packets() if isinstance(one, UserMessagePacket)]
    assert len(carried) > 1, "it was sent again"
    assert classes(near) == ["ACK_REACH_QUEUE"]


def test_private_names_are_answered_by_private_names():
    network = Network()
    near = network.host(1, routes={guid(2): "10.0.0.2"})
    network.host(2, routes={guid(1): "10.0.0.1"})
    near.ask(CreateQueue(ADMIN))
    near.send(private(2), acks=frozenset({"positive_arrival"}), admin_queue=private(1, 3))
    (ack,) = acks(near)
    assert (ack["destination"], ack["response_queue"]) == (private(1, 3).upper(), private(2).upper())


def test_a_message_to_a_queue_of_the_queue_manager_itself_is_not_acknowledged():
    near, far = pair()
    far.ask(CreateQueue("private$\\notify_queue$"))
    send(near, to=direct(2, "private$\\notify_queue$"))
    assert far.bodies("private$\\notify_queue$") == ["body"]
    assert classes(near) == []


def test_the_arrival_is_acknowledged_before_the_receive():
    near, far = pair()
    far.begin(ReceiveMessage(PLAIN, timeout_ms=1_000))
    send(near)
    assert classes(near) == ["ACK_REACH_QUEUE", "ACK_RECEIVE"]


# -- messages that are refused ----------------------------------------------------------------------------------

REFUSED = {
    "no such queue": (direct(2, "private$\\none"), {}, "NACK_BAD_DST_Q"),
    "no such queue, transactional": (direct(2, "private$\\none"), {"transactional": True}, "NACK_BAD_DST_Q"),
    "not a transactional queue": (direct(2), {"transactional": True}, "NACK_NOT_TRANSACTIONAL_Q"),
    "not a transactional message": (direct(2, TRANSACTIONAL), {}, "NACK_NOT_TRANSACTIONAL_MSG"),
    "recoverable, not transactional": (direct(2, TRANSACTIONAL), {"recoverable": True}, "NACK_NOT_TRANSACTIONAL_MSG"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_refused_message_is_acknowledged_negatively(case):
    to, fields, expected = REFUSED[case]
    near, far = pair(send_insecure_nacks=True)
    send(near, to=to, **fields)
    assert classes(near) == [expected]
    assert far.bodies() == far.bodies(TRANSACTIONAL) == []


@pytest.mark.parametrize("case", REFUSED)
def test_a_refused_message_is_not_acknowledged_unless_wanted(case):
    to, fields, _ = REFUSED[case]
    near, _ = pair(send_insecure_nacks=True)
    send(near, "positive_arrival", "positive_receive", "negative_receive", to=to, **fields)
    assert classes(near) == []


def test_the_sender_of_a_refused_transactional_message_is_notified_even_if_nobody_asks():
    near, _ = pair()
    near.send(direct(2), transactional=True, journal=frozenset({"negative"}))
    assert near.bodies("system$;deadxact") == ["body"]


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


def test_nothing_is_sent_where_no_administration_queue_is_named():
    _, far = pair()
    raw = Raw.open(far)
    raw.feed(replace(user_message(1), MessagePropertiesHeader=MessagePropertiesHeader(Flags=0x0F, MessageBody=b"b")))
    assert far.bodies() == ["b"]
    assert (raw.messages, far.adm()["OutgoingQueues"]) == ([], [])


def test_an_administration_queue_that_cannot_be_opened_loses_the_acknowledgment():
    near, far = pair()
    near.send(direct(2), acks=frozenset({"positive_arrival"}), admin_queue=direct(2, "private$\\gone"))
    near.send(direct(2), acks=frozenset({"positive_arrival"}), admin_queue=direct(2, TRANSACTIONAL))
    assert far.bodies() == ["body", "body"]
    assert far.bodies(TRANSACTIONAL) == []


def test_an_administration_queue_of_the_receiver_itself_gets_it():
    near, far = pair()
    near.send(direct(2), acks=frozenset({"positive_arrival"}), admin_queue=direct(2, ADMIN))
    assert far.adm()["OutgoingQueues"] == []
    far.ask(CreateQueue(ADMIN))
    near.send(direct(2), acks=frozenset({"positive_arrival"}), admin_queue=direct(2, ADMIN))
    assert classes(far) == ["ACK_REACH_QUEUE"]


def test_an_administration_queue_without_room_loses_the_acknowledgment():
    near, far = pair()
    near.ask(SetQueue(ADMIN, quota_kb=0))
    near.send(direct(1), acks=frozenset({"positive_arrival"}), admin_queue=direct(1, ADMIN))
    send(near)
    assert (near.bodies(), far.bodies(), classes(near)) == (["body"], ["body"], [])


def test_unknown_senders_cannot_make_acknowledgments_pile_up(monkeypatch):
    monkeypatch.setattr(own_messages, "OUTGOING_QUEUES_LIMIT", 3)
    _, far = pair(max_outgoing_messages=2)
    for number in (11, 12, 13, 14, 11, 11, 14):
        far.send(direct(2), acks=frozenset({"positive_arrival"}), admin_queue=direct(number, ADMIN))
    waiting = {one["DestinationFormatName"]: 0 for one in far.adm()["OutgoingQueues"]}
    for one in far.adm()["Sessions"]:
        waiting[one["OutgoingQueueReference"]] = len(one["OutgoingMessageTable"])
    assert waiting == {direct(11, ADMIN): 2, direct(12, ADMIN): 1, direct(13, ADMIN): 1}
