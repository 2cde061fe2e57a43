"""MS-MQQB 3.1.5.8.2, 3.1.5.8.6, 3.1.6.9, 3.1.7.2.2, 3.1.7.17: the receiver of transactional messages."""

import pytest
from core_network import PLAIN, TRANSACTIONAL, Network, direct, guid
from core_ordering import SEQUENCE, in_sequence
from core_raw import RAW, Raw

from reference_qm.codec import (
    NULL_GUID,
    FinalAckBody,
    MessageClass,
    OrderAckBody,
    PrivateQueueFormatNameId,
    TransactionHeader,
    UserHeader,
)
from reference_qm.core.transfer.order_acks import is_final_ack, is_order_ack
from reference_qm.surface.commands import CreateQueue, DeleteQueue, PurgeQueue, ReceiveMessage
from reference_qm.surface.inputs import PersistFailed, RecordPersisted

JP, JN = UserHeader.flags(JP=1), UserHeader.flags(JN=1)
HOUR_S = 3_600


@pytest.fixture
def raw():
    return Raw.open(Network().host(1))


def order_acks(raw):
    return [OrderAckBody.parse(one.MessagePropertiesHeader.MessageBody) for one in raw.messages if is_order_ack(one)]


def final_acks(raw):
    return [
        (
            one.MessagePropertiesHeader.MessageClass,
            FinalAckBody.parse(one.MessagePropertiesHeader.MessageBody),
        )
        for one in raw.messages
        if is_final_ack(one)
    ]


def transfer(raw):
    queues = raw.host.adm()["QueueManager"]["QueueCollection"]
    (info,) = queues[1]["IncomingTransactionalTransferInfoCollection"]
    return info


def bodies(raw):
    return raw.host.bodies(TRANSACTIONAL)


def test_reject_count_survives_session_and_crash(raw):
    """MS-MQQB 3.1.1.3.1, 3.1.5.8.6."""
    raw.feed(in_sequence(1), in_sequence(3))
    again = Raw.open(raw.host)
    again.feed(in_sequence(3))
    assert transfer(raw)["RejectCount"] == 2
    raw.host.restart()
    later = Raw.open(raw.host)
    later.feed(in_sequence(3))
    assert (later.session["TxMessageRejectCount"], transfer(raw)["RejectCount"]) == (3, 3)
    later.feed(in_sequence(2))
    assert (later.session["TxMessageRejectCount"], transfer(raw)["RejectCount"]) == (0, 0)


def test_transfer_info_has_the_specified_elements(raw):
    raw.feed(in_sequence(1))
    assert transfer(raw) == {
        "FormatName": f"DIRECT=OS:host\\{TRANSACTIONAL}",
        "SenderIdentifier": str(RAW),
        "SequenceIdentifier": {"Ordinal": 1, "TimeStamp": SEQUENCE.TimeStamp},
        "SequenceNumber": 1,
        "LastAccessTime": raw.host.network.now.utc_s,
        "RejectCount": 0,
    }


# -- order acknowledgments --------------------------------------------------------------------------------------


def test_order_ack_is_sent_after_half_a_second(raw):
    raw.feed(in_sequence(1), in_sequence(2))
    raw.host.network.advance(499)
    assert order_acks(raw) == []
    raw.host.network.advance(1)
    assert order_acks(raw) == [OrderAckBody(SEQUENCE, 2, 1)]
    (packet,) = raw.messages
    assert packet.BaseHeader.Flags == 0
    assert packet.UserHeader.Flags == UserHeader.flags(DQ=7, MP=1)
    assert packet.UserHeader.QueueManagerAddress == NULL_GUID
    assert packet.UserHeader.DestinationQueue.DirectFormatName == "TCP:10.0.0.99\\PRIVATE$\\order_queue$"
    properties = packet.MessagePropertiesHeader
    assert (properties.Label, properties.MessageClass, properties.BodyType) == ("QM Ordering Ack", 0xFF, 0)


