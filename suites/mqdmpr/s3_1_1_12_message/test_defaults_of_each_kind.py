"""MS-MQDMPR 3.1.1.12 Message: the default values of attributes of messages to several queues, of local messages, of
messages with one other attribute, and of signed or encrypted messages.
"""

from __future__ import annotations

from typing import Any

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import each, facts, holds, one_of
from harness.run.marks import covers, needs
from suites.mqdmpr.s3_1_1_12_message.default_attributes import (
    DEFAULT_FIELDS_BY_RULE,
    DEFAULT_RULES_FOR_EVERY_DELIVERY_MODE,
    SECURITY_HEADER_PREFIX,
    SENDER_TYPE_SID,
    is_sid,
    judge_default_fields,
)
from suites.mqmq.steps.layout import ABSENT_FIELD, Layout
from suites.mqmq.steps.outgoing import MessagesSentBySut
from suites.mqqb.steps.disposition import AcknowledgingReceiver
from suites.mqqb.steps.opening import private_name

DELIVERY_MODE_RULE, TRANSACTION_SEQUENCE_RULE = "MQDMPR-3.1.1.12-18", "MQDMPR-3.1.1.12-D57"
SOURCE_QUEUE_MANAGER_RULE, PRIVACY_LEVEL_RULE = "MQDMPR-3.1.1.12-D51", "MQDMPR-3.1.1.12-04"
DEFAULT_RULES_FOR_MESSAGE_TO_SEVERAL_QUEUES = tuple(
    rule for rule in DEFAULT_FIELDS_BY_RULE if rule != "MQDMPR-3.1.1.12-D30"
)
"""The rules about the defaults of a message to several queues. The rule about the signature also judges the flag of the
MultiQueueFormatHeader, which such a message needs.
"""
LARGE_BODY = "large " * 1_000
ACKNOWLEDGMENT_REQUEST_NAMES = ("positive_arrival", "negative_receive")
MESSAGES_WITH_ONE_PROPERTY: dict[str, tuple[dict[str, Any], frozenset[str]]] = {
    "a label": ({"label": "only"}, frozenset({"MQDMPR-3.1.1.12-D41"})),
    "a large body": ({"body": LARGE_BODY}, frozenset({"MQDMPR-3.1.1.12-D39"})),
    "a response queue": ({"response_queue": "mqc-response"}, frozenset({"MQDMPR-3.1.1.12-D35"})),
    "a time to be received": ({"time_to_be_received_s": 90_000}, frozenset({"MQDMPR-3.1.1.12-D42"})),
    "a time to reach queue": ({"time_to_reach_queue_s": 80_000}, frozenset({"MQDMPR-3.1.1.12-47"})),
    "an administration queue": (
        {"acks": list(ACKNOWLEDGMENT_REQUEST_NAMES), "admin_queue": "mqc-admin"},
        frozenset({"MQDMPR-3.1.1.12-D36", "MQDMPR-3.1.1.12-D37"}),
    ),
}
"""For each kind of message: the property that its application sets, and the rules about the default of the property."""
UNSET_LIFETIMES = {"time_to_reach_queue_s": None, "time_to_be_received_s": None}
"""Arguments of ``send`` with which the application sets neither of the two times, so that the SUT uses its defaults."""
DEFAULT_OF_LOCAL_MESSAGE_BY_RULE: dict[str, tuple[str, Any]] = {
    "MQDMPR-3.1.1.12-19": ("delivery", "express"),
    "MQDMPR-3.1.1.12-D05": ("class", "MQMSG_CLASS_NORMAL"),
    "MQDMPR-3.1.1.12-D28": ("class", "MQMSG_CLASS_NORMAL"),
    "MQDMPR-3.1.1.12-D31": ("trace_queue", None),
    "MQDMPR-3.1.1.12-D33": ("journal", []),
    "MQDMPR-3.1.1.12-D35": ("response_queue", None),
    "MQDMPR-3.1.1.12-D36": ("admin_queue", None),
    "MQDMPR-3.1.1.12-D39": ("body_base64", ""),
}
"""For each rule, the property of a message on the control channel, and its default value."""
MULTIPLE_DESTINATION_SIGNATURE_RULE = "MQDMPR-3.1.1.12-13"


