"""MS-MQMQ 2.2.19.1, 2.2.19.2, 2.2.19.3: values that a queue manager ignores, in messages of every kind and in
acknowledgments from the peer.
"""

from __future__ import annotations

from uuid import UUID

import pytest

from harness.expectations import none
from harness.run.marks import covers, needs
from harness.sut.releases import find_release
from harness.wire import MQFDirectQueueFormatName, MQFFormatNameElement
from suites.mqmq.steps.received_kinds import CASE_WITHOUT_CHANGED_VALUES, MessagesOfEveryKind
from suites.mqqb.steps.ordering import build_final_ack, build_order_ack
from suites.mqqb.steps.sequences import DEAD_LETTERS, SequenceSentBySut, find_positions_of_messages_in_queue

UNUSED_BASE_HEADER_BIT_BY_RULE = {
    "MQMQ-2.2.19.1-10": "X9",
    "MQMQ-2.2.19.1-11": "X8",
    "MQMQ-2.2.19.1-14": "X6",
    "MQMQ-2.2.19.1-15": "X5",
    "MQMQ-2.2.19.1-16": "X4",
    "MQMQ-2.2.19.1-17": "X3",
    "MQMQ-2.2.19.1-18": "X2",
    "MQMQ-2.2.19.1-19": "X1",
    "MQMQ-2.2.19.1-20": "X0",
}
UNUSED_USER_HEADER_BITS_BY_RULE: dict[str, dict[str, tuple[int, ...]]] = {
    "MQMQ-2.2.19.2-12": {"X1": (1,)},
    "MQMQ-2.2.19.2-24": {"X2": (1,)},
    "MQMQ-2.2.19.2-26": {"X3": (1, 2, 3)},
    "MQMQ-2.2.19.2-28": {"X4": (1, 2, 4, 7)},
}
UNUSED_PROPERTIES_HEADER_BIT_BY_RULE = {
    "MQMQ-2.2.19.3-05": "X4",
    "MQMQ-2.2.19.3-06": "X5",
    "MQMQ-2.2.19.3-07": "X6",
    "MQMQ-2.2.19.3-08": "X7",
}
"""The unused bits of each header, by rule."""
RULES_OF_VALUES_PASSED_TO_APPLICATION = (
    "MQMQ-2.2.19.3-13",
    "MQMQ-2.2.19.3-16",
    "MQMQ-2.2.19.3-D01",
    "MQMQ-2.2.19.3-D05",
)
"""The rules about values that the receiver only passes to the application."""
THIRD_HOST_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000f4")


def _list_values_of_base_header():
    values = {f"{bit} set": ((rule,), {"base": {bit: 1}}) for rule, bit in UNUSED_BASE_HEADER_BIT_BY_RULE.items()}
    every = {"base": dict.fromkeys(UNUSED_BASE_HEADER_BIT_BY_RULE.values(), 1)}
    reserved = {
        f"Reserved {value}": (("MQMQ-2.2.19.1-02",), {"base": {"Reserved": value}}) for value in (0x01, 0x80, 0xFF)
    }
    return values | {"all bits set": (tuple(UNUSED_BASE_HEADER_BIT_BY_RULE), every)} | reserved


def _list_values_of_user_header():
    values = {
        f"{bit} {value}": ((rule,), {"user": {bit: value}})
        for rule, bits in UNUSED_USER_HEADER_BITS_BY_RULE.items()
        for bit, listed in bits.items()
        for value in listed
    }
    every = {"user": {"X1": 1, "X2": 1, "X3": 3, "X4": 7}}
    connectors = {
        f"ConnectorType {guid}": (("MQMQ-2.2.19.2-39",), {"user": {"ConnectorType": guid}})
        for guid in (UUID(int=0), THIRD_HOST_GUID)
    }
    return values | {"all bits set": (tuple(UNUSED_USER_HEADER_BITS_BY_RULE), every)} | connectors


def _list_values_of_properties_header():
    values = {
        f"{bit} set": ((rule,), {"properties": {bit: 1}}) for rule, bit in UNUSED_PROPERTIES_HEADER_BIT_BY_RULE.items()
    }
    every = {"properties": dict.fromkeys(UNUSED_PROPERTIES_HEADER_BIT_BY_RULE.values(), 1)}
    parts = {
        "CorrelationID": (("MQMQ-2.2.19.3-13",), {"properties": {"CorrelationID": bytes(range(1, 21))}}),
        "ApplicationTag": (("MQMQ-2.2.19.3-16",), {"properties": {"ApplicationTag": 0x8102_0304}}),
        "ExtensionData": (
            ("MQMQ-2.2.19.3-D01", "MQMQ-2.2.19.3-D05"),
            {"properties": {"ExtensionData": bytes(range(256)) + b"end"}},
        ),
    }
    return values | {"all bits set": (tuple(UNUSED_PROPERTIES_HEADER_BIT_BY_RULE), every)} | parts