def test_the_order_ack_is_put_off_while_messages_come_but_not_for_ever(raw):
    for number in range(1, 31):
        raw.feed(in_sequence(number))
        raw.host.network.advance(400)
    (first, *_) = order_acks(raw)
    assert first.TxSequenceNumber in (25, 26), "10 s after the session began"


def test_a_clock_that_is_set_back_puts_the_order_ack_off_no_longer(raw):
    (session,) = raw.host.core.sessions.values()
    session.LastOrderAckSendTime += HOUR_S
    for number in range(1, 31):
        raw.feed(in_sequence(number))
        raw.host.network.advance(400)
    (first, *_) = order_acks(raw)
    assert first.TxSequenceNumber in (25, 26), "10 s after the first message"


def test_repeated_transactional_message_is_acknowledged_again(raw):
    raw.feed(in_sequence(1))
    raw.host.network.advance(500)
    raw.feed(in_sequence(1))
    raw.host.network.advance(500)
    assert order_acks(raw) == [OrderAckBody(SEQUENCE, 1, 0)] * 2


def test_the_order_queue_of_a_private_name_is_number_4(raw):
    flags = UserHeader.flags(DM=1, DQ=3, TH=1, MP=1)
    queue = PrivateQueueFormatNameId(2)
    raw.feed(in_sequence(1, Flags=flags, DestinationQueue=queue, QueueManagerAddress=guid(1)))
    raw.host.network.advance(500)
    (packet,) = raw.messages
    assert packet.UserHeader.DestinationQueue == PrivateQueueFormatNameId(4)
    assert (packet.UserHeader.DQ, packet.UserHeader.QueueManagerAddress) == (3, RAW)


def test_sequences_on_one_session_are_acknowledged_one_by_one(raw):
    raw.feed(in_sequence(1), in_sequence(4, 0, source=guid(7)))
    raw.host.network.advance(500)
    assert [one.TxSequenceNumber for one in order_acks(raw)] == [1, 4]


def test_order_ack_covers_only_messages_on_disk_in_order(raw):
    raw.host.disk = "slow"
    raw.feed(in_sequence(1), in_sequence(2), in_sequence(3))
    tokens = [persist.token for persist in raw.host.persists]
    raw.host.network.advance(600)
    assert (order_acks(raw), bodies(raw)) == ([], [])
    raw.host.handle(RecordPersisted(tokens[0]))
    raw.host.handle(RecordPersisted(tokens[2]))
    raw.host.network.advance(600)
    assert [one.TxSequenceNumber for one in order_acks(raw)] == [1]
    assert bodies(raw) == ["1"], "3 is there, 2 is not"
    raw.host.handle(RecordPersisted(tokens[1]))
    raw.host.network.advance(600)
    assert [one.TxSequenceNumber for one in order_acks(raw)] == [1, 3]


def test_message_record_contains_place_in_sequence(raw):
    raw.feed(in_sequence(1, bits=JP))
    (persist,) = raw.host.persists
    transfer = f"transfer:2:{RAW}:DIRECT=OS:host\\{TRANSACTIONAL}"
    message = persist.record[f"message:{persist.token}"]
    assert message["sequence"] == {"transfer": transfer, "at": [1, SEQUENCE.TimeStamp, 1], "follows": [0, 0, 0]}
    assert persist.record[transfer] == [0, 0, 0, 0], "nothing is known to be on disk yet"
    assert message["order_queue"] == "DIRECT=TCP:10.0.0.99\\PRIVATE$\\order_queue$"


def test_failed_write_returns_sequence_to_last_message_on_disk(raw):
    raw.host.disk = "slow"
    raw.feed(in_sequence(1), in_sequence(2), in_sequence(3))
    one, two, three = (persist.token for persist in raw.host.persists)
    raw.host.handle(RecordPersisted(one))
    raw.host.handle(PersistFailed(two, "disk full"))
    raw.host.handle(RecordPersisted(three))
    assert "disk full" in raw.closed
    assert bodies(raw) == ["1"]
    raw.host.disk = "works"
    again = Raw.open(raw.host)
    again.feed(in_sequence(2, 0), in_sequence(3))
    assert bodies(raw) == ["1", "2", "3"]


