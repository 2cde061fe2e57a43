"""MS-MQMQ 2.2.19.2 UserHeader: TimeToBeReceived and SentTime."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import between, fields, holds, in_queue, one_of
from harness.run.marks import covers, needs, varied
from harness.sut.sut_file import PEER_PUBLIC_QUEUE
from suites.messages import Sequence
from suites.mqmq.steps.layout import Layout
from suites.mqmq.steps.outgoing import MessagesSentBySut
from suites.mqqb.steps.disposition import AckClass, AcknowledgingReceiver
from suites.mqqb.steps.opening import CLOCK_TOLERANCE_S
from suites.mqqb.steps.sender import Sender

INFINITE_LIFETIME_S = 0xFFFF_FFFF
SECONDS_PER_HOUR, SECONDS_PER_DAY = 3_600, 86_400
TEN_YEARS_S = 10 * 365 * 24 * SECONDS_PER_HOUR
SHORT_LIFETIME_S = 2
EXPIRATION_WAIT_S = 5
LIFETIME_RULES = (
    *("MQMQ-2.2.19.2-D03", "MQMQ-2.2.19.2-D04", "MQMQ-2.2.19.2-05"),
    *("MQDMPR-3.1.2.4-01", "MQDMPR-3.1.2.4-D01", "MQDMPR-3.1.1.12-D53"),
)
"""The rules about TimeToBeReceived at the receiver."""
HEADER_FIELDS_BY_MESSAGE_LABEL: dict[str, dict[str, Any]] = {
    "acknowledgment with a lifetime of a few seconds": {"properties": {"MessageClass": AckClass.RECEIVE}},
    "message with a short lifetime and an hour to reach its queue": {"base": {"TimeToReachQueue": SECONDS_PER_HOUR}},
}
"""The further headers of messages whose lifetime is a few seconds, by label."""


@needs("send")
@covers("MQMQ-2.2.19.2-D03", "MQMQ-2.2.19.2-D05", "MQDMPR-3.1.1.12-D60", "MQMQ-2.2.19.2-06")
@pytest.mark.parametrize("delivery", ["express", "recoverable", "transactional"])
@varied("acknowledgments", "positive journaling", "negative journaling", "response queue", "application tag")
def test_sent_message_has_times_in_seconds(peer, sut, judge, delivery):
    """An application sends messages with several values of the time to be received. TimeToBeReceived is that time in
    seconds, and SentTime is the time of sending.
    """
    outgoing = MessagesSentBySut(peer, sut)
    for time_s in (SECONDS_PER_HOUR, 0x0102_0304):
        before_s = peer.environment.now().utc_s
        frame = outgoing.send(body="alive", delivery=delivery, time_to_be_received_s=time_s)
        after_s = peer.environment.now().utc_s
        found = Layout(frame)
        judge(
            "MQMQ-2.2.19.2-D03",
            expected=fields({"UserHeader.TimeToBeReceived": time_s}),
            observed=found,
            evidence=frame,
        )
        judge(
            "MQMQ-2.2.19.2-D05",
            "MQDMPR-3.1.1.12-D60",
            "MQMQ-2.2.19.2-06",
            expected=fields(
                {"UserHeader.SentTime": between(before_s - CLOCK_TOLERANCE_S, after_s + CLOCK_TOLERANCE_S)}
            ),
            observed=found,
            evidence=frame,
        )
    outgoing.end()


ENCRYPTION_ALGORITHMS = (0x6602, 0x6801, 0x660E, 0x660F, 0x6610)
"""The values of EncryptionAlgorithm. Spec: MS-MQMQ 2.2.19.3."""
REPORT_CLASS, POSITIVE_ACK_CLASSES = 0x0001, (0x0002, 0x00FF)
"""The classes of a report, and of an acknowledgment of an arrival and an OrderAck. Spec: MS-MQMQ 2.2.18.1.6."""


@needs("public_names")
@covers("MQMQ-2.2.19.2-06", "MQDMPR-3.1.1.12-D60", "MQMQ-2.2.19.3-12", "MQMQ-2.2.19.3-24")
def test_message_of_queue_manager_has_time_of_sending(peer, sut, judge):
    """A traced message and a transactional message arrive with a SentTime of a day ago, and request acknowledgments.
    The administration acknowledgments, the OrderAck and, if the SUT sends reports, the report have the present time as
    SentTime. Their EncryptionAlgorithm and MessageClass have values that the document lists.
    """
    now_s = peer.environment.now().utc_s
    receiver = AcknowledgingReceiver(peer, sut)
    user = receiver.add_admin_queue_fields({"SentTime": now_s - SECONDS_PER_DAY})
    traced = {"base": {"TR": 1}, "debug": {"QueueIdentifier": PEER_PUBLIC_QUEUE}}
    sent = [
        receiver.send_packet(peer.message({**user, "DM": 1}, properties={"PA": 1}, **traced)),
        receiver.send_packet(Sequence(peer).message(user, properties={"PA": 1})),
    ]
    acks = receiver.await_acks(len(sent))
    order_acks = receiver.await_messages_of_sut(receiver.list_acknowledgments, 1)
    reports = receiver.await_messages_of_sut(receiver.list_reports, 1)
    if len(acks) < len(sent) or not order_acks:
        raise ConformanceFailure("the SUT did not acknowledge the messages")
    present = between(now_s - CLOCK_TOLERANCE_S, peer.environment.now().utc_s + CLOCK_TOLERANCE_S)
    for frame in (*acks, *order_acks, *reports):
        observed = Layout(frame)
        evidence = [*sent, frame]
        judge(
            "MQMQ-2.2.19.2-06",
            "MQDMPR-3.1.1.12-D60",
            expected=fields({"UserHeader.SentTime": present}),
            observed=observed,
            evidence=evidence,
        )
        listed = fields({"MessagePropertiesHeader.EncryptionAlgorithm": one_of(*ENCRYPTION_ALGORITHMS)})
        judge("MQMQ-2.2.19.3-24", expected=listed, observed=observed, evidence=evidence)
        kind = REPORT_CLASS if frame in reports else one_of(*POSITIVE_ACK_CLASSES)
        listed = fields({"MessagePropertiesHeader.MessageClass": kind})
        judge("MQMQ-2.2.19.3-12", expected=listed, observed=observed, evidence=evidence)
    receiver.acknowledge_all()


@needs("receive")
@covers(*LIFETIME_RULES, "MQDMPR-3.1.2.4-D02")
@pytest.mark.parametrize("delivery", ["express", "recoverable", "transactional"])
@varied("application tag", "extension", "correlation", acknowledgments=("none", "of receipt"))
def test_message_expires_after_time_to_be_received(peer, sut, judge, delivery):
    """Messages whose TimeToBeReceived has expired leave the queue. Messages with time left or an infinite
    TimeToBeReceived stay.

    Erratum E109: a receiver may count the time from SentTime or from the arrival. In this check, the messages that must
    leave have expired in both readings, and the messages that must stay have expired in neither reading.
    """
    if sut.has("send"):
        sender = Sender(peer, sut)
        sender.send(1, time_to_reach_queue_s=SECONDS_PER_HOUR)
        session, _ = sender.await_first_messages(1)
        session.acknowledge_all()
    now = peer.environment.now().utc_s
    stay = {
        "message with an infinite lifetime that was sent ten years ago": (TEN_YEARS_S, INFINITE_LIFETIME_S),
        "message with the longest finite time": (SECONDS_PER_HOUR, INFINITE_LIFETIME_S - 1),
        "message with a lifetime of 36 hours, whose low 16 bits are 1": (SECONDS_PER_HOUR, 0x2_0001),
        "message with a lifetime of two hours that was sent an hour ago": (SECONDS_PER_HOUR, 2 * SECONDS_PER_HOUR),
    }
    leave = {
        "message with a lifetime of a few seconds": (0, SHORT_LIFETIME_S + EXPIRATION_WAIT_S),
        "message with a lifetime of 0 seconds": (0, 0),
        **dict.fromkeys(HEADER_FIELDS_BY_MESSAGE_LABEL, (0, SHORT_LIFETIME_S + EXPIRATION_WAIT_S)),
    }
    queue = "transactional" if delivery == "transactional" else "plain"
    make = _make_message_builder(peer, delivery)
    connection = peer.open_raw()
    sent = [
        connection.send(
            make(
                {"SentTime": now - ago_s, "TimeToBeReceived": time_s},
                label=label,
                **HEADER_FIELDS_BY_MESSAGE_LABEL.get(label, {}),
            )
        )
        for label, (ago_s, time_s) in (stay | leave).items()
    ]
    connection.require_session_ack_for_message()
    labels = partial(_list_labels_of_expected_messages, sut, stay | leave, queue)
    if "message with a lifetime of a few seconds" not in labels():
        raise ConformanceFailure("the message with a lifetime of a few seconds was not in the queue in time")
    judge(
        "MQDMPR-3.1.2.4-D02",
        expected=holds("a message whose TimeToBeReceived has expired leaves the queue at once"),
        observed=bool(peer.eventually(lambda: "message with a lifetime of 0 seconds" not in labels())),
        evidence=sent,
    )
    judge.conclude("MQDMPR-3.1.2.4-D02")
    peer.pass_time((SHORT_LIFETIME_S + EXPIRATION_WAIT_S + 1) * 1_000)
    peer.eventually(lambda: labels() == sorted(stay))
    judge(*LIFETIME_RULES, expected=sorted(stay), case="messages in the queue", observed=labels(), evidence=sent)


def _make_message_builder(peer, delivery):
    """Return a function that builds express, recoverable or transactional messages; all transactional messages belong
    to one sequence.
    """
    if delivery == "transactional":
        return Sequence(peer).message
    return lambda user, **headers: peer.message(user | {"DM": int(delivery == "recoverable")}, **headers)


@needs("receive", "transactions")
@covers("MQMQ-2.2.19.2-05", "MQDMPR-3.1.1.12-D53")
@varied("trace", priority=("3", "7"), body=("short", "5,000 bytes"))
def test_message_that_expires_in_a_transaction_leaves_queue_after_abort(peer, sut, judge):
    """An open transaction has received two messages when the TimeToBeReceived of one of them expires. After the abort,
    the expired message is not in the queue, and the other message is in the queue again.
    """
    make = _make_message_builder(peer, "transactional")
    connection = peer.open_raw()
    times = {
        "message with a lifetime of a few seconds": SHORT_LIFETIME_S + EXPIRATION_WAIT_S,
        "message with a lifetime of an hour": SECONDS_PER_HOUR,
    }
    sent = [connection.send(make({"TimeToBeReceived": time_s}, label=label)) for label, time_s in times.items()]
    connection.require_session_ack_for_message()
    labels = partial(_list_labels_of_expected_messages, sut, times, "transactional")
    if labels() != sorted(times):
        raise ConformanceFailure("the messages were not in the queue in time")
    transaction = sut.control.call("begin")["transaction"]
    for _ in times:
        sut.control.call("receive", queue=sut.queue("transactional"), timeout_ms=0, transaction=transaction)
    peer.pass_time((SHORT_LIFETIME_S + EXPIRATION_WAIT_S + 1) * 1_000)
    sut.control.call("abort", transaction=transaction)
    peer.eventually(lambda: labels() == ["message with a lifetime of an hour"])
    judge.all(expected=in_queue("message with a lifetime of an hour"), observed=labels(), evidence=sent)


@needs("restart", "receive")
@covers("MQMQ-2.2.19.2-05", "MQMQ-2.2.19.2-D04", "MQDMPR-3.1.1.12-D53")
@pytest.mark.parametrize("delivery", ["recoverable", "transactional"])
@varied("destination", priority=("3", "7"), body=("short", "5,000 bytes"))
def test_restart_does_not_extend_time_to_be_received(peer, sut, judge, delivery):
    """Two messages are in the queue before a restart. After the restart, the message with a short TimeToBeReceived
    leaves the queue when it expires, and the message with a long TimeToBeReceived stays.
    """
    queue = "transactional" if delivery == "transactional" else "plain"
    make = _make_message_builder(peer, delivery)
    connection = peer.open_raw()
    times = {
        "message with a lifetime of an hour": SECONDS_PER_HOUR,
        "message with a lifetime of a few seconds": SHORT_LIFETIME_S + EXPIRATION_WAIT_S,
    }
    sent = [connection.send(make({"TimeToBeReceived": time_s}, label=label)) for label, time_s in times.items()]
    connection.require_session_ack_for_message()
    labels = partial(_list_labels_of_expected_messages, sut, times, queue)
    if labels() != sorted(times):
        raise ConformanceFailure("the messages were not in the queue in time")
    sut.restart()
    peer.pass_time((SHORT_LIFETIME_S + EXPIRATION_WAIT_S + 1) * 1_000)
    peer.eventually(lambda: labels() == ["message with a lifetime of an hour"])
    judge.all(expected=in_queue("message with a lifetime of an hour"), observed=labels(), evidence=sent)


def _list_labels_of_expected_messages(sut, wanted, queue):
    return sorted(message["label"] for message in sut.messages(queue) if message["label"] in wanted)
