"""MS-MQMQ 2.2.18.1.6 Message Class Identifiers: which number acknowledges which event."""

from __future__ import annotations

import pytest

from harness.run.marks import covers, needs
from harness.sut.provisioning import ALICE
from harness.wire import ProviderInfo
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
    classes,
    correlation,
    delete,
    identifier,
    named,
    purge,
    take,
)
from suites.mqqb.steps.opening import OneOf, direct_name, pass_time
from suites.mqqb.steps.secured import CLEAR, Secured, signed
from suites.mqqb.steps.sender import Sender, eventually

REACH_QUEUE_TIMEOUT = "NACK_REACH_QUEUE_TIMEOUT"
UNSUPPORTED = "NACK_UNSUPPORTED_CRYPTO_PROVIDER"
NO_SUCH_PROVIDER = bytes(ProviderInfo(ProviderType=1, ProviderName="Contoso Cryptographic Provider"))
SHORT_S = 2


OF_EVERY_CLASS = ("MQMQ-2.2.18.1.6-D01", "MQDMPR-3.1.1.12-03", "MQDMPR-3.1.7.1.32-D08")
OF_CLASS = {
    NOT_TRANSACTIONAL_MSG: "MQDMPR-3.1.1.12-D20",
    NOT_TRANSACTIONAL_Q: "MQDMPR-3.1.1.12-D19",
    RECEIVE_TIMEOUT: "MQDMPR-3.1.1.12-D25",
    RECEIVE: "MQDMPR-3.1.1.12-D09",
    Q_PURGED: "MQDMPR-3.1.1.12-D24",
    Q_DELETED: "MQDMPR-3.1.1.12-D23",
    Q_EXCEED_QUOTA: "MQDMPR-3.1.1.12-D13",
}


def _judged(judge, receiver, sent, value):
    came = [ack for ack in receiver.await_acks(1) if correlation(ack) == identifier(sent)]
    judge(*OF_EVERY_CLASS, OF_CLASS[value], expected=named(value), observed=classes(came), evidence=[sent, *came])
    receiver.end()


@covers(*OF_EVERY_CLASS, "MQDMPR-3.1.1.12-D20")
@pytest.mark.parametrize("delivery", [0, 1])
def test_a_message_that_is_not_transactional(peer, sut, judge, delivery):
    """A message outside of any transaction for a transactional queue is 0x800A."""
    receiver = AcknowledgingReceiver(peer, sut)
    packet = receiver.asking({"DM": delivery}, queue="transactional", properties={"NA": 1})
    _judged(judge, receiver, receiver.give(packet), NOT_TRANSACTIONAL_MSG)


@covers(*OF_EVERY_CLASS, "MQDMPR-3.1.1.12-D19")
def test_a_queue_that_is_not_transactional(peer, sut, judge):
    """A transactional message for a queue that is not transactional is 0x8009."""
    receiver = AcknowledgingReceiver(peer, sut)
    packet = Sequence(peer).message(receiver.administered(), queue="plain", properties={"NA": 1})
    _judged(judge, receiver, receiver.give(packet), NOT_TRANSACTIONAL_Q)


@covers(*OF_EVERY_CLASS, "MQDMPR-3.1.1.12-D25")
def test_a_message_that_nobody_received_in_time(peer, sut, judge):
    """A message in its queue whose TimeToBeReceived is over is 0xC002."""
    receiver = AcknowledgingReceiver(peer, sut)
    sent = receiver.give(receiver.asking({"DM": 1, "TimeToBeReceived": SHORT_S}, properties={"NR": 1}))
    pass_time(peer, (SHORT_S + 1) * 1_000)
    _judged(judge, receiver, sent, RECEIVE_TIMEOUT)


