"""MS-MQQB 3.1.1.3.2 Persistent State Storage: the transactional sequences that a new process loads."""

from __future__ import annotations

import pytest
from core_network import TRANSACTIONAL, Host, Network, direct
from core_ordering import in_sequence
from core_raw import Raw

from reference_qm.codec import FinalAckBody, MessageClass, OrderAckBody, UserMessagePacket
from reference_qm.model.adm import NO_INCOMING_SEQUENCE
from reference_qm.surface.commands import DeleteQueue, PurgeQueue, ReceiveMessage, SendMessage
from reference_qm.surface.inputs import PersistFailed, RecordPersisted

TO = direct(2, TRANSACTIONAL)
DAY_MS = 86_400_000


@pytest.fixture
def pair() -> tuple[Host, Host]:
    return Network().pair()


def send(host: Host, *bodies: str, **fields: object) -> None:
    for body in bodies:
        host.send(TO, body.encode(), transactional=True, **fields)


def receive(host: Host) -> str | None:
    message = host.ask(ReceiveMessage(TRANSACTIONAL))["message"]
    return None if message is None else str(message["body"])


def messages(host: Host) -> list[str]:
    return [name for name in host.network.entries[host.address] if name.startswith("message:")]


def sessions_sent(host: Host) -> list[UserMessagePacket]:
    return [packet for packet in host.packets() if isinstance(packet, UserMessagePacket)]


def lose_acks(host: Host) -> None:
    """Drop every order acknowledgment that a host sends."""
    host.tamper = lambda data: None if b"Q\0M\0 \0O\0r\0d\0e\0r\0i\0n\0g" in data else data


# -- the sender -------------------------------------------------------------------------------------------------


def test_a_message_sent_again_after_a_crash_has_the_number_it_was_first_sent_with(pair):
    a, b = pair
    lose_acks(b)
    send(a, "1", "2")
    first = [one.TransactionHeader.TxSequenceNumber for one in sessions_sent(a)]
    a.sent.clear()
    a.network.kill(a)
    again = [one.TransactionHeader for one in sessions_sent(a)]
    assert [one.TxSequenceNumber for one in again] == first == [1, 2]
    assert [one.PreviousTxSequenceNumber for one in again] == [0, 1]
    assert b.bodies(TRANSACTIONAL) == ["1", "2"], "not accepted again"


def test_sequence_numbers_continue_after_crash(pair):
    a, b = pair
    lose_acks(b)
    send(a, "1", "2")
    a.network.kill(a)
    send(a, "3")
    assert b.bodies(TRANSACTIONAL) == ["1", "2", "3"]
    b.tamper = lambda data: data
    a.network.advance(DAY_MS)
    assert messages(a) == [], "all acknowledged"


def test_a_new_sequence_after_a_crash_has_a_new_identifier(pair):
    a, b = pair
    send(a, "1")
    a.network.advance(60_000)
    first = sessions_sent(a)[0].TransactionHeader.TxSequenceID
    a.network.kill(a)
    a.sent.clear()
    send(a, "2")
    assert int(sessions_sent(a)[0].TransactionHeader.TxSequenceID) > int(first)
    assert b.bodies(TRANSACTIONAL) == ["1", "2"]


def test_no_message_is_sent_before_its_number_is_on_disk(pair):
    a, b = pair
    a.disk = "slow"
    a.begin(SendMessage(TO, b"1", transactional=True))
    assert sessions_sent(a) == []
    a.network.kill(a)
    a.disk = "works"
    send(a, "2")
    assert b.bodies(TRANSACTIONAL) == ["2"]


def test_a_number_whose_message_could_not_be_saved_leaves_no_gap(pair):
    a, b = pair
    send(a, "1")
    a.disk = "broken"
    a.refusal(SendMessage(TO, b"2", transactional=True))
    a.disk = "works"
    send(a, "3")
    assert b.bodies(TRANSACTIONAL) == ["1", "3"]


def test_message_still_awaits_its_final_ack_after_a_crash(pair):
    a, b = pair
    send(a, "1", journal=frozenset({"positive"}))
    a.network.advance(60_000)
    (outgoing,) = a.core.adm.OutgoingQueues.values()
    assert (len(outgoing.session.OutgoingMessageTable), len(outgoing.session.AwaitingFinalACKTable)) == (0, 1)
    a.network.kill(a)
    (outgoing,) = a.core.adm.OutgoingQueues.values()
    assert (len(outgoing.session.OutgoingMessageTable), len(outgoing.session.AwaitingFinalACKTable)) == (0, 1)
    assert receive(b) == "1"
    a.network.advance(DAY_MS)
    assert a.bodies("system$;journal") == ["1"]
    a.network.kill(a)
    assert a.bodies("system$;journal") == ["1"]


# -- the receiver -----------------------------------------------------------------------------------------------


def test_message_repeated_after_receiver_restart_is_not_accepted_twice(pair):
    a, b = pair
    lose_acks(b)
    send(a, "1", "2")
    assert receive(b) == "1"
    b.tamper = lambda data: data
    b.network.kill(b)
    a.network.advance(DAY_MS)
    assert b.bodies(TRANSACTIONAL) == ["2"]
    assert messages(a) == []


