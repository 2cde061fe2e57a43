"""MS-MQDMPR 3.1.1.12 Message: the default values of attributes, as the packet of the message shows them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from harness.expectations import holds, one_of
from harness.run.marks import covers, needs, varied
from suites.mqdmpr.s3_1_1_12_message.default_attributes import (
    DEFAULT_FIELDS_BY_RULE,
    DEFAULT_RULES_FOR_EVERY_DELIVERY_MODE,
    PROPERTIES_HEADER_PREFIX,
    SECURITY_HEADER_PREFIX,
    SENDER_TYPE_SID,
    is_sid,
    judge_default_fields,
)
from suites.mqmq.steps.layout import ABSENT_FIELD, Layout
from suites.mqmq.steps.outgoing import MessagesSentBySut

HASH_ALGORITHMS = {"MD2": 0x8001, "MD4": 0x8002, "MD5": 0x8003, "SHA1": 0x8004, "SHA_256": 0x800C, "SHA_512": 0x800E}
TRACE_QUEUE_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000d1")


NON_DEFAULT_PROPERTIES: dict[str, Any] = {
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


@needs("send")
@covers(*DEFAULT_RULES_FOR_EVERY_DELIVERY_MODE)
@pytest.mark.parametrize("delivery", ["recoverable", "transactional"])
def test_message_with_delivery_only_has_default_attributes(peer, sut, judge, delivery):
    """The SUT sends a message in which every attribute has a value other than its default. For a second message, the
    application sets only the destination and a non-default delivery mode: the SUT sets each other attribute to its
    default.
    """
    outgoing = MessagesSentBySut(peer, sut)
    _send_messages_with_nondefault_properties(outgoing, peer, sut, delivery)
    frame = outgoing.send(time_to_reach_queue_s=None, delivery=delivery)  # left out it is no limit
    outgoing.end()
    judge_default_fields(judge, frame, DEFAULT_RULES_FOR_EVERY_DELIVERY_MODE)


def _send_messages_with_nondefault_properties(outgoing, peer, sut, delivery):
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


@needs("send")
@covers(*DEFAULT_FIELDS_BY_RULE, "MQDMPR-3.1.1.12-48")
def test_message_with_destination_only_has_default_attributes(peer, sut, judge):
    """The SUT sends a message in which every attribute has a value other than its default. For a second message, the
    application sets only the destination: the SUT sets each other attribute to its default.
    """
    outgoing = MessagesSentBySut(peer, sut)
    _send_messages_with_nondefault_properties(outgoing, peer, sut, "recoverable")
    frame = outgoing.send(time_to_reach_queue_s=None)  # left out it is no limit
    judge_default_fields(judge, frame, DEFAULT_FIELDS_BY_RULE)
    outgoing.send(**NON_DEFAULT_PROPERTIES, admin_queue=peer.direct_name("a"), response_queue=peer.direct_name("b"))
    later = outgoing.send(time_to_reach_queue_s=None)
    outgoing.end()
    judge_default_fields(judge, later, DEFAULT_FIELDS_BY_RULE)
    number = Layout(frame).fields.get(f"{PROPERTIES_HEADER_PREFIX}HashAlgorithm")
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
    outgoing = MessagesSentBySut(peer, sut)
    frame = outgoing.send(body="signed", authentication_level="sig20")
    outgoing.end()
    layout = Layout(frame)
    of_user = {f"{SECURITY_HEADER_PREFIX}Flags.ST": SENDER_TYPE_SID}
    judge("MQDMPR-3.1.1.12-D43", expected=of_user, observed=layout, evidence=frame, errata="E112")
    sender = str(layout.fields.get(f"{SECURITY_HEADER_PREFIX}SecurityID", ABSENT_FIELD))
    of_sid = holds("the sender identifier is a SID")
    judge("MQDMPR-3.1.1.12-D49", expected=of_sid, observed=is_sid(sender) or sender, evidence=frame, errata="E112")


@covers("MQDMPR-3.1.1.12-18")
@varied("priority", "positive journaling", "negative journaling", "trace", "label")
def test_dm_is_0_in_express_and_1_in_recoverable_message(peer, sut, judge):
    """The SUT sends an express message with DM 0, and a recoverable message with DM 1."""
    outgoing = MessagesSentBySut(peer, sut)
    for delivery, value in (("express", 0), ("recoverable", 1)):
        frame = outgoing.send(delivery=delivery)
        judge("MQDMPR-3.1.1.12-18", expected={"UserHeader.Flags.DM": value}, observed=Layout(frame), evidence=frame)
    outgoing.end()