@needs("send", "several_queues")
@covers(*DEFAULT_RULES_FOR_MESSAGE_TO_SEVERAL_QUEUES, SOURCE_QUEUE_MANAGER_RULE)
def test_message_to_several_queues_has_default_attributes(peer, sut, judge):
    """The SUT sends a message to two queues, for which the application sets only the destinations: the SUT sets each
    other attribute to its default, and is the source of the message.
    """
    outgoing = MessagesSentBySut(peer, sut, f"{peer.direct_name('mqc-first')},{peer.direct_name('mqc-second')}")
    frame = outgoing.send(time_to_reach_queue_s=None)
    judge_default_fields(judge, frame, DEFAULT_RULES_FOR_MESSAGE_TO_SEVERAL_QUEUES)
    source = str(frame["UserHeader"].SourceQueueManager)
    judge(SOURCE_QUEUE_MANAGER_RULE, expected=str(sut.guid), observed=source, case="SourceQueueManager", evidence=frame)
    peer.settle()
    outgoing.end()


@needs("send")
@covers(*DEFAULT_FIELDS_BY_RULE)
def test_message_with_one_property_has_other_defaults(peer, sut, judge):
    """The SUT sends messages for which the application sets the destination and one more property, a different property
    for each message: the SUT sets each other attribute to its default.
    """
    outgoing = MessagesSentBySut(peer, sut)
    for properties, own_rules in MESSAGES_WITH_ONE_PROPERTY.values():
        queues = {name: peer.direct_name(properties[name]) for name in properties if name.endswith("_queue")}
        frame = outgoing.send(**(UNSET_LIFETIMES | properties | queues))
        judge_default_fields(judge, frame, [rule for rule in DEFAULT_FIELDS_BY_RULE if rule not in own_rules])
    outgoing.end()


@needs("send", "private_names", "security")
@covers(*DEFAULT_RULES_FOR_EVERY_DELIVERY_MODE)
@pytest.mark.parametrize("delivery", ["recoverable", "transactional"])
def test_message_to_private_name_has_default_attributes(peer, sut, judge, delivery):
    """The SUT sends an encrypted message to a private format name, and then a message for which the application sets
    only the destination and the delivery mode: the SUT sets each other attribute to its default.
    """
    outgoing = MessagesSentBySut(peer, sut, private_name(peer.identifier))
    outgoing.send(body="encrypted", privacy_level="base", delivery=delivery)
    frame = outgoing.send(time_to_reach_queue_s=None, delivery=delivery)
    outgoing.end()
    judge_default_fields(judge, frame, DEFAULT_RULES_FOR_EVERY_DELIVERY_MODE)


@needs("send", "receive", "queue_control")
@covers(*DEFAULT_OF_LOCAL_MESSAGE_BY_RULE, "MQDMPR-3.1.1.12-D29")
def test_message_to_local_queue_has_default_attributes(peer, sut, judge):
    """An application sends a message to the peer and a message to a local queue, and sets only the destinations: each
    other attribute of both messages has its default.
    """
    outgoing = MessagesSentBySut(peer, sut)
    frame = outgoing.send(time_to_reach_queue_s=None)
    outgoing.end()
    judge_default_fields(
        judge,
        frame,
        [rule for rule in (*DEFAULT_OF_LOCAL_MESSAGE_BY_RULE, "MQDMPR-3.1.1.12-D29") if rule in DEFAULT_FIELDS_BY_RULE],
    )
    queue = sut.new_queue("defaults")
    sut.send(sut.direct_name(queue))
    found = sut.control.call("peek", queue=queue)["messages"]
    if len(found) != 1:
        raise ConformanceFailure("the message of the application is not in its queue")
    for rule, (name, default) in DEFAULT_OF_LOCAL_MESSAGE_BY_RULE.items():
        if name in found[0]:
            local = {name: found[0][name]}
            judge(rule, expected={name: default}, observed=local, case="local message", evidence=frame)
        else:
            judge.mark_not_exercised(rule, reason=f"the control channel shows no {name}")
    if "security" in found[0]:
        level = (found[0]["security"] or {}).get("privacy_level", "none")
        case = "privacy level of a local message"
        judge("MQDMPR-3.1.1.12-D29", expected="none", observed=level, case=case, evidence=frame)
    else:
        judge.mark_not_exercised("MQDMPR-3.1.1.12-D29", reason="the control channel shows no security properties")