SOAP_HEADER_RULES = ("MQMQ-2.2.20.7-03", "MQMQ-2.2.20.7-06", "MQMQ-2.2.20.7-D01")
SOAP_HEADER_TEXT_BY_FIELD = {"Header": "<header/>", "Body": "<body/>"}
LISTED_QUEUE_ELEMENTS = [
    MQFFormatNameElement(FormatName=MQFDirectQueueFormatName(DirectFormatName=rf"TCP:10.0.0.9\private$\{name}"))
    for name in ("even", "odd")
]


def _list_values_of_optional_headers():
    return {
        "SoapHeader": (SOAP_HEADER_RULES, {"soap": SOAP_HEADER_TEXT_BY_FIELD}),
        "SoapHeader with Reserved": (
            ("MQMQ-2.2.20.7-02",),
            {"soap": {**SOAP_HEADER_TEXT_BY_FIELD, "Reserved": 0xFFFF}},
        ),
        "SoapHeader with Reserved1": (
            ("MQMQ-2.2.20.7-05",),
            {"soap": {**SOAP_HEADER_TEXT_BY_FIELD, "Reserved1": 0xFFFF}},
        ),
        "MultiQueueFormatHeader": (("MQMQ-2.2.18.1.4.1-D01",), {"mqf": {"Destination": LISTED_QUEUE_ELEMENTS}}),
    }


@needs("receive")
@pytest.mark.parametrize(
    "values",
    [
        pytest.param(
            _list_values_of_base_header(),
            marks=covers("MQMQ-2.2.19.1-02", *UNUSED_BASE_HEADER_BIT_BY_RULE),
            id="BaseHeader",
        ),
        pytest.param(
            _list_values_of_user_header(),
            marks=covers("MQMQ-2.2.19.2-39", *UNUSED_USER_HEADER_BITS_BY_RULE),
            id="UserHeader",
        ),
        pytest.param(
            _list_values_of_properties_header(),
            marks=covers(*UNUSED_PROPERTIES_HEADER_BIT_BY_RULE, *RULES_OF_VALUES_PASSED_TO_APPLICATION),
            id="MessagePropertiesHeader",
        ),
        pytest.param(
            _list_values_of_optional_headers(),
            marks=covers("MQMQ-2.2.20.7-02", "MQMQ-2.2.20.7-05", "MQMQ-2.2.18.1.4.1-D01", *SOAP_HEADER_RULES),
            id="optional headers",
        ),
    ],
)
def test_ignored_values_change_no_message_of_any_kind(peer, sut, judge, values):
    """Messages of several kinds arrive, first without and then with values that the receiver ignores or only passes to
    the application. Each message is in its queue as it was sent. Kinds that the SUT does not accept even without such
    values are not judged.
    """
    kinds = MessagesOfEveryKind(peer, sut)
    kinds.send(CASE_WITHOUT_CHANGED_VALUES, {})
    for value, (_, headers) in values.items():
        kinds.send(value, headers)
    kinds.await_acknowledgments()
    for rule in dict.fromkeys(rule for rules, _ in values.values() for rule in rules):
        of_rule = [value for value, (rules, _) in values.items() if rule in rules]
        judge(
            rule,
            expected=none("message that is missing or changed"),
            observed=kinds.list_differences_from_sent_messages(of_rule),
            evidence=kinds.list_evidence_frames(of_rule),
        )


RESERVED_BYTE_VALUES = (0x01, 0x80, 0xFF)


@needs("send", "queue_control", "transactions")
@covers("MQMQ-2.2.19.1-02")
def test_reserved_of_order_and_final_acks_has_no_effect(peer, sut, judge):
    """The SUT sends transactional messages, and the peer answers some with OrderAcks and others with FinalAcks, whose
    BaseHeader.Reserved is nonzero. Each OrderAck completes its message, and each FinalAck moves its message to the
    dead-letter queue.
    """
    outgoing = SequenceSentBySut(peer, sut, "mqc-ignored")
    refused = outgoing.send(len(RESERVED_BYTE_VALUES), journal=["negative"])
    sent = [outgoing.send_session_ack()]
    for value, frame in zip(RESERVED_BYTE_VALUES, refused, strict=True):
        sent.append(outgoing.session.send(build_final_ack(peer, frame, base={"Reserved": value})))
    if find_release(sut).keeps_undeliverable_messages:
        numbers = list(range(1, len(refused) + 1))
        peer.eventually(lambda: find_positions_of_messages_in_queue(sut, DEAD_LETTERS, outgoing.identifiers) == numbers)
        judge.all(
            expected=numbers,
            case="messages in the dead-letter queue",
            observed=find_positions_of_messages_in_queue(sut, DEAD_LETTERS, outgoing.identifiers),
            evidence=sent,
        )
    for value in RESERVED_BYTE_VALUES:
        (frame,) = outgoing.send()
        answers = [outgoing.send_session_ack()]
        answers.append(outgoing.session.send(build_order_ack(peer, frame, base={"Reserved": value})))
        peer.eventually(lambda: not sut.outgoing_queue(outgoing.to)["count"])
        waiting = sut.outgoing_queue(outgoing.to)["count"]
        case = f"messages in the outgoing queue after an OrderAck with Reserved {value}"
        judge.all(expected=0, case=case, observed=waiting, evidence=[frame, *answers])
        if waiting:
            outgoing.send_order_ack(len(outgoing.sent))
            peer.settle()
