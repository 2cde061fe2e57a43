"""Check the UserHeader of every message. Spec: MS-MQMQ 2.2.19.2."""

from __future__ import annotations

from typing import Any

from harness.capture.recorder import MALFORMED_PACKET_KIND
from harness.judging.passive import Context, Finding, Predicate, passive
from reference_qm.codec import NULL_GUID, FormatError, UserHeader
from suites.mqmq.steps.message_bytes import (
    USER_HEADER_NAME,
    is_user_message,
    is_valid_after_flag_is_set,
    read_user_header_flags,
)
from suites.mqmq.steps.message_identifiers import check_message_id_ordinal
from suites.mqmq.steps.message_parts import check_properties_present, make_part_presence_predicate
from suites.mqmq.steps.source_queue_manager import check_source_queue_manager
from suites.mqmq.steps.unused import register_unused_bit_predicates

USER_MESSAGE_KIND = "UserMessage"
DIRECT_QUEUE_TYPE = 7
HIGHEST_HOP_COUNT = 0x1D
"""The highest value of RC, the number of routing servers that a message may pass."""

UNUSED_BIT_BY_RULE = {
    "MQMQ-2.2.19.2-12": "X1",
    "MQMQ-2.2.19.2-24": "X2",
    "MQMQ-2.2.19.2-26": "X3",
    "MQMQ-2.2.19.2-28": "X4",
}
"""The reserved bits of Flags, by rule."""

register_unused_bit_predicates(USER_MESSAGE_KIND, UserHeader, UNUSED_BIT_BY_RULE)

passive("MQMQ-2.2.19.2-01", USER_MESSAGE_KIND, "SourceQueueManager of a message that the SUT originates is its GUID")(
    check_source_queue_manager
)


@passive("MQMQ-2.2.19.2-04", USER_MESSAGE_KIND, "QueueManagerAddress is zero if DQ is 7")
def check_address_of_direct_name_is_zero(packet: Any, context: Context) -> Finding:
    """Check that QueueManagerAddress is zero in messages to direct names."""
    user = packet.UserHeader
    if user.DQ != DIRECT_QUEUE_TYPE:
        return None
    return user.QueueManagerAddress == NULL_GUID, f"QueueManagerAddress is {user.QueueManagerAddress}, and DQ is 7"


@passive("MQMQ-2.2.19.2-08", USER_MESSAGE_KIND, f"RC of the UserHeader is at most 0x{HIGHEST_HOP_COUNT:X}")
def check_hop_count(packet: Any, context: Context) -> Finding:
    """Check that RC, the number of hops of a message, is at most the highest allowed number."""
    return packet.UserHeader.RC <= HIGHEST_HOP_COUNT, f"RC is 0x{packet.UserHeader.RC:X}"


@passive("MQMQ-2.2.19.2-09", USER_MESSAGE_KIND, "DM of the UserHeader is 0 or 1")
def check_delivery_mode(packet: Any, context: Context) -> Finding:
    """Check that DM has a defined value."""
    return packet.UserHeader.DM in (0, 1), f"DM is {packet.UserHeader.DM}"


def make_defined_value_predicate(flag: str, allowed: tuple[int, ...]) -> Predicate:
    """Return a predicate that checks that DQ, AQ or RQ has a defined value."""

    def judge_value(packet: Any, context: Context) -> Finding:
        if not is_user_message(context.frame.data):
            return None
        value = getattr(read_user_header_flags(context.frame.data), flag)
        return value in allowed, f"{flag} is {value}"

    return judge_value


passive("MQMQ-2.2.19.2-15", (USER_MESSAGE_KIND, MALFORMED_PACKET_KIND), "DQ of the UserHeader is 0, 3, 5 or 7")(
    make_defined_value_predicate("DQ", (0, 3, 5, 7))
)
passive("MQMQ-2.2.19.2-16", (USER_MESSAGE_KIND, MALFORMED_PACKET_KIND), "AQ of the UserHeader is 0, 2, 3, 5, 6 or 7")(
    make_defined_value_predicate("AQ", (0, 2, 3, 5, 6, 7))
)


