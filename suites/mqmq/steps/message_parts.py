"""Predicates on a part of a message, which check whether the part is present and well-formed.

Spec: MS-MQMQ 2.2.19.2, 2.2.20. A malformed message breaks the rule about a flag if a change of that flag would make the
message well-formed. If this holds for several flags, the message breaks the rule about each of them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from harness.judging.passive import Context, Finding, NotExercised, Predicate
from reference_qm.codec import FormatError
from suites.mqmq.steps.message_bytes import (
    PROPERTIES_HEADER_FIXED_BYTES,
    find_properties_header_offset,
    is_user_message,
    is_valid_after_flag_is_set,
    read_packet_size,
    read_user_header_flags,
)

MessagePartJudgment = Callable[[Any, Any], Finding]
"""A predicate that is called with a part of a message and the message."""


def judge_message_part(name: str) -> Callable[[MessagePartJudgment], Predicate]:
    """Apply a predicate only to messages with a part, such as ``SecurityHeader``."""

    def make_part_predicate(judge_part: MessagePartJudgment) -> Predicate:
        @wraps(judge_part)
        def judge_packet(packet: Any, context: Context) -> Finding:
            part = getattr(packet, name)
            return None if part is None else judge_part(part, packet)

        return judge_packet

    return make_part_predicate


def make_well_formed_part_predicate(part: str, *fields: str) -> Predicate:
    """Return a predicate that checks that a part is well-formed; `fields` are prefixes of the names that the codec
    gives malformed fields.
    """

    def judge_part_form(packet: Any, context: Context) -> Finding:
        if isinstance(packet, FormatError):
            return (False, str(packet)) if packet.field.startswith(fields) else None
        return None if getattr(packet, part) is None else (True, f"the {part} is well-formed")

    return judge_part_form


def make_part_presence_predicate(header: str, flag: str, part: str) -> Predicate:
    """Return a predicate that checks that a part is present if and only if its flag is set; a clear flag does not
    exercise the rule.
    """

    def judge_part_presence(packet: Any, context: Context) -> Finding:
        data = context.frame.data
        if not isinstance(packet, FormatError):
            holder = getattr(packet, header)
            if holder is None:
                return None
            return (
                (True, f"{flag} is 1, and {part} is present")
                if getattr(holder, flag)
                else NotExercised(f"{flag} is 0, and {part} is missing")
            )
        if not is_user_message(data) or not is_valid_after_flag_is_set(data, header, flag, 0, 1):
            return None
        return False, f"{flag} does not match the presence of {part}: {packet}"

    return judge_part_presence


def check_properties_present(packet: Any, context: Context) -> Finding:
    """Check that MP is set and the MessagePropertiesHeader is present."""
    data = context.frame.data
    if not is_user_message(data):
        return None
    if not isinstance(packet, FormatError):
        return True, "MP is 1, and the MessagePropertiesHeader is present"
    if not read_user_header_flags(data).MP:
        return False, "UserHeader.MP is 0"
    start = find_properties_header_offset(data)
    if start is None or start + PROPERTIES_HEADER_FIXED_BYTES <= read_packet_size(data):
        return None
    return False, "the packet ends before the end of the fixed fields of the MessagePropertiesHeader"
