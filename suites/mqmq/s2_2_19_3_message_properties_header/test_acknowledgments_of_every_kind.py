"""MS-MQMQ 2.2.19.3 MessagePropertiesHeader: acknowledgments of messages of every kind."""

from __future__ import annotations

from typing import Any

import pytest

from harness.errors import ConformanceFailure
from harness.run.marks import covers, needs
from suites.messages import Sequence
from suites.mqqb.steps.disposition import (
    AcknowledgingReceiver,
    get_correlation_id,
    identifier,
    list_message_class_names,
)

NO_ACK_REQUEST_BITS: dict[str, int] = {}
EVERY_ACK_REQUEST_BIT = {"PA": 1, "PR": 1, "NA": 1, "NR": 1}
UNUSED_ACK_REQUEST_BITS = {"X4": 1, "X5": 1, "X6": 1, "X7": 1}
CORRELATION_IDS_OF_FIRST_AND_SECOND_MESSAGES = bytes(20), bytes(range(1, 21))
"""CorrelationID of the first messages, and CorrelationID of the second messages."""
UNUSED_BIT_RULES = ("MQMQ-2.2.19.3-05", "MQMQ-2.2.19.3-06", "MQMQ-2.2.19.3-07", "MQMQ-2.2.19.3-08")
ACKNOWLEDGMENT_RULES = ("MQMQ-2.2.19.3-14", "MQMQ-2.2.19.3-D01", "MQMQ-2.2.18.1.3-D01", "MQMQ-2.2.18.1.6-D01")
"""The rules about the class and the CorrelationID of each acknowledgment, and about the bits that request it."""
FIELDS_BY_MESSAGE_KIND: dict[str, dict[str, Any]] = {
    "express": {},
    "recoverable": {"user": {"DM": 1}},
    "recoverable and large": {"user": {"DM": 1}, "body": b"large body " * 500},
    "empty": {"body": b""},
}
"""The arguments of nontransactional messages, by kind."""
MESSAGE_AGE_S = 3_600
SHORT_LIFETIME_S = 7


class RequestedAcknowledgmentsChecker:
    """Messages of every kind that request acknowledgments, and the acknowledgments that the SUT sends in return."""

    def __init__(self, peer, sut):
        self.peer = peer
        self.receiver = AcknowledgingReceiver(peer, sut)
        self.sequence = Sequence(peer)
        self.sent = {}
        """The messages, by name."""

    def send(self, wanted, plain=None, transactional=None, more=NO_ACK_REQUEST_BITS, note="", **fields):
        """Send two messages of each kind; the first requests every acknowledgment, and the second has a CorrelationID
        and requests only the acknowledgments `wanted`. Nontransactional messages go to the queue `plain`, and
        transactional messages to the queue `transactional`. Both arguments are direct names; None stands for a queue of
        the check.
        """
        user = self.receiver.add_admin_queue_fields(fields.pop("user", {}))
        turns = (("first", EVERY_ACK_REQUEST_BIT), ("second", wanted))
        for (turn, requested), correlation in zip(turns, CORRELATION_IDS_OF_FIRST_AND_SECOND_MESSAGES, strict=True):
            bits = {**requested, **more, "CorrelationID": correlation}
            for kind, arguments in FIELDS_BY_MESSAGE_KIND.items():
                merged = {**fields, **arguments, "user": {**user, **arguments.get("user", {})}}
                self._send_message_with_ack_request_bits(
                    f"{turn} {kind} message{note}", self.peer.message, plain, bits, **merged
                )
            name = f"{turn} transactional message{note}"
            self._send_message_with_ack_request_bits(
                name, self.sequence.message, transactional, bits, user=user, **fields
            )

    def _send_message_with_ack_request_bits(self, name, build_message, destination, bits, user, **headers):
        to = {} if destination is None else {"destination": destination}
        self.sent[name] = self.receiver.send_packet(build_message(user, properties=bits, **to, **headers))

    def await_acks(self, *expected):
        """Wait until each message has the given number of acknowledgments. Return the classes of the acknowledgments,
        by message, and the evidence.
        """
        acks = self.receiver.await_acks(len(expected) * len(self.sent))
        found = {
            name: sorted(list_message_class_names([ack for ack in acks if get_correlation_id(ack) == identifier(one)]))
            for name, one in self.sent.items()
        }
        self.receiver.acknowledge_all()
        return found, [*self.sent.values(), *acks]


@needs("receive")
@covers("MQMQ-2.2.19.3-01", "MQMQ-2.2.19.3-02", *ACKNOWLEDGMENT_RULES, *UNUSED_BIT_RULES)
def test_every_received_message_is_acknowledged_twice(peer, sut, judge):
    """Messages of every kind arrive and request acknowledgments, half of them with all unused bits set. An application
    receives the messages. Each message gets one acknowledgment of its arrival and one of its receipt.
    """
    messages = RequestedAcknowledgmentsChecker(peer, sut)
    wanted = {"PA": 1, "PR": 1}
    messages.send(wanted)
    messages.send(wanted, more=UNUSED_ACK_REQUEST_BITS, note=" with unused bits")
    messages.receiver.require_session_ack()
    for queue in ("plain", "transactional"):
        for _ in sut.messages(queue):
            sut.control.call("receive", queue=sut.queue(queue), timeout_ms=0)
    classes = ("ACK_REACH_QUEUE", "ACK_RECEIVE")
    found, evidence = messages.await_acks(*classes)
    _judge_acknowledgments(
        judge,
        ("MQMQ-2.2.19.3-01", "MQMQ-2.2.19.3-02", *ACKNOWLEDGMENT_RULES),
        {name: acks for name, acks in found.items() if "unused" not in name},
        sorted(classes),
        evidence,
    )
    _judge_acknowledgments(
        judge,
        UNUSED_BIT_RULES,
        {name: acks for name, acks in found.items() if "unused" in name},
        sorted(classes),
        evidence,
    )


