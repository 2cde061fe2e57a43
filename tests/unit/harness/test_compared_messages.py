"""Messages on the control channel are compared with their packets, in both directions."""

from __future__ import annotations

import base64
from typing import Any
from uuid import UUID

import pytest

from harness.capture.recorder import FROM_SUT_DIRECTION, TO_SUT_DIRECTION, Frame
from harness.judging.compared import COMPARED_RULES, ComparedMessages, ComparisonDirection, load_compared_rules
from harness.judging.passive import PASSIVE_RULES, load_predicates
from harness.rules.catalogue import load_catalogue
from harness.wire import PrivateQueueFormatNameId, user_message

SOURCE = UUID("6d716376-0000-4000-8000-0000000000a1")
TRACE_QUEUE = UUID("6d716376-0000-4000-8000-0000000000a2")
ACKS_QUEUE = r"TCP:127.0.0.2\private$\acks"
REQUEST: dict[str, Any] = {
    "to": r"DIRECT=TCP:127.0.0.2\private$\q",
    "label": "label",
    "body": "body",
    "priority": 5,
    "delivery": "recoverable",
    "acks": ["negative_arrival", "positive_arrival"],
    "admin_queue": f"DIRECT={ACKS_QUEUE}",
    "journal": ["negative"],
    "application_tag": 7,
    "extension_base64": base64.b64encode(b"extension").decode(),
    "correlation_id": "AB" * 20,
    "time_to_be_received_s": 60,
}
PACKET: dict[str, Any] = {
    "base": {"PR": 5},
    "user": {
        "SourceQueueManager": SOURCE,
        "MessageID": 9,
        "DM": 1,
        "JN": 1,
        "TimeToBeReceived": 60,
        "AdminQueue": ACKS_QUEUE,
    },
    "properties": {"PA": 1, "NA": 1, "ApplicationTag": 7, "ExtensionData": b"extension", "CorrelationID": b"\xab" * 20},
    "label": "label",
    "body": b"body",
}
MESSAGE: dict[str, Any] = {
    "message_id": f"{{{SOURCE}}}\\9",
    "class": "MQMSG_CLASS_NORMAL",
    "label": "label",
    "body_base64": base64.b64encode(b"body").decode(),
    "body_type": 0,
    "priority": 5,
    "delivery": "recoverable",
    "acks": ["positive_arrival", "negative_arrival"],
    "journal": ["negative"],
    "application_tag": 7,
    "extension_base64": base64.b64encode(b"extension").decode(),
    "correlation_id": "ab" * 20,
    "trace_queue": None,
}


class Findings:
    """The findings of a comparison, by rule."""

    def __init__(self) -> None:
        self.messages = ComparedMessages(self._note)
        self.kept: dict[str, list[bool]] = {}
        self.observed: dict[str, str] = {}

    def _note(self, rule: str, frame: Frame, kept: bool, observed: str) -> None:
        self.kept.setdefault(rule, []).append(kept)
        self.observed[rule] = observed

    def add_packet(self, direction: str, **changes: Any) -> None:
        parts = {
            name: {**value, **changes.get(name, {})} if isinstance(value, dict) else changes.get(name, value)
            for name, value in PACKET.items()
        }
        data = bytes(user_message(**{**changes, **parts}))
        frame = Frame(1, 0, direction, "tcp", data, "UserMessage")
        self.messages.on_message(frame, frame.record)  # type: ignore[arg-type]

    def send(self, **changes: Any) -> None:
        self.messages.on_answer("send", REQUEST | changes, {"message_id": MESSAGE["message_id"]})

    def read(self, **changes: Any) -> None:
        self.messages.on_answer("receive", {}, {"message": MESSAGE | changes})

    @property
    def broken(self) -> set[str]:
        return {rule for rule, kept in self.kept.items() if not all(kept)}


@pytest.fixture
def findings() -> Findings:
    return Findings()


def test_rules_are_in_catalogue_and_have_no_predicate():
    rules = load_compared_rules()
    load_predicates()
    assert rules
    assert rules.keys() <= load_catalogue().keys()
    assert not rules.keys() & PASSIVE_RULES.keys()


