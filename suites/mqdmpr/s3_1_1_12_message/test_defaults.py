"""MS-MQDMPR 3.1.1.12 Message: the default values of attributes, as the packet of the message shows them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from harness.expectations import holds, one_of
from harness.run.marks import covers, needs, varied
from suites.mqmq.steps.layout import ABSENT_FIELD, Layout
from suites.mqmq.steps.outgoing import Outgoing

BASE, USER, PROPERTIES, SECURITY = "BaseHeader.", "UserHeader.", "MessagePropertiesHeader.", "SecurityHeader."
FOREVER, FOUR_DAYS_S = 0xFFFF_FFFF, 0x5_4600
HASH_ALGORITHMS = {"MD2": 0x8001, "MD4": 0x8002, "MD5": 0x8003, "SHA1": 0x8004, "SHA_256": 0x800C, "SHA_512": 0x800E}
RC4_ALGORITHM = 0x6801
SENDER_TYPE_SID = 1
TRACE_QUEUE_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000d1")
SID_REVISION, SID_HEAD, SUBAUTHORITY = 1, 8, 4

DEFAULT_FIELDS: dict[str, dict[str, Any]] = {
    "MQDMPR-3.1.1.12-19": {f"{USER}Flags.DM": 0, f"{USER}Flags.TH": 0},
    "MQDMPR-3.1.1.12-47": {f"{BASE}TimeToReachQueue": FOUR_DAYS_S},
    "MQDMPR-3.1.1.12-49": {f"{PROPERTIES}EncryptionAlgorithm": RC4_ALGORITHM},
    "MQDMPR-3.1.1.12-D05": {f"{PROPERTIES}MessageClass": 0},
    "MQDMPR-3.1.1.12-D28": {f"{PROPERTIES}MessageClass": 0},
    "MQDMPR-3.1.1.12-D29": {f"{PROPERTIES}PrivacyLevel": 0},
    "MQDMPR-3.1.1.12-D30": {f"{SECURITY}Signature": ABSENT_FIELD, f"{USER}Flags.MQ": 0},
    "MQDMPR-3.1.1.12-D31": {f"{BASE}Flags.TR": 0},
    "MQDMPR-3.1.1.12-D32": {"DebugHeader.QueueIdentifier": ABSENT_FIELD},
    "MQDMPR-3.1.1.12-D33": {f"{USER}Flags.JP": 0},
    "MQDMPR-3.1.1.12-D34": {f"{USER}Flags.JN": 0},
    "MQDMPR-3.1.1.12-D35": {f"{USER}Flags.RQ": 0, f"{USER}ResponseQueue": ABSENT_FIELD},
    "MQDMPR-3.1.1.12-D36": {f"{USER}Flags.AQ": 0, f"{USER}AdminQueue": ABSENT_FIELD},
    "MQDMPR-3.1.1.12-D37": {f"{PROPERTIES}Flags.{bit}": 0 for bit in ("PA", "PR", "NA", "NR")},
    "MQDMPR-3.1.1.12-D38": {f"{PROPERTIES}ApplicationTag": 0},
    "MQDMPR-3.1.1.12-D39": {f"{PROPERTIES}MessageSize": 0, f"{PROPERTIES}MessageBody": ABSENT_FIELD},
    "MQDMPR-3.1.1.12-D40": {f"{PROPERTIES}BodyType": 0},
    "MQDMPR-3.1.1.12-D41": {"label": ""},
    "MQDMPR-3.1.1.12-D42": {f"{USER}TimeToBeReceived": FOREVER},
    "MQDMPR-3.1.1.12-D44": {f"{PROPERTIES}ExtensionSize": 0, f"{PROPERTIES}ExtensionData": ABSENT_FIELD},
    "MQDMPR-3.1.1.12-D45": {f"{USER}Flags.CQ": 0},
    "MQDMPR-3.1.1.12-D47": {f"{PROPERTIES}CorrelationID": bytes(20).hex()},
    "MQDMPR-3.1.1.12-D48": {f"{BASE}Flags.PR": 3},
}
"""For each rule, the fields of the packet, with their default values."""


OTHER_VALUES: dict[str, Any] = {
    "body": "earlier",
    "body_type": 0x1011,
    "label": "earlier",
    "delivery": "recoverable",
    "priority": 6,
    "acks": ["positive_arrival", "positive_receive", "negative_arrival", "negative_receive"],
    "journal": ["positive", "negative"],
    "application_tag": 77,
    "time_to_reach_queue_s": 600,
    "time_to_be_received_s": 900,
    "trace_queue": "6d71636f-6e66-4f72-8d00-0000000000d7",
}
"""Attributes of an earlier message, none of which has its default value."""
DEFAULTS_OF_EACH_DELIVERY = tuple(
    rule for rule in DEFAULT_FIELDS if rule not in ("MQDMPR-3.1.1.12-19", "MQDMPR-3.1.1.12-D48")
)
"""The rules whose defaults do not depend on the delivery."""


@needs("send")
@covers(*DEFAULTS_OF_EACH_DELIVERY)
@pytest.mark.parametrize("delivery", ["recoverable", "transactional"])
def test_message_with_delivery_only_has_default_attributes(peer, sut, judge, delivery):
    """The SUT sends a message with other values of all attributes, and then a message for which the application sets
    only the destination and a delivery that is not the default: the SUT sets each other attribute to its default.
    """
    outgoing = Outgoing(peer, sut)
    _send_other_messages(outgoing, peer, sut, delivery)
    frame = outgoing.send(time_to_reach_queue_s=None, delivery=delivery)  # left out it is no limit
    outgoing.end()
    _judge_defaults(judge, frame, DEFAULTS_OF_EACH_DELIVERY)


def _send_other_messages(outgoing, peer, sut, delivery):
    """Let the SUT send a message for which the application sets every attribute, and a signed message: a later message
    must have none of these values.
    """
    outgoing.send(
        body="other",
        body_type=8,
        label="other",
        delivery=delivery,
        priority=0 if delivery == "transactional" else 6,
        acks=["positive_arrival", "positive_receive", "negative_arrival", "negative_receive"],
        admin_queue=peer.direct_name("mqc-admin"),
        response_queue=peer.direct_name("mqc-response"),
        time_to_reach_queue_s=7_654,
        time_to_be_received_s=6_543,
        journal=["positive", "negative"],
        application_tag=0x8765_4321,
        trace_queue=str(TRACE_QUEUE_GUID),
    )
    if sut.has("security"):
        outgoing.send(body="signed", authentication_level="sig20")


def _judge_defaults(judge, frame, rules):
    """Judge the rules about the defaults of the fields of a packet."""
    layout = Layout(frame)
    label = str(layout.fields.get(f"{PROPERTIES}Label", "")).rstrip("\0")
    for rule in rules:
        default = DEFAULT_FIELDS[rule]
        observed = layout.of(*default) | ({"label": label} if "label" in default else {})
        judge(rule, expected=default, observed=observed, evidence=frame)


@needs("send")
@covers(*DEFAULT_FIELDS, "MQDMPR-3.1.1.12-48")
def test_message_with_destination_only_has_default_attributes(peer, sut, judge):
    """The SUT sends a message with other values of all attributes, and then a message for which the application sets
    only the destination: the SUT sets each other attribute to its default.
    """
    outgoing = Outgoing(peer, sut)
    _send_other_messages(outgoing, peer, sut, "recoverable")
    frame = outgoing.send(time_to_reach_queue_s=None)  # left out it is no limit
    _judge_defaults(judge, frame, DEFAULT_FIELDS)
    outgoing.send(**OTHER_VALUES, admin_queue=peer.direct_name("a"), response_queue=peer.direct_name("b"))
    later = outgoing.send(time_to_reach_queue_s=None)
    outgoing.end()
    _judge_defaults(judge, later, DEFAULT_FIELDS)
    number = Layout(frame).fields.get(f"{PROPERTIES}HashAlgorithm")
    name = next((one for one, value in HASH_ALGORITHMS.items() if value == number), f"{number}")
    judge("MQDMPR-3.1.1.12-48", expected=one_of(*HASH_ALGORITHMS), observed=name, evidence=frame, case="hash algorithm")
    judge(
        "MQDMPR-3.1.1.12-48",
        expected=one_of("SHA_512", "SHA1"),
        observed=name,
        evidence=frame,
        errata="E150",
        advice=True,
        case="hash algorithm",
    )


@needs("send", "security")
@covers("MQDMPR-3.1.1.12-D43", "MQDMPR-3.1.1.12-D49")
@varied("acknowledgments", "negative journaling", "time to reach queue", "application tag", "label")
def test_signed_message_has_user_sid_by_default(peer, sut, judge):
    """The SUT sends a signed message for which the application sets no sender: SenderIdentifier is the SID of a user
    (erratum E112).
    """
    outgoing = Outgoing(peer, sut)
    frame = outgoing.send(body="signed", authentication_level="sig20")
    outgoing.end()
    layout = Layout(frame)
    of_user = {f"{SECURITY}Flags.ST": SENDER_TYPE_SID}
    judge("MQDMPR-3.1.1.12-D43", expected=of_user, observed=layout, evidence=frame, errata="E112")
    sender = str(layout.fields.get(f"{SECURITY}SecurityID", ABSENT_FIELD))
    is_sid = holds("the sender identifier is a SID")
    judge("MQDMPR-3.1.1.12-D49", expected=is_sid, observed=_is_sid(sender) or sender, evidence=frame, errata="E112")


def _is_sid(text: str) -> bool:
    """Return whether bytes, given in hexadecimal, are a SID with a correct subauthority count (MS-DTYP 2.4.2.2)."""
    value = b"" if text == ABSENT_FIELD else bytes.fromhex(text)
    return len(value) > SID_HEAD and value[0] == SID_REVISION and len(value) == SID_HEAD + SUBAUTHORITY * value[1]


@covers("MQDMPR-3.1.1.12-18")
@varied("priority", "positive journaling", "negative journaling", "trace", "label")
def test_dm_is_0_in_express_and_1_in_recoverable_message(peer, sut, judge):
    """The SUT sends an express message with DM 0, and a recoverable message with DM 1."""
    outgoing = Outgoing(peer, sut)
    for delivery, value in (("express", 0), ("recoverable", 1)):
        frame = outgoing.send(delivery=delivery)
        judge("MQDMPR-3.1.1.12-18", expected={f"{USER}Flags.DM": value}, observed=Layout(frame), evidence=frame)
    outgoing.end()
