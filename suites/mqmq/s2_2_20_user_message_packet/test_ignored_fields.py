"""MS-MQMQ 2.2.19, 2.2.20: messages with unused bits and reserved fields are handled like messages without them."""

from __future__ import annotations

import pytest

from harness.expectations import facts
from harness.run.marks import covers, needs
from suites.messages import Sequence
from suites.mqqb.steps.disposition import AcknowledgingReceiver, get_correlation_id, identifier
from suites.mqqb.steps.exchanges import deliver_message
from suites.whole_messages import UNCHANGED_PROPERTIES_OUTCOME, describe_differences

IGNORED_FIELD_CASES_BY_RULE = {
    "MQMQ-2.2.19.1-02": [{"base": {"Reserved": value}} for value in (0x01, 0x80)],
    "MQMQ-2.2.19.1-10": [{"base": {"X9": 1}}],
    "MQMQ-2.2.19.1-11": [{"base": {"X8": 1}}],
    "MQMQ-2.2.19.1-14": [{"base": {"X6": 1}}],
    "MQMQ-2.2.19.1-15": [{"base": {"X5": 1}}],
    "MQMQ-2.2.19.1-16": [{"base": {"X4": 1}}],
    "MQMQ-2.2.19.1-17": [{"base": {"X3": 1}}],
    "MQMQ-2.2.19.1-18": [{"base": {"X2": 1}}],
    "MQMQ-2.2.19.1-19": [{"base": {"X1": 1}}],
    "MQMQ-2.2.19.1-20": [{"base": {"X0": 1}}],
    "MQMQ-2.2.19.2-12": [{"user": {"X1": 1}}],
    "MQMQ-2.2.19.2-24": [{"user": {"X2": 1}}],
    "MQMQ-2.2.19.2-26": [{"user": {"X3": value}} for value in (1, 2)],
    "MQMQ-2.2.19.2-28": [{"user": {"X4": value}} for value in (1, 2, 4, 7)],
    "MQMQ-2.2.19.3-05": [{"properties": {"X4": 1}}],
    "MQMQ-2.2.19.3-06": [{"properties": {"X5": 1}}],
    "MQMQ-2.2.19.3-07": [{"properties": {"X6": 1}}],
    "MQMQ-2.2.19.3-08": [{"properties": {"X7": 1}}],
}
"""For each rule, the fields that a receiver must ignore."""
UNUSED_TRANSACTION_BIT_BY_RULE = {
    "MQMQ-2.2.20.5-08": "X1",
    "MQMQ-2.2.20.5-09": "X2",
    "MQMQ-2.2.20.5-10": "X3",
    "MQMQ-2.2.20.5-11": "X4",
    "MQMQ-2.2.20.5-12": "X5",
    "MQMQ-2.2.20.5-13": "X6",
    "MQMQ-2.2.20.5-14": "X7",
    "MQMQ-2.2.20.5-15": "X8",
}
"""For each rule, the unused bit of TransactionHeader.Flags."""
LONGEST_WAIT_MS = 3_000
SAMPLE_CORRELATION_ID = bytes(range(20))


def _build_headers_with_ignored_fields(label, ignored):
    """Return the fields of a recoverable message that requests the acknowledgment of its arrival."""
    headers = {
        "base": {"PR": 0},
        "user": {"DM": 1, "JN": 1, "JP": 1, "ResponseQueue": r"TCP:10.0.0.9\private$\answers"},
        "properties": {"PA": 1},
    }
    for header, fields in ignored.items():
        headers[header] = headers[header] | fields
    return headers | {"label": label, "CorrelationID": SAMPLE_CORRELATION_ID, "ApplicationTag": 0x8000_0001}


def _describe_stored_message(sut, shown, message, acknowledged):
    """Return how a stored message differs from the sent message, and whether its arrival was acknowledged."""
    label = str(message["MessagePropertiesHeader"].Label).rstrip("\0")
    return describe_differences(message, shown.get(label), sut.guid), identifier(message) in acknowledged


