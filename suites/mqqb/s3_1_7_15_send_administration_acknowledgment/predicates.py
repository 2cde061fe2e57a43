"""Judge every administration acknowledgment, and compare it with the message that it acknowledges. Spec: MS-MQQB
3.1.7.15.
"""

from __future__ import annotations

from typing import Any

from harness.judging.passive import Finding, passive
from reference_qm.codec.base import INFINITE_TIMEOUT
from suites.mqqb.steps.administration_acks import (
    POSITIVE_ACK_CLASSES,
    USER_MESSAGE_KIND,
    apply_predicate_to_acknowledged_messages,
    apply_predicate_to_administration_acks,
    is_same_queue,
)
from suites.mqqb.steps.received_messages import Message

ACK_REQUEST_BITS = 0xF
"""The bits of MessagePropertiesHeader.Flags that request acknowledgments: PA, PR, NA and NR."""
_QUEUE_TYPE_PRIVATE, _QUEUE_TYPE_PUBLIC, _QUEUE_TYPE_DIRECT = 3, 5, 7
(
    _RESPONSE_QUEUE_TYPE_RQ_OF_QUEUE_ON_SOURCE,
    _RESPONSE_QUEUE_TYPE_RQ_OF_QUEUE_ON_DESTINATION,
    _RESPONSE_QUEUE_TYPE_RQ_OF_QUEUE_ON_ANY_HOST,
) = 2, 3, 6


def _requests_no_acknowledgment(packet: Any) -> tuple[bool, str]:
    flags = packet.MessagePropertiesHeader.Flags & ACK_REQUEST_BITS
    return not flags, f"the bits PA, PR, NA and NR have the value 0x{flags:X}"


def _has_time_to_reach_queue(packet: Any) -> tuple[bool, str]:
    value = packet.BaseHeader.TimeToReachQueue
    return value == INFINITE_TIMEOUT, f"TimeToReachQueue is 0x{value:08X}"


def _has_time_to_be_received(packet: Any) -> tuple[bool, str]:
    value = packet.UserHeader.TimeToBeReceived
    return value == INFINITE_TIMEOUT, f"TimeToBeReceived is 0x{value:08X}"


def _has_no_positive_journaling(packet: Any) -> tuple[bool, str]:
    return packet.UserHeader.JP == 0, f"JP is {packet.UserHeader.JP}"


def _has_no_negative_journaling(packet: Any) -> tuple[bool, str]:
    return packet.UserHeader.JN == 0, f"JN is {packet.UserHeader.JN}"


def _is_ack_not_encrypted(packet: Any) -> tuple[bool, str]:
    security, level = packet.SecurityHeader, packet.MessagePropertiesHeader.PrivacyLevel
    encrypted = security is not None and security.EB
    return not encrypted and level == 0, f"EB is {int(bool(encrypted))}, and PrivacyLevel is {level}"


def _is_ack_not_signed(packet: Any) -> tuple[bool, str]:
    security = packet.SecurityHeader
    size = 0 if security is None else len(security.SecurityData.Signature or b"")
    return size == 0, f"size of the signature in bytes: {size}"


ACK_EXPECTATION_AND_TEST_BY_RULE = {
    "MQQB-3.1.7.15-D01": ("PA, PR, NA and NR of the acknowledgment are 0", _requests_no_acknowledgment),
    "MQQB-3.1.7.15-D02": ("TimeToReachQueue of the acknowledgment is 0xFFFFFFFF", _has_time_to_reach_queue),
    "MQQB-3.1.7.15-D03": ("TimeToBeReceived of the acknowledgment is 0xFFFFFFFF", _has_time_to_be_received),
    "MQQB-3.1.7.15-D04": ("JP of the acknowledgment is 0", _has_no_positive_journaling),
    "MQQB-3.1.7.15-D05": ("JN of the acknowledgment is 0", _has_no_negative_journaling),
    "MQQB-3.1.7.15-D06": ("EB and PrivacyLevel of the acknowledgment are 0", _is_ack_not_encrypted),
    "MQQB-3.1.7.15-D07": ("the acknowledgment has no signature", _is_ack_not_signed),
}
"""For each rule, an attribute of an acknowledgment whose value does not depend on the acknowledged message."""

for rule, (expected, judge) in ACK_EXPECTATION_AND_TEST_BY_RULE.items():
    passive(rule, USER_MESSAGE_KIND, expected, of_system=True)(apply_predicate_to_administration_acks(judge))


@passive(
    "MQQB-3.1.7.15-26",
    USER_MESSAGE_KIND,
    "the acknowledgment has no acknowledgment request, journaling, expiration, signature or encryption",
    of_system=True,
)
@apply_predicate_to_administration_acks
def check_ack_attributes(packet: Any) -> Finding:
    """Check that every attribute of an administration acknowledgment that does not depend on the acknowledged message
    has the specified value.
    """
    wrong = [
        observed
        for kept, observed in (judge(packet) for _, judge in ACK_EXPECTATION_AND_TEST_BY_RULE.values())
        if not kept
    ]
    return not wrong, ", ".join(
        wrong
    ) or "the acknowledgment has no acknowledgment request, journaling, expiration, signature or encryption"