def test_incoming_sequence_survives_receive_of_its_message(pair):
    a, b = pair
    lose_acks(b)
    send(a, "1", "2")
    assert [receive(b), receive(b)] == ["1", "2"]
    b.network.kill(b)
    (queue,) = (queue for queue in b.core.adm.QueueCollection.values() if queue.Transactional)
    (transfer,) = queue.IncomingTransactionalTransferInfoCollection.values()
    assert (transfer.SequenceNumber, transfer.saved_sequence_number) == (2, 2)
    b.tamper = lambda data: data
    a.network.advance(DAY_MS)
    assert (b.bodies(TRANSACTIONAL), messages(a)) == ([], [])


@pytest.mark.parametrize("on_disk", range(4))
def test_message_after_a_gap_on_disk_is_discarded(pair, on_disk):
    """The disk lacks one of three records when the process ends: the messages after the missing record are discarded,
    and the sender sends them again.
    """
    a, b = pair
    b.disk = "slow"
    for body in (b"1", b"2", b"3"):
        a.begin(SendMessage(TO, body, transactional=True))
    records = b.network.unwritten[b.address]
    b.network.unwritten[b.address] = [one for number, one in enumerate(records, 1) if number != on_disk]
    lost = on_disk and b.network.unwritten[b.address][: on_disk - 1]
    b.network.kill(b, written=3)
    kept = len(b.network.entries[b.address])
    assert kept
    before = ["1", "2", "3"] if not on_disk else ["1", "2", "3"][: len(lost)]
    assert b.bodies(TRANSACTIONAL) == before
    b.disk = "works"
    b.network.write(b)
    a.network.advance(DAY_MS)
    assert b.bodies(TRANSACTIONAL) == ["1", "2", "3"]
    b.network.kill(b)
    assert b.bodies(TRANSACTIONAL) == ["1", "2", "3"]


def test_message_after_unsaved_message_is_removed_from_disk(pair):
    a, b = pair
    b.disk = "slow"
    for body in (b"1", b"2"):
        a.begin(SendMessage(TO, body, transactional=True))
    one, two = b.network.unwritten[b.address]
    b.network.unwritten[b.address] = []
    b.network.apply(b, two)
    b.handle(RecordPersisted(two.token))
    b.handle(PersistFailed(one.token, "disk full"))
    b.disk = "works"
    b.network.write(b)
    b.network.settle()
    assert b.bodies(TRANSACTIONAL) == []
    assert messages(b) == []
    a.network.advance(DAY_MS)
    b.network.kill(b)
    assert b.bodies(TRANSACTIONAL) == ["1", "2"]


def test_final_ack_of_removal_before_crash_is_sent_after_it(pair):
    a, b = pair
    send(a, "1", journal=frozenset({"positive"}))
    a.network.advance(60_000)
    b.disk = "slow"
    token = b.begin(ReceiveMessage(TRANSACTIONAL))
    assert token not in b.answers
    b.network.kill(b, written=1)  # the removal is on disk, the FinalAck is not made yet
    b.disk = "works"
    b.network.write(b)
    b.network.advance(DAY_MS)
    assert b.bodies(TRANSACTIONAL) == []
    assert a.bodies("system$;journal") == ["1"]
    assert messages(b) == [], "and nothing is left of it"


def test_a_final_ack_that_could_not_be_delivered_survives(pair):
    a, b = pair
    send(a, "1", journal=frozenset({"negative"}))
    a.network.advance(60_000)
    a.reachable = False
    a.network.cut(a)
    assert b.ask(PurgeQueue(TRANSACTIONAL)) == {"purged": 1}
    assert len(messages(b)) == 1
    b.network.kill(b)
    a.reachable = True
    b.network.advance(DAY_MS)
    assert a.bodies("system$;deadxact") == ["1"]
    assert messages(b) == []


def test_the_count_of_rejections_is_on_disk():
    """MS-MQQB 3.1.1.3.1 (TxMessageRejectCount)."""
    network = Network()
    raw = Raw.open(network.host(1))
    raw.feed(in_sequence(1), in_sequence(3), in_sequence(3))
    network.kill(raw.host)
    (queue,) = (queue for queue in raw.host.core.adm.QueueCollection.values() if queue.Transactional)
    (transfer,) = queue.IncomingTransactionalTransferInfoCollection.values()
    assert (transfer.SequenceNumber, transfer.RejectCount) == (1, 2)


def test_a_deleted_queue_leaves_no_sequence_behind(pair):
    a, b = pair
    send(a, "1")
    a.network.advance(60_000)
    b.ask(DeleteQueue(TRANSACTIONAL))
    assert not [name for name in b.network.entries[b.address] if name.startswith("transfer:")]
    b.network.kill(b)
    (queue,) = (queue for queue in b.core.adm.QueueCollection.values() if queue.Transactional)
    assert queue.IncomingTransactionalTransferInfoCollection == {}


def test_order_acks_name_only_messages_on_disk(pair):
    a, b = pair
    send(a, "1", journal=frozenset({"positive"}))
    b.network.kill(b)
    b.sent.clear()
    a.network.advance(60_000)
    receive(b)
    bodies = {
        packet.MessagePropertiesHeader.MessageClass: packet.MessagePropertiesHeader.MessageBody
        for packet in sessions_sent(b)
    }
    order = OrderAckBody.parse(bodies[MessageClass.MQMSG_CLASS_ORDER_ACK])
    final = FinalAckBody.parse(bodies[MessageClass.MQMSG_CLASS_ACK_RECEIVE])
    assert (order.TxSequenceNumber, final.TxSequenceNumber) == (1, 1)
    assert order.TxSequenceID == final.TxSequenceID != NO_INCOMING_SEQUENCE