@needs("receive")
@covers(*IGNORED_FIELD_CASES_BY_RULE)
@pytest.mark.parametrize("queue", ["plain", "transactional"])
def test_ignored_fields_have_no_effect_on_message(peer, sut, judge, queue):
    """Messages arrive, each with one ignored field that is not 0. Some seconds later, and again after a restart, each
    message is in its queue unchanged. The arrival of each message was acknowledged.
    """
    receiver = AcknowledgingReceiver(peer, sut)

    def send_message(label, ignored):
        headers = _build_headers_with_ignored_fields(label, ignored)
        user = receiver.add_admin_queue_fields(headers.pop("user"))
        if queue == "transactional":
            return receiver.send(user, **headers)
        return receiver.send_packet(peer.message(user, **headers))

    sent = {
        rule: [send_message(f"{rule} {number}", ignored) for number, ignored in enumerate(cases)]
        for rule, cases in IGNORED_FIELD_CASES_BY_RULE.items()
    }
    acks = receiver.await_acks(sum(map(len, sent.values())))
    acknowledged = {get_correlation_id(ack) for ack in acks}
    receiver.acknowledge_all()
    peer.pass_time(LONGEST_WAIT_MS)
    if sut.has("restart"):
        sut.restart()
    shown = {one["label"]: one for one in sut.messages(queue)}
    for rule, messages in sent.items():
        judge(
            rule,
            expected=[(UNCHANGED_PROPERTIES_OUTCOME, True)] * len(messages),
            observed=[_describe_stored_message(sut, shown, message, acknowledged) for message in messages],
            case="properties of each message, and acknowledgment of its arrival",
            evidence=messages,
        )


@needs("receive")
@covers(*UNUSED_TRANSACTION_BIT_BY_RULE)
def test_unused_bits_of_transaction_header_have_no_effect(peer, sut, judge):
    """Messages with FA set arrive, each with one unused bit of TransactionHeader.Flags set. Each message is in its
    queue unchanged, and its arrival is acknowledged. Its FinalAck follows when an application receives it. As erratum
    E31 allows, a SUT may close the session after such a message instead.
    """
    first = deliver_message(
        peer, Sequence(peer).message(transaction={"X1": 1}, label="a first"), "a first", "transactional"
    )
    if first.outcome != first.accepted_outcome:
        judge.mark_not_exercised(
            *UNUSED_TRANSACTION_BIT_BY_RULE, reason="the SUT refuses a message with an unused bit (E31)"
        )
        return
    sut.read_label("receive", queue=sut.queue("transactional"))
    receiver = AcknowledgingReceiver(peer, sut)
    sent = {}
    for rule, bit in UNUSED_TRANSACTION_BIT_BY_RULE.items():
        headers = _build_headers_with_ignored_fields(rule, {})
        user = receiver.add_admin_queue_fields(headers.pop("user"))
        sent[rule] = receiver.send(user, transaction={"FA": 1, bit: 1}, **headers)
    acks = receiver.await_acks(len(sent))
    acknowledged = {get_correlation_id(ack) for ack in acks}
    peer.pass_time(LONGEST_WAIT_MS)
    shown = {one["label"]: one for one in sut.messages("transactional")}
    outcomes = {rule: _describe_stored_message(sut, shown, message, acknowledged) for rule, message in sent.items()}
    for _ in sent:
        sut.read_label("receive", queue=sut.queue("transactional"))
    finals = receiver.await_messages_of_sut(receiver.list_final_acks, len(sent))
    numbers = [int.from_bytes(bytes(frame["MessagePropertiesHeader"].MessageBody)[-4:], "little") for frame in finals]
    for rule, message in sent.items():
        differences, is_acknowledged = outcomes[rule]
        judge(
            rule,
            expected=facts(
                stored_message=UNCHANGED_PROPERTIES_OUTCOME, arrival_is_acknowledged=True, number_of_FinalAcks=1
            ),
            observed={
                "stored_message": differences,
                "arrival_is_acknowledged": is_acknowledged,
                "number_of_FinalAcks": numbers.count(message["UserHeader"].MessageID),
            },
            evidence=[message, *finals],
        )
    receiver.acknowledge_all()