@pytest.mark.parametrize("answered_first", [False, True])
def test_packet_with_requested_properties_keeps_every_rule(findings: Findings, answered_first: bool):
    steps = [lambda: findings.add_packet(FROM_SUT_DIRECTION), findings.send]
    for step in reversed(steps) if answered_first else steps:
        step()
    given = {
        rule
        for rule, one in COMPARED_RULES.items()
        if one.direction is ComparisonDirection.SENT and not one.is_about_defaults
    }
    assert given <= findings.kept.keys()
    assert not findings.broken


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"label": "other"}, "MQMQ-2.2.19.3-09"),
        ({"body": b"other"}, "MQMQ-2.2.19.3-17"),
        ({"base": {"PR": 3}}, "MQDMPR-3.1.7.1.32-05"),
        ({"user": {"DM": 0}}, "MQDMPR-3.1.1.12-18"),
        ({"user": {"JN": 0}}, "MQDMPR-3.1.7.1.32-D11"),
        ({"user": {"JP": 1}}, "MQDMPR-3.1.7.1.32-D10"),
        ({"user": {"AdminQueue": r"TCP:127.0.0.3\private$\acks"}}, "MQMQ-2.2.19.2-D07"),
        ({"user": {"ResponseQueue": ACKS_QUEUE}}, "MQDMPR-3.1.1.12-D35"),
        ({"user": {"TimeToBeReceived": 61}}, "MQDMPR-3.1.7.1.32-D05"),
        ({"properties": {"PA": 0}}, "MQDMPR-3.1.7.1.32-D02"),
        ({"properties": {"ApplicationTag": 8}}, "MQMQ-2.2.19.3-16"),
        ({"properties": {"ExtensionData": b"extensio"}}, "MQMQ-2.2.19.3-27"),
        ({"properties": {"CorrelationID": bytes(20)}}, "MQDMPR-3.1.7.1.32-06"),
        ({"debug": {"QueueIdentifier": TRACE_QUEUE}}, "MQDMPR-3.1.1.12-D32"),
    ],
)
def test_packet_with_other_property_breaks_rule(findings: Findings, changes: dict[str, Any], rule: str):
    findings.send()
    findings.add_packet(FROM_SUT_DIRECTION, **changes)
    assert rule in findings.broken
    assert " instead of " in findings.observed[rule]


def test_packet_that_no_request_produced_is_not_compared(findings: Findings):
    findings.add_packet(FROM_SUT_DIRECTION, user={"MessageID": 10})
    findings.send()
    assert findings.kept == {}


def test_default_is_compared_only_if_request_omits_property(findings: Findings):
    findings.send(application_tag=0)
    findings.add_packet(FROM_SUT_DIRECTION)
    assert "MQDMPR-3.1.1.12-D38" not in findings.kept
    assert "MQMQ-2.2.19.3-16" in findings.broken


@pytest.mark.parametrize("changes", [{"label": "L" * 300}, {"admin_queue": r"DIRECT=OS:host\private$\acks"}])
def test_value_that_system_may_change_is_not_compared(findings: Findings, changes: dict[str, Any]):
    findings.send(**changes)
    findings.add_packet(FROM_SUT_DIRECTION)
    assert not findings.broken


def test_response_queue_of_destination_that_is_administration_queue_is_not_compared(findings: Findings):
    queue = PrivateQueueFormatNameId(PrivateQueueIdentifier=5)
    name = f"PRIVATE={TRACE_QUEUE}\\00000005"
    findings.send(admin_queue=name, response_queue=name)
    findings.add_packet(FROM_SUT_DIRECTION, user={"AQ": 3, "AdminQueue": queue, "RQ": 1})
    assert not findings.broken


def test_message_that_was_read_with_properties_of_packet_keeps_every_rule(findings: Findings):
    findings.add_packet(TO_SUT_DIRECTION)
    findings.read()
    assert findings.kept.keys() == {
        rule for rule, one in COMPARED_RULES.items() if one.direction is ComparisonDirection.READ
    }
    assert not findings.broken


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"label": "other"}, "MQDMPR-3.1.1.12-46"),
        ({"application_tag": 8}, "MQDMPR-3.1.1.12-31"),
        ({"body_type": 8}, "MQDMPR-3.1.1.12-33"),
        ({"correlation_id": "00" * 20}, "MQMQ-2.2.19.3-13"),
        ({"extension_base64": ""}, "MQDMPR-3.1.1.12-57"),
        ({"priority": 3}, "MQDMPR-3.1.7.1.31-D01"),
        ({"journal": []}, "MQDMPR-3.1.7.1.31-D12"),
        ({"trace_queue": str(TRACE_QUEUE)}, "MQDMPR-3.1.7.1.31-D07"),
    ],
)
def test_message_that_was_read_with_other_property_breaks_rule(findings: Findings, changes: dict[str, Any], rule: str):
    findings.add_packet(TO_SUT_DIRECTION)
    findings.read(**changes)
    assert rule in findings.broken


def test_property_that_control_channel_omits_is_not_compared(findings: Findings):
    findings.add_packet(TO_SUT_DIRECTION)
    findings.messages.on_answer("receive", {}, {"message": {"message_id": MESSAGE["message_id"], "label": "label"}})
    assert findings.kept == {"MQDMPR-3.1.1.12-46": [True], "MQDMPR-3.1.7.1.31-D02": [True]}


def test_message_whose_identifier_two_packets_have_is_not_compared(findings: Findings):
    findings.add_packet(TO_SUT_DIRECTION)
    findings.add_packet(TO_SUT_DIRECTION, label="other")
    findings.read()
    assert findings.kept == {}


def test_acknowledgment_is_not_compared(findings: Findings):
    findings.add_packet(TO_SUT_DIRECTION)
    findings.read(**{"class": "MQMSG_CLASS_ACK_RECEIVE", "label": "other"})
    assert findings.kept == {}