@needs("receive", "queue_control")
@covers(*OF_EVERY_CLASS)
@pytest.mark.parametrize(
    ("act", "bit", "value"),
    [
        pytest.param(act, bit, value, marks=covers(OF_CLASS[value]), id=act.__name__)
        for act, bit, value in ((take, "PR", RECEIVE), (purge, "NR", Q_PURGED), (delete, "NR", Q_DELETED))
    ],
)
def test_what_is_done_with_a_message_in_its_queue(peer, sut, judge, act, bit, value):
    """A message that is received is 0x4000, one that is purged 0xC001, one whose queue is deleted 0xC000."""
    queue = sut.new_queue("classes")
    receiver = AcknowledgingReceiver(peer, sut)
    to = rf"TCP:{sut.address}\{queue}"
    sent = receiver.give(receiver.asking({"DM": 1}, destination=to, label="class", properties={bit: 1}))
    eventually(peer, lambda: bool(sut.control.call("peek", queue=queue)["messages"]))
    act(sut, queue)
    _judged(judge, receiver, sent, value)


@needs("queue_control")
@covers(*OF_EVERY_CLASS, "MQDMPR-3.1.1.12-D13")
def test_a_queue_that_is_full(peer, sut, judge):
    """A message for which the quota of its queue has no room is 0x8003."""
    queue = sut.new_queue("full", quota_kb=1)
    receiver = AcknowledgingReceiver(peer, sut)
    to = rf"TCP:{sut.address}\{queue}"
    sent = receiver.give(receiver.asking({"DM": 1}, destination=to, body=bytes(4_096), properties={"NA": 1}))
    _judged(judge, receiver, sent, Q_EXCEED_QUOTA)


@needs("send", "receive")
@covers("MQMQ-2.2.18.1.6-D03")
@pytest.mark.parametrize("limit", ["time_to_reach_queue_s", "time_to_be_received_s"])
def test_a_message_that_is_over_before_it_reaches_its_queue(peer, sut, judge, limit):
    """A message for a peer that is away, whose one or other time is over, is NACK_REACH_QUEUE_TIMEOUT.

    Who looks at TimeToReachQueue alone before sending (E110) sends the other one, and its destination refuses it.
    """
    admin = sut.format_name("admin")
    to = direct_name(peer, "mqc-away")
    sent = sut.send(to, body="over", label="over", acks=["negative_arrival"], admin_queue=admin, **{limit: SHORT_S})
    pass_time(peer, (SHORT_S + 1) * 1_000)
    sender = Sender(peer, sut, to)
    sender.send(1)
    session, came = sender.first(1) if limit == "time_to_reach_queue_s" else _whatever_comes(sender)

    def answers():
        return [one["class"] for one in sut.messages("admin") if _answers(one, sent)]

    eventually(peer, lambda: bool(answers()))
    expected = f"['{REACH_QUEUE_TIMEOUT}']"
    allowed = (expected,) if limit == "time_to_reach_queue_s" else (expected, "[]")
    found = str([str(one).removeprefix("MQMSG_CLASS_") for one in answers()])
    judge("MQMQ-2.2.18.1.6-D03", expected=OneOf(*allowed), observed=found, evidence=came, errata="E110")
    sender.acknowledge_all(session)


def _whatever_comes(sender):
    session = sender.session()
    return session, sender.collect_all(session, 1)


def _answers(message, sent):
    guid, _, number = sent.strip("{").partition("}\\")
    correlation_id = bytes.fromhex(message["correlation_id"])
    return correlation_id[16:] == int(number).to_bytes(4, "little") and guid.lower() == message["source"].lower()


@needs("security", "receive", "configure")
@covers("MQMQ-2.2.18.1.6-D04", "MQDMPR-3.1.1.12-D21")
def test_a_provider_that_the_receiver_lacks(peer, sut, judge):
    """A message whose signature was made by an unknown provider is NACK_UNSUPPORTED_CRYPTO_PROVIDER, or taken (E84)."""
    secured = Secured(peer, sut)
    secured.agree_on_signatures()
    packet = secured.message(ALICE, body=CLEAR, security={"DE": 0, "ProviderInfo": NO_SUCH_PROVIDER})
    found = secured.dispositions({"unknown": signed(packet), "known": signed(secured.message())})
    judge.all(
        expected=OneOf(f"{UNSUPPORTED}, then ACK_REACH_QUEUE", "ACK_REACH_QUEUE, then ACK_REACH_QUEUE"),
        observed=f"{found['unknown'].answer}, then {found['known'].answer}",
        evidence=[*found["unknown"].frames, *found["known"].frames],
        errata="E84",
    )