for rule, flag, part in (
    ("MQMQ-2.2.19.2-18", "SH", "SecurityHeader"),
    ("MQMQ-2.2.19.2-19", "TH", "TransactionHeader"),
    ("MQMQ-2.2.19.2-22", "CQ", "ConnectorType"),
    ("MQMQ-2.2.19.2-23", "MQ", "MultiQueueFormatHeader"),
    ("MQMQ-2.2.19.2-27", "HH", "SoapHeader"),
    ("MQMQ-2.2.19.2-38", "CQ", "ConnectorType"),
):
    passive(rule, (USER_MESSAGE_KIND, MALFORMED_PACKET_KIND), f"{part} is present if and only if {flag} is set")(
        make_part_presence_predicate(USER_HEADER_NAME, flag, part)
    )


@passive("MQMQ-2.2.19.2-20", USER_MESSAGE_KIND, "DM is not 0 if TH is 1")
def check_transactional_is_recoverable(packet: Any, context: Context) -> Finding:
    """Check that transactional messages are recoverable."""
    if not packet.UserHeader.TH:
        return None
    return packet.UserHeader.DM != 0, f"TH is 1, and DM is {packet.UserHeader.DM}"


passive("MQMQ-2.2.19.2-21", (USER_MESSAGE_KIND, MALFORMED_PACKET_KIND), "MP of the UserHeader is 1")(
    check_properties_present
)


@passive("MQMQ-2.2.19.2-25", USER_MESSAGE_KIND, "AH of the UserHeader is 0")
def check_ah_bit_is_clear(packet: Any, context: Context) -> Finding:
    """Check that AH, the flag of messages that arrived over HTTP, is 0."""
    return packet.UserHeader.AH == 0, f"AH is {packet.UserHeader.AH}"


QUEUE_TYPES_WITH_NAME_FIELD = (2, 5, 6, 7)
"""Values of AQ or RQ, one for each layout of a queue name."""


def make_queue_name_predicate(flag: str, queue: str, kinds: tuple[int, ...], *, there: bool) -> Predicate:
    """Return a predicate that checks whether a queue name is present, or missing, as required when its flag has one of
    the given values.
    """
    others = (0,) if there else QUEUE_TYPES_WITH_NAME_FIELD
    present, opposite = ("present", "missing") if there else ("missing", "present")

    def judge_name_presence(packet: Any, context: Context) -> Finding:
        data = context.frame.data
        if not is_user_message(data):
            return None
        value = getattr(read_user_header_flags(data), flag)
        if value not in kinds:
            return None
        if not isinstance(packet, FormatError):
            return True, f"{flag} is {value}, and {queue} is {present}"
        return (
            (False, f"{flag} is {value}, and {queue} is {opposite}")
            if is_valid_after_flag_is_set(data, USER_HEADER_NAME, flag, *others)
            else None
        )

    return judge_name_presence


for rule, flag, queue, kinds, there in (
    ("MQMQ-2.2.19.2-32", "AQ", "AdminQueue", (2, 3, 5, 6, 7), True),
    ("MQMQ-2.2.19.2-33", "AQ", "AdminQueue", (0,), False),
    ("MQMQ-2.2.19.2-35", "RQ", "ResponseQueue", (2, 3, 5, 6, 7), True),
    ("MQMQ-2.2.19.2-36", "RQ", "ResponseQueue", (0,), False),
):
    expected = f"{queue} is present if {flag} is 2, 3, 5, 6 or 7" if there else f"{queue} is missing if {flag} is 0"
    passive(rule, (USER_MESSAGE_KIND, MALFORMED_PACKET_KIND), expected)(
        make_queue_name_predicate(flag, queue, kinds, there=there)
    )

passive("MQMQ-2.2.19.2-07", USER_MESSAGE_KIND, "each message of the SUT has a unique MessageID", of_system=True)(
    check_message_id_ordinal
)