def _check_ack_body(packet: Any, message: Message, answered: Any) -> Finding:
    body = packet.MessagePropertiesHeader.MessageBody
    if message.is_encrypted:
        return None  # what it says in clear is not sent back
    if packet.MessagePropertiesHeader.MessageClass in POSITIVE_ACK_CLASSES:
        return not body, f"size of MessageBody in bytes: {len(body)}"
    same = hash(body) == message.body
    return same, f"MessageBody is {'' if same else 'not '}the MessageBody of the message"


def _check_ack_delivery(packet: Any, message: Message, answered: Any) -> Finding:
    sent, came = packet.UserHeader.DM, message.DM
    return sent == came, f"DM is {sent} in the acknowledgment, and {came} in the message"


for expected, compare, rules in (
    (
        "a negative acknowledgment has the body of its message, and a positive one has no body",
        _check_ack_body,
        {"MQQB-3.1.7.15-28": True, "MQQB-3.1.7.15-29": False},
    ),
    (
        "DM of the acknowledgment equals DM of the message",
        _check_ack_delivery,
        {"MQQB-3.1.7.15-24": True, "MQQB-3.1.7.15-25": False},
    ),
):
    for rule, of_queue in rules.items():
        passive(rule, USER_MESSAGE_KIND, expected, of_system=True)(
            apply_predicate_to_acknowledged_messages(compare, left_queue=of_queue)
        )


def _is_sent_to_admin_queue(packet: Any, message: Message, answered: Any) -> bool:
    host = (
        message.QueueManagerAddress
        if message.AQ == _RESPONSE_QUEUE_TYPE_RQ_OF_QUEUE_ON_DESTINATION
        else answered.QueueManagerGuid
    )
    user = packet.UserHeader
    return is_same_queue(user.DestinationQueue, message.AdminQueue, user.QueueManagerAddress, host)


def _make_admin_queue_predicate(*kinds: int) -> Any:
    """Return a predicate that checks that an acknowledgment is sent to the administration queue of the message. The
    predicate judges only messages whose AQ is one of ``kinds``.
    """

    def judge_destination(packet: Any, message: Message, answered: Any) -> Finding:
        if message.AQ == 0 or (kinds and message.AQ not in kinds):
            return None
        kept = _is_sent_to_admin_queue(packet, message, answered)
        return (
            kept,
            f"DestinationQueue is {'' if kept else 'not '}the AdminQueue of the message, whose AQ is {message.AQ}",
        )

    return judge_destination


for rule, kinds, of_queue in (
    ("MQQB-3.1.7.15-09", (), True),
    ("MQQB-3.1.7.15-10", (), False),
    ("MQQB-3.1.7.15-11", (_RESPONSE_QUEUE_TYPE_RQ_OF_QUEUE_ON_SOURCE,), False),
    ("MQQB-3.1.7.15-13", (_QUEUE_TYPE_PUBLIC,), False),
    ("MQQB-3.1.7.15-14", (_RESPONSE_QUEUE_TYPE_RQ_OF_QUEUE_ON_ANY_HOST,), False),
    ("MQQB-3.1.7.15-15", (_QUEUE_TYPE_DIRECT,), False),
):
    passive(rule, USER_MESSAGE_KIND, "DestinationQueue is the AdminQueue of the message", of_system=True)(
        apply_predicate_to_acknowledged_messages(_make_admin_queue_predicate(*kinds), left_queue=of_queue)
    )


def _make_response_queue_predicate(*kinds: int) -> Any:
    """Return a predicate that checks that the response queue of an acknowledgment is the destination of the message.
    The predicate judges only messages whose DQ is one of ``kinds``.
    """

    def judge_response_queue(packet: Any, message: Message, answered: Any) -> Finding:
        if kinds and message.DQ not in kinds:
            return None
        user = packet.UserHeader
        if message.DQ == _QUEUE_TYPE_PRIVATE and message.QueueManagerAddress != user.SourceQueueManager:
            return None  # a message for another queue manager, which was not passed on
        host = (
            user.QueueManagerAddress
            if user.RQ == _RESPONSE_QUEUE_TYPE_RQ_OF_QUEUE_ON_DESTINATION
            else user.SourceQueueManager
        )
        kept = is_same_queue(user.ResponseQueue, message.DestinationQueue, host, message.QueueManagerAddress)
        return (
            kept,
            f"ResponseQueue is {'' if kept else 'not '}the DestinationQueue of the message, whose DQ is {message.DQ}",
        )

    return judge_response_queue


for rule, kinds in (
    ("MQQB-3.1.7.15-20", ()),
    ("MQQB-3.1.7.15-21", (_QUEUE_TYPE_PRIVATE,)),
    ("MQQB-3.1.7.15-22", (_QUEUE_TYPE_PUBLIC,)),
    ("MQQB-3.1.7.15-23", (_QUEUE_TYPE_DIRECT,)),
):
    passive(rule, USER_MESSAGE_KIND, "ResponseQueue is the DestinationQueue of the message", of_system=True)(
        apply_predicate_to_acknowledged_messages(_make_response_queue_predicate(*kinds), left_queue=False)
    )
