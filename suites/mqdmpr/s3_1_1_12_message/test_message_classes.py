"""MS-MQDMPR 3.1.1.12 Message: the classes of acknowledgments."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import acknowledged
from harness.run.marks import covers, needs, varied
from harness.sut.outcomes import Outcome
from harness.sut.shown import lookup_id
from harness.wire import PublicQueueFormatName
from suites.messages import Sequence
from suites.mqqb.steps.disposition import (
    NOT_TRANSACTIONAL_MSG,
    NOT_TRANSACTIONAL_Q,
    Q_DELETED,
    Q_EXCEED_QUOTA,
    Q_PURGED,
    RECEIVE,
    RECEIVE_TIMEOUT,
    AcknowledgingReceiver,
    delete,
    get_correlation_id,
    identifier,
    purge_queue,
    receive_first_message,
)

SHORT_LIFETIME_S = 2


RULES_OF_EVERY_ACK_CLASS = ("MQMQ-2.2.18.1.6-D01", "MQDMPR-3.1.1.12-03", "MQDMPR-3.1.7.1.32-D08")


RULE_BY_ACK_CLASS = {
    NOT_TRANSACTIONAL_MSG: "MQDMPR-3.1.1.12-D20",
    NOT_TRANSACTIONAL_Q: "MQDMPR-3.1.1.12-D19",
    RECEIVE_TIMEOUT: "MQDMPR-3.1.1.12-D25",
    RECEIVE: "MQDMPR-3.1.1.12-D09",
    Q_PURGED: "MQDMPR-3.1.1.12-D24",
    Q_DELETED: "MQDMPR-3.1.1.12-D23",
    Q_EXCEED_QUOTA: "MQDMPR-3.1.1.12-D13",
}


def _judge_ack_class(judge, receiver, value, *sent):
    identifiers = {identifier(one) for one in sent}
    acks = [ack for ack in receiver.await_acks(len(sent)) if get_correlation_id(ack) in identifiers]
    expected = acknowledged(*sent, of_class=value)
    judge(
        *RULES_OF_EVERY_ACK_CLASS,
        RULE_BY_ACK_CLASS[value],
        expected=expected,
        observed=acks,
        evidence=[*sent, *acks],
        case="acknowledgments",
    )
    receiver.acknowledge_all()


@covers(*RULES_OF_EVERY_ACK_CLASS, "MQDMPR-3.1.1.12-D20")
@pytest.mark.parametrize("delivery", [0, 1])
@varied("destination", "queue journaling", priority=("3", "7"))
def test_nontransactional_message_to_transactional_queue_is_nacked(peer, sut, judge, delivery):
    """The SUT acknowledges a nontransactional message to a transactional queue with class 0x800A."""
    receiver = AcknowledgingReceiver(peer, sut)
    packet = receiver.build_message({"DM": delivery}, queue="transactional", properties={"NA": 1})
    _judge_ack_class(judge, receiver, NOT_TRANSACTIONAL_MSG, receiver.send_packet(packet))


@covers(*RULES_OF_EVERY_ACK_CLASS, "MQDMPR-3.1.1.12-D19")
@varied("application tag", body=("short", "5,000 bytes"))
def test_transactional_message_to_plain_queue_is_nacked(peer, sut, judge):
    """The SUT acknowledges a transactional message to a nontransactional queue with class 0x8009."""
    receiver = AcknowledgingReceiver(peer, sut)
    packet = Sequence(peer).message(receiver.add_admin_queue_fields(), queue="plain", properties={"NA": 1})
    _judge_ack_class(judge, receiver, NOT_TRANSACTIONAL_Q, receiver.send_packet(packet))


@needs("queue_control", "directory")
@covers(*RULES_OF_EVERY_ACK_CLASS, "MQDMPR-3.1.1.12-D19")
def test_transactional_message_to_public_plain_queue_is_nacked(peer, sut, judge):
    """The SUT acknowledges a transactional message to a nontransactional public queue with class 0x8009."""
    sut.create_queue(f"mqc-{sut.own}-nacked")
    names = [name for name in sut.list_created_format_names() if name.upper().startswith("PUBLIC=")]
    if not names:
        judge.mark_not_exercised(
            *RULES_OF_EVERY_ACK_CLASS, "MQDMPR-3.1.1.12-D19", reason="the new queue has no public format name"
        )
        return
    public = names[0].partition("=")[2]
    receiver = AcknowledgingReceiver(peer, sut)
    user = receiver.add_admin_queue_fields({"DQ": 5, "QueueManagerAddress": sut.guid})
    destination = PublicQueueFormatName(PublicQueueIdentifier=UUID(public))
    packet = Sequence(peer).message(user, destination=destination, properties={"NA": 1})
    _judge_ack_class(judge, receiver, NOT_TRANSACTIONAL_Q, receiver.send_packet(packet))


@covers(*RULES_OF_EVERY_ACK_CLASS, "MQDMPR-3.1.1.12-D25")
@varied("extension", "correlation", "destination", priority=("3", "7"))
def test_message_expired_in_queue_is_nacked(peer, sut, judge):
    """The TimeToBeReceived of three messages is 2 s and expires while they are in their queue. The SUT acknowledges
    each message with class 0xC002.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    sent = [
        receiver.send_packet(
            receiver.build_message({"DM": delivery, "TimeToBeReceived": SHORT_LIFETIME_S}, properties={"NR": 1})
        )
        for delivery in (1, 0, 1)
    ]
    peer.pass_time((SHORT_LIFETIME_S + 1) * 1_000)
    _judge_ack_class(judge, receiver, RECEIVE_TIMEOUT, *sent)