@needs("security", "send", "private_names")
@covers("MQDMPR-3.1.1.12-D43", "MQDMPR-3.1.1.12-D49", MULTIPLE_DESTINATION_SIGNATURE_RULE)
def test_secured_messages_have_the_same_user_sid_by_default(peer, sut, judge):
    """The SUT sends messages for which the application sets no sender: signed messages in each delivery mode, without a
    body, and to several queues, and an encrypted message. SenderIdentifier of each message is the same SID of a user
    (erratum E112).
    """
    private = private_name(peer.identifier)
    several = f"{peer.direct_name('mqc-first')},{peer.direct_name('mqc-second')}"
    messages: dict[str, tuple[str, dict[str, Any]]] = {
        delivery: (private, {"delivery": delivery, "authentication_level": "sig20", "body": delivery})
        for delivery in ("express", "recoverable", "transactional")
    }
    messages["encrypted"] = (private, {"privacy_level": "base", "body": "encrypted"})
    messages["without a body"] = (private, {"authentication_level": "sig30"})
    if sut.has("several_queues"):
        messages["several queues"] = (several, {"authentication_level": "sig20", "body": "several"})
    senders: dict[str, str] = {}
    outgoing = MessagesSentBySut(peer, sut, private)
    for kind, (to, properties) in messages.items():
        if to != outgoing.sender.to:
            outgoing.start_new_session()
            outgoing.sender.to = to
        frame = outgoing.send(**properties)
        layout = Layout(frame)
        if kind == "without a body":
            signed = frame["UserHeader"].MQ and bytes(frame["MultiQueueFormatHeader"].Signature.Signature)
            judge(
                MULTIPLE_DESTINATION_SIGNATURE_RULE,
                expected=holds("the message is signed"),
                observed=bool(signed),
                evidence=frame,
            )
        if kind == "encrypted" and not frame["UserHeader"].SH:
            continue
        of_user = {f"{SECURITY_HEADER_PREFIX}Flags.ST": SENDER_TYPE_SID}
        judge("MQDMPR-3.1.1.12-D43", expected=of_user, observed=layout, case=kind, evidence=frame, errata="E112")
        senders[kind] = str(layout.fields.get(f"{SECURITY_HEADER_PREFIX}SecurityID", ABSENT_FIELD))
        judge(
            "MQDMPR-3.1.1.12-D49",
            expected=holds("the sender identifier is the SID of the first message"),
            observed=(is_sid(senders[kind]) and senders[kind] == senders["express"]) or senders[kind],
            case=kind,
            evidence=frame,
            errata="E112",
        )
    peer.settle()
    outgoing.end()


@needs("send")
@covers(DELIVERY_MODE_RULE, TRANSACTION_SEQUENCE_RULE)
def test_delivery_of_each_kind_of_message_is_express_or_recoverable(peer, sut, judge):
    """The SUT sends an express message, a recoverable message and three transactional messages: DM is 0 in the express
    message and 1 in the other messages, and only the transactional messages have a TxSequenceID, which is the same in
    each of them.
    """
    outgoing = MessagesSentBySut(peer, sut)
    sequences = []
    for delivery in ("express", "recoverable", "transactional", "transactional", "transactional"):
        frame = outgoing.send(delivery=delivery)
        delivery_mode = int(delivery != "express")
        observed = int(frame["UserHeader"].DM)
        judge(DELIVERY_MODE_RULE, expected=delivery_mode, observed=observed, case=f"DM ({delivery})", evidence=frame)
        has_sequence = bool(frame["UserHeader"].TH)
        is_transactional = delivery == "transactional"
        judge(
            TRANSACTION_SEQUENCE_RULE,
            expected=is_transactional,
            observed=has_sequence,
            case=f"TH ({delivery})",
            evidence=frame,
        )
        if has_sequence and is_transactional:
            identifier = frame["TransactionHeader"].TxSequenceID
            sequences.append((int(identifier.Ordinal), int(identifier.TimeStamp)))
    same = each(sequences[0] if sequences else None, "TxSequenceID of the sequence")
    judge(TRANSACTION_SEQUENCE_RULE, expected=same, observed=sequences, case="Ordinal and TimeStamp", evidence=frame)
    outgoing.end()


@covers(DELIVERY_MODE_RULE, PRIVACY_LEVEL_RULE)
def test_acknowledgment_has_known_delivery_and_no_privacy_level(peer, sut, judge):
    """The SUT acknowledges an express and a recoverable message: DM of each acknowledgment is 0 or 1, and its
    PrivacyLevel is 0.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    for delivery_mode in (0, 1):
        receiver.send_packet(receiver.build_message({"DM": delivery_mode}, properties={"PA": 1}))
        for ack in receiver.await_acks(1):
            expected = facts(DM=one_of(0, 1), PrivacyLevel=0)
            level = int(ack["MessagePropertiesHeader"].PrivacyLevel)
            observed_fields = {"DM": int(ack["UserHeader"].DM), "PrivacyLevel": level}
            judge(DELIVERY_MODE_RULE, PRIVACY_LEVEL_RULE, expected=expected, observed=observed_fields, evidence=ack)
    receiver.acknowledge_all()