def _judge_acknowledgments(judge, rules, found, expected, evidence):
    judge(
        *rules,
        expected=dict.fromkeys(found, expected),
        observed=found,
        case="acknowledgments of each message",
        evidence=evidence,
    )


@covers("MQMQ-2.2.19.3-03", *ACKNOWLEDGMENT_RULES)
def test_every_expired_message_is_acknowledged_as_refused(peer, sut, judge):
    """Messages of every kind arrive after their TimeToReachQueue has expired, and request acknowledgments. Each message
    gets only an acknowledgment of class NACK_REACH_QUEUE_TIMEOUT. A SUT may instead acknowledge none of these messages
    (E34).
    """
    messages = RequestedAcknowledgmentsChecker(peer, sut)
    sent_s = peer.environment.now().utc_s - MESSAGE_AGE_S
    messages.send({"NA": 1}, user={"SentTime": sent_s}, base={"TimeToReachQueue": MESSAGE_AGE_S // 2})
    expected = "NACK_REACH_QUEUE_TIMEOUT"
    found, evidence = messages.await_acks(expected)
    rules = ("MQMQ-2.2.19.3-03", *ACKNOWLEDGMENT_RULES)
    if not any(found.values()):
        judge.mark_not_exercised(*rules, reason="the SUT acknowledges no message that expired before its arrival (E34)")
        return
    _judge_acknowledgments(judge, rules, found, [expected], evidence)


@covers("MQMQ-2.2.19.3-03", *ACKNOWLEDGMENT_RULES)
def test_every_message_to_queue_of_other_kind_is_acknowledged_as_refused(peer, sut, judge):
    """Nontransactional messages arrive for a transactional queue, and transactional messages for a nontransactional
    queue. All of them request acknowledgments. Each message gets only an acknowledgment of its refusal.
    """
    messages = RequestedAcknowledgmentsChecker(peer, sut)
    plain, transactional = (sut.format_name(queue).removeprefix("DIRECT=") for queue in ("plain", "transactional"))
    messages.send({"NA": 1}, plain=transactional, transactional=plain)
    found, evidence = messages.await_acks("refusal")
    judge.all(
        expected={
            name: ["NACK_NOT_TRANSACTIONAL_Q" if "transactional" in name else "NACK_NOT_TRANSACTIONAL_MSG"]
            for name in found
        },
        observed=found,
        case="acknowledgments of each message",
        evidence=evidence,
    )


@pytest.mark.parametrize(
    ("removal", "nack"),
    [
        pytest.param("deletion", "NACK_Q_DELETED", marks=needs("queue_control")),
        pytest.param("purge", "NACK_Q_PURGED", marks=needs("queues", "receive")),
        pytest.param("expiry", "NACK_RECEIVE_TIMEOUT", marks=needs("queues")),
    ],
)
@covers("MQMQ-2.2.19.3-01", "MQMQ-2.2.19.3-04", *ACKNOWLEDGMENT_RULES)
def test_every_removed_message_is_acknowledged_as_not_received(peer, sut, judge, removal, nack):
    """Messages of every kind arrive in two queues and request acknowledgments. Then the queues are deleted or purged,
    or the messages expire. Each message gets one acknowledgment of its arrival and one of its removal.
    """
    messages = RequestedAcknowledgmentsChecker(peer, sut)
    queues = [sut.new_queue("removed"), sut.new_queue("removed-transactional", transactional=True)]
    plain, transactional = (rf"TCP:{sut.address}\{queue}" for queue in queues)
    user = {"TimeToBeReceived": SHORT_LIFETIME_S} if removal == "expiry" else {}
    messages.send({"PA": 1, "NR": 1}, plain, transactional, user=user)
    messages.receiver.require_session_ack()
    for queue in queues:
        if removal == "deletion":
            sut.delete_queue(queue)
        elif removal == "purge":
            sut.control.call("purge", queue=queue)
    if removal == "expiry":
        peer.pass_time((SHORT_LIFETIME_S + 1) * 1_000)
    classes = ("ACK_REACH_QUEUE", nack)
    found, evidence = messages.await_acks(*classes)
    if any("NACK_REACH_QUEUE_TIMEOUT" in acks for acks in found.values()):
        raise ConformanceFailure("a message expired before it reached its queue")
    rules = ("MQMQ-2.2.19.3-01", "MQMQ-2.2.19.3-04", *ACKNOWLEDGMENT_RULES)
    _judge_acknowledgments(judge, rules, found, sorted(classes), evidence)