@needs("receive", "queues")
@covers(*RULES_OF_EVERY_ACK_CLASS, "MQMQ-2.2.18.1.3-D01")
@pytest.mark.parametrize(
    ("act", "bit", "value"),
    [
        pytest.param(act, bit, value, marks=[covers(RULE_BY_ACK_CLASS[value]), needs(need)], id=name)
        for name, act, bit, value, need in (
            ("take", receive_first_message, "PR", RECEIVE, "receive"),
            ("purge", purge_queue, "NR", Q_PURGED, "receive"),
            ("delete", delete, "NR", Q_DELETED, "queue_control"),
        )
    ],
)
def test_received_purged_or_deleted_message_is_acknowledged(peer, sut, judge, act, bit, value):
    """The SUT acknowledges a message in a queue with class 0x4000 when an application receives it, with 0xC001 when the
    queue is purged, and with 0xC000 when the queue is deleted.
    """
    queue = sut.new_queue("classes")
    receiver = AcknowledgingReceiver(peer, sut)
    to = rf"TCP:{sut.address}\{queue}"
    packet = receiver.send_packet(receiver.build_message({"DM": 1}, destination=to, label="class", properties={bit: 1}))
    peer.eventually(lambda: bool(sut.control.call("peek", queue=queue)["messages"]))
    act(sut, queue)
    acks = receiver.await_acks(1)
    judge(
        "MQMQ-2.2.18.1.3-D01",
        expected=[identifier(packet)],
        observed=[get_correlation_id(ack) for ack in acks],
        case="CorrelationIDs of the acknowledgments",
        evidence=[packet, *acks],
    )
    _judge_ack_class(judge, receiver, value, packet)


@needs("receive", "queue_control", "subqueues")
@covers(*RULES_OF_EVERY_ACK_CLASS)
@pytest.mark.parametrize(
    ("act", "bit", "value"),
    [
        pytest.param(act, bit, value, marks=covers(RULE_BY_ACK_CLASS[value]), id=name)
        for name, act, bit, value in (
            ("take", receive_first_message, "PR", RECEIVE),
            ("purge", purge_queue, "NR", Q_PURGED),
        )
    ],
)
def test_received_or_purged_message_of_subqueue_is_acknowledged(peer, sut, judge, act, bit, value):
    """A message is moved to a subqueue. The SUT acknowledges it with class 0x4000 when an application receives it
    there, and with 0xC001 when the subqueue is purged.
    """
    queue = sut.new_queue("classes")
    subqueue = f"{queue};mqc-sub"
    sut.create_queue(subqueue)
    receiver = AcknowledgingReceiver(peer, sut)
    to = rf"TCP:{sut.address}\{queue}"
    packet = receiver.send_packet(receiver.build_message({"DM": 1}, destination=to, label="class", properties={bit: 1}))

    def peek_first_message():
        return sut.control.call("peek", queue=queue, limit=1)["messages"]

    peer.eventually(lambda: bool(peek_first_message()))
    sut.control.call("move", queue=queue, lookup_id=lookup_id(peek_first_message()[0]), to=subqueue)
    act(sut, subqueue)
    _judge_ack_class(judge, receiver, value, packet)