def test_messages_on_disk_keep_their_place_after_a_crash(raw):
    raw.feed(in_sequence(1))
    raw.host.disk = "slow"
    raw.feed(in_sequence(2), in_sequence(3))
    raw.host.handle(RecordPersisted(raw.host.persists[-1].token))
    raw.host.restart()
    assert bodies(raw) == ["1"]
    raw.host.disk = "works"
    again = Raw.open(raw.host)
    again.feed(in_sequence(1), in_sequence(2), in_sequence(3))
    assert bodies(raw) == ["1", "2", "3"]


# -- final acknowledgments --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("queue", "message_class"),
    [
        ("private$\\none", MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q),
        (PLAIN, MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_Q),
    ],
)
def test_a_message_that_no_queue_takes_is_refused(raw, queue, message_class):
    raw.feed(in_sequence(2, 1, queue=queue))
    assert final_acks(raw) == [(message_class, FinalAckBody(SEQUENCE, 2, 1, RAW, 2))]
    (packet,) = raw.messages
    assert packet.UserHeader.Flags == UserHeader.flags(DM=1, DQ=7, MP=1)
    assert packet.BaseHeader.Flags == 0
    raw.host.network.advance(600)
    assert order_acks(raw) == []
    assert raw.host.bodies() == []


def test_an_expired_message_is_disregarded_and_its_sender_notified(raw):
    raw.feed(in_sequence(1, life_s=10, SentTime=1_800_000_000 - 11))
    assert bodies(raw) == []
    assert final_acks(raw) == [
        (MessageClass.MQMSG_CLASS_NACK_REACH_QUEUE_TIMEOUT, FinalAckBody(SEQUENCE, 1, 0, RAW, 1))
    ]


def test_late_repetition_of_accepted_message_is_not_reported_as_lost(raw):
    raw.feed(in_sequence(1, life_s=10))
    raw.host.network.advance(11_000)
    raw.feed(in_sequence(1, life_s=10))
    assert bodies(raw) == ["1"]
    assert final_acks(raw) == []
    assert raw.session["TxMessageRejectCount"] == 1


REMOVALS = {
    "received": (lambda host: host.ask(ReceiveMessage(TRANSACTIONAL)), MessageClass.MQMSG_CLASS_ACK_RECEIVE),
    "purged": (lambda host: host.ask(PurgeQueue(TRANSACTIONAL)), MessageClass.MQMSG_CLASS_NACK_Q_PURGED),
    "deleted": (lambda host: host.ask(DeleteQueue(TRANSACTIONAL)), MessageClass.MQMSG_CLASS_NACK_Q_DELETED),
}


@pytest.mark.parametrize("wanted", [{"bits": JP}, {"bits": JN}, {"flags": TransactionHeader.flags(FA=1)}, {}])
@pytest.mark.parametrize("how", REMOVALS)
def test_final_ack_of_removal_is_sent_on_request(raw, how, wanted):
    remove, message_class = REMOVALS[how]
    raw.feed(in_sequence(1, **wanted))
    assert final_acks(raw) == []
    remove(raw.host)
    assert final_acks(raw) == ([(message_class, FinalAckBody(SEQUENCE, 1, 0, RAW, 1))] if wanted else [])


def test_receive_that_waited_sends_final_ack(raw):
    token = raw.host.begin(ReceiveMessage(TRANSACTIONAL, timeout_ms=1_000))
    raw.feed(in_sequence(1, bits=JP))
    assert raw.host.answers[token].result.values["message"]["delivery"] == "transactional"
    assert len(final_acks(raw)) == 1


# -- two cores --------------------------------------------------------------------------------------------------


def test_a_local_transactional_queue_takes_transactional_messages():
    host = Network().host(1)
    host.send(direct(1, TRANSACTIONAL), b"here", transactional=True)
    message = host.ask(ReceiveMessage(TRANSACTIONAL))["message"]
    assert (message["body"], message["delivery"], message["priority"]) == ("here", "transactional", 0)


def test_application_cannot_use_order_queue():
    assert "belongs to the queue manager itself" in Network().host(1).refusal(CreateQueue("private$\\Order_Queue$"))
