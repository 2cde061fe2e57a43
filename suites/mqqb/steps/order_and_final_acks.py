"""Predicates about OrderAcks and FinalAcks.

Spec: MS-MQQB 2.2.4, 2.2.5. The predicates treat a message as an OrderAck or FinalAck if most of the typical fields have
the right values, so that one wrong field does not hide the acknowledgment.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from harness.capture.recorder import MALFORMED_PACKET_KIND
from harness.judging.passive import Context, Finding, Predicate, passive
from reference_qm.codec import (
    DirectQueueFormatName,
    MessageClass,
    PrivateQueueFormatNameId,
    UserHeader,
    UserMessagePacket,
)
from suites.mqmq.steps.message_bytes import (
    USER_HEADER_NAME,
    parse_message_with_changed_flag,
    parse_message_with_corrected_body_size,
)

USER_MESSAGE_KIND = "UserMessage"
ORDERING_ACK_LABEL = "QM Ordering Ack"
ORDER_ACK_BODY_SIZE_BYTES = 0x24
ORDER_QUEUE_NUMBER = 4
FIRST_FINAL_ACK_CLASS = 0x4000
MIN_FEATURES_OF_ORDER_OR_FINAL_ACK = 3
"""The number of typical features, of four, that a message must have to be treated as an acknowledgment."""
_ADDRESS_PATTERN = r"(?:TCP:(?P<ip>[0-9A-F.:]+)|SPX:[0-9A-F]{8}\.[0-9A-F]{12})"
ORDER_QUEUE_NAME_PATTERN = re.compile(rf"{_ADDRESS_PATTERN}\\PRIVATE\$\\order_queue\$", re.IGNORECASE)

PacketPredicate = Callable[[Any], Finding]


def _has_enough_features(packet: Any, of_class: bool) -> bool:
    properties, queue = packet.MessagePropertiesHeader, packet.UserHeader.DestinationQueue
    named = isinstance(queue, PrivateQueueFormatNameId) and queue.PrivateQueueIdentifier == ORDER_QUEUE_NUMBER
    direct = isinstance(queue, DirectQueueFormatName) and queue.DirectFormatName.lower().endswith("order_queue$")
    signs: int = (
        of_class
        + (properties.Label == ORDERING_ACK_LABEL)
        + (properties.MessageSize == ORDER_ACK_BODY_SIZE_BYTES)
        + (named or direct)
    )
    return signs >= MIN_FEATURES_OF_ORDER_OR_FINAL_ACK


def is_order_ack(packet: Any) -> bool:
    """Return whether a message is intended as an OrderAck."""
    value: int = packet.MessagePropertiesHeader.MessageClass
    of_class = value == MessageClass.MQMSG_CLASS_ORDER_ACK
    if not of_class and (value >= FIRST_FINAL_ACK_CLASS or packet.MessagePropertiesHeader.Label != ORDERING_ACK_LABEL):
        return False  # as in most messages, two signs are missing
    return _has_enough_features(packet, of_class)


def is_final_ack(packet: Any) -> bool:
    """Return whether a message is intended as a FinalAck."""
    value: int = packet.MessagePropertiesHeader.MessageClass
    return value >= FIRST_FINAL_ACK_CLASS and _has_enough_features(packet, of_class=True)


def apply_predicate_to_order_and_final_acks(meant: Callable[[Any], bool]) -> Callable[[PacketPredicate], Predicate]:
    """Apply a predicate only to messages that are intended as an OrderAck, or as a FinalAck."""

    def wrap_predicate_for_transactional_acks(judge_packet: PacketPredicate) -> Predicate:
        @wraps(judge_packet)
        def judge_transactional_ack(packet: Any, context: Context) -> Finding:
            return judge_packet(packet) if meant(packet) else None

        return judge_transactional_ack

    return wrap_predicate_for_transactional_acks


def check_base_header_flags_are_zero(packet: Any) -> Finding:
    """Check that BaseHeader.Flags is 0."""
    return packet.BaseHeader.Flags == 0, f"BaseHeader.Flags is 0x{packet.BaseHeader.Flags:04X}"


def check_user_flags_except_mp_dm_and_dq_are_zero(packet: Any) -> Finding:
    """Check that UserHeader.Flags has no set bits except MP, DM (erratum E36 permits DM in an OrderAck) and DQ, which
    is 3 or 7.
    """
    user = packet.UserHeader
    others = user.Flags & ~UserHeader.flags(DM=3, DQ=7, MP=1)
    return not others and user.DQ in (3, 7), f"UserHeader.Flags is 0x{user.Flags:08X}, and DQ is {user.DQ}"


def check_destination_by_private_name(packet: Any) -> Finding:
    """Check that the destination is private queue 4 if DQ is 3 (erratum E42)."""
    queue = packet.UserHeader.DestinationQueue
    if not isinstance(queue, PrivateQueueFormatNameId):
        return None
    return (
        queue.PrivateQueueIdentifier == ORDER_QUEUE_NUMBER,
        f"PrivateQueueIdentifier is {queue.PrivateQueueIdentifier}",
    )


def check_destination_by_direct_name(packet: Any) -> Finding:
    """Check that the destination is the prescribed direct name if DQ is 7."""
    queue = packet.UserHeader.DestinationQueue
    if not isinstance(queue, DirectQueueFormatName):
        return None
    name = queue.DirectFormatName
    return ORDER_QUEUE_NAME_PATTERN.fullmatch(name) is not None, f"DirectFormatName is {name!a}"


def check_ordering_ack_label(packet: Any) -> Finding:
    """Check that the label is QM Ordering Ack."""
    return (
        packet.MessagePropertiesHeader.Label == ORDERING_ACK_LABEL,
        f"Label is {packet.MessagePropertiesHeader.Label!a}",
    )


def check_acknowledgment_body_size(packet: Any) -> Finding:
    """Check that the body has the size that the specification states."""
    size = packet.MessagePropertiesHeader.MessageSize
    return size == ORDER_ACK_BODY_SIZE_BYTES, f"MessageSize is {size}"


def make_body_size_predicate(meant: Callable[[Any], bool]) -> Predicate:
    """Return a predicate that checks that the body has the specified size, even if a wrong size makes the packet
    unparsable.
    """

    def judge_size(packet: Any, context: Context) -> Finding:
        if isinstance(packet, UserMessagePacket):
            return check_acknowledgment_body_size(packet) if meant(packet) else None
        found = parse_message_with_corrected_body_size(context.frame.data, ORDER_ACK_BODY_SIZE_BYTES)
        return (False, f"MessageSize is {found[0]}") if found is not None and meant(found[1]) else None

    return judge_size


def check_properties_header_flags_are_zero(packet: Any) -> Finding:
    """Check that MessagePropertiesHeader.Flags is 0."""
    flags = packet.MessagePropertiesHeader.Flags
    return flags == 0, f"MessagePropertiesHeader.Flags is 0x{flags:02X}"


def check_acknowledgment_body_type(packet: Any) -> Finding:
    """Check that BodyType is VT_EMPTY."""
    value = packet.MessagePropertiesHeader.BodyType
    return value == 0, f"BodyType is 0x{value:X}{'' if value else ' (VT_EMPTY)'}"


def make_flag_predicate(header: str, flag: str, value: int, *meanings: Callable[[Any], bool]) -> Predicate:
    """Return a predicate that checks that a flag has the given value. A packet with another value cannot be parsed as a
    message. The predicate therefore parses its bytes with the given value, and reports a wrong flag if the result is an
    acknowledgment.
    """

    def is_intended_as_acknowledgment(packet: Any) -> bool:
        return any(meant(packet) for meant in meanings)

    def judge_flag(packet: Any, context: Context) -> Finding:
        if isinstance(packet, UserMessagePacket):
            return (True, f"{flag} is {value}") if is_intended_as_acknowledgment(packet) else None
        message = parse_message_with_changed_flag(context.frame.data, header, flag, value)
        return (
            (False, f"{flag} is not {value}")
            if message is not None and is_intended_as_acknowledgment(message)
            else None
        )

    return judge_flag


EXPECTED_TEXT_BY_PREDICATE: Mapping[PacketPredicate, str] = {
    check_base_header_flags_are_zero: "BaseHeader.Flags is 0",
    check_user_flags_except_mp_dm_and_dq_are_zero: (
        "only MP, DM (in an OrderAck, see E36) and DQ (3 or 7) are set in UserHeader.Flags"
    ),
    check_destination_by_private_name: "the destination is the private queue of order_queue$",
    check_destination_by_direct_name: "the direct name consists of an address and order_queue$",
    check_ordering_ack_label: f"Label is {ORDERING_ACK_LABEL!a}",
    check_acknowledgment_body_size: f"MessageSize is {ORDER_ACK_BODY_SIZE_BYTES}",
    check_properties_header_flags_are_zero: "MessagePropertiesHeader.Flags is 0",
    check_acknowledgment_body_type: "BodyType is VT_EMPTY",
}
"""The texts of the expectations of the predicates about OrderAcks and FinalAcks."""


def register_acknowledgment_predicates(
    meant: Callable[[Any], bool], mp: str, rules: Mapping[PacketPredicate, str]
) -> None:
    """Register the predicates about one kind of acknowledgment (OrderAck or FinalAck), each with its rule; ``mp``: the
    rule about bit MP of UserHeader.Flags.
    """
    if rules.keys() != EXPECTED_TEXT_BY_PREDICATE.keys():
        raise ValueError(
            f"rules must have exactly these keys: {', '.join(judge.__name__ for judge in EXPECTED_TEXT_BY_PREDICATE)}"
        )
    for judge_packet, rule in rules.items():
        if judge_packet is check_acknowledgment_body_size:
            passive(rule, (USER_MESSAGE_KIND, MALFORMED_PACKET_KIND), EXPECTED_TEXT_BY_PREDICATE[judge_packet])(
                make_body_size_predicate(meant)
            )
            continue
        passive(rule, USER_MESSAGE_KIND, EXPECTED_TEXT_BY_PREDICATE[judge_packet])(
            apply_predicate_to_order_and_final_acks(meant)(judge_packet)
        )
    passive(mp, (USER_MESSAGE_KIND, MALFORMED_PACKET_KIND, "unknown internal"), "MP of the UserHeader is 1")(
        make_flag_predicate(USER_HEADER_NAME, "MP", 1, meant)
    )