@needs("receive", "queue_control", "subqueues")
@covers(*RULES_OF_EVERY_ACK_CLASS, "MQDMPR-3.1.1.12-D23")
@pytest.mark.parametrize("deleted", ["queue", "subqueue"])
@pytest.mark.parametrize("transactional", [False, True], ids=["plain", "transactional"])
def test_message_of_deleted_subqueue_is_nacked_as_deleted(peer, sut, judge, deleted, transactional):
    """Messages are moved to a subqueue, and then the queue or the subqueue is deleted. If the SUT acknowledges the
    messages in the subqueue, the acknowledgments have class 0xC000.
    """
    rules = (*RULES_OF_EVERY_ACK_CLASS, "MQDMPR-3.1.1.12-D23")
    queue = sut.new_queue("classes", transactional=transactional)
    subqueue = f"{queue};mqc-sub"
    sut.create_queue(subqueue)
    receiver = AcknowledgingReceiver(peer, sut)
    build_message = Sequence(peer).message if transactional else peer.recoverable_message
    headers: dict[str, Any] = {"destination": rf"TCP:{sut.address}\{queue}", "properties": {"NR": 1}}
    sent = [
        receiver.send_packet(build_message(receiver.add_admin_queue_fields(), label=label, **headers))
        for label in ("a", "b")
    ]
    if not peer.await_label("b", queue):
        raise ConformanceFailure("the messages did not arrive in their queue")
    for message in sut.control.call("peek", queue=queue, limit=2)["messages"]:
        sut.control.call("move", queue=queue, lookup_id=lookup_id(message), to=subqueue)
    outcome = sut.attempt(delete, sut, subqueue if deleted == "subqueue" else queue)
    acks = receiver.await_acks(len(sent))
    if outcome != Outcome.DONE or not acks:
        judge.mark_not_exercised(*rules, reason=f"deletion of the {deleted}: {outcome}, {len(acks)} acknowledgments")
        return
    answered = [one for one in sent if identifier(one) in {get_correlation_id(ack) for ack in acks}]
    expected = acknowledged(*answered, of_class=Q_DELETED)
    judge(*rules, expected=expected, observed=acks, evidence=[*sent, *acks], case="acknowledgments")
    receiver.acknowledge_all()


@needs("receive", "queue_control", "transactions")
@covers(*RULES_OF_EVERY_ACK_CLASS, "MQDMPR-3.1.1.12-D23", "MQDMPR-3.1.7.1.4-05")
@varied("extension", "correlation", "application tag", body=("short", "5,000 bytes"))
def test_message_locked_when_queue_is_deleted_is_nacked(peer, sut, judge):
    """A queue is deleted while an open transaction has received a message from it. The SUT acknowledges this message
    with class 0xC000.
    """
    queue = sut.new_queue("locked", transactional=True)
    receiver = AcknowledgingReceiver(peer, sut)
    to = rf"TCP:{sut.address}\{queue}"
    packet = Sequence(peer).message(receiver.add_admin_queue_fields(), destination=to, properties={"NR": 1})
    sent = receiver.send_packet(packet)
    peer.eventually(lambda: bool(sut.labels(queue)))
    transaction = sut.control.call("begin")["transaction"]
    sut.control.call("receive", queue=queue, timeout_ms=0, transaction=transaction)
    delete(sut, queue)
    judge(
        "MQDMPR-3.1.7.1.4-05",
        case="acknowledgments",
        expected=acknowledged(sent, of_class=Q_DELETED),
        observed=receiver.await_acks(1),
        evidence=sent,
    )
    _judge_ack_class(judge, receiver, Q_DELETED, sent)
    sut.control.call("abort", transaction=transaction)


@covers("MQMQ-2.2.18.1.3-D01")
@pytest.mark.parametrize("high", [0x0000_0000, 0x0001_0000, 0x7FFF_0000, 0xFFFF_0000], ids=hex)
def test_ack_names_message_with_any_number(peer, sut, judge, high):
    """The peer sends messages with small numbers, with numbers above 0xFFFF, and with the greatest numbers.
    CorrelationID of each acknowledgment is the identifier of the acknowledged message.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    number = high | (peer.next_message_id() & 0xFFFF)
    sent = receiver.send_packet(receiver.build_message({"DM": 1, "MessageID": number}, properties={"PA": 1}))
    acks = receiver.await_acks(1)
    observed = [get_correlation_id(ack) for ack in acks]
    judge(
        "MQMQ-2.2.18.1.3-D01",
        expected=[identifier(sent)],
        observed=observed,
        case="CorrelationIDs of the acknowledgments",
        evidence=[sent, *acks],
    )
    receiver.acknowledge_all()


@needs("queues")
@covers(*RULES_OF_EVERY_ACK_CLASS, "MQDMPR-3.1.1.12-D13")
@varied("application tag", "extension", "correlation", priority=("3", "7"))
def test_message_to_full_queue_is_nacked(peer, sut, judge):
    """The peer sends a 4 KB message to a queue with a quota of 1 KB. The SUT acknowledges the message with class
    0x8003.
    """
    queue = sut.new_queue("full", quota_kb=1)
    receiver = AcknowledgingReceiver(peer, sut)
    to = rf"TCP:{sut.address}\{queue}"
    packet = receiver.send_packet(
        receiver.build_message({"DM": 1}, destination=to, body=bytes(4_096), properties={"NA": 1})
    )
    _judge_ack_class(judge, receiver, Q_EXCEED_QUOTA, packet)
