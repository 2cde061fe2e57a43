"""Predicates on a part of a message, whichever it is: whether it is there, and whether it can be read.

Spec: MS-MQMQ 2.2.19.2, 2.2.20. A flag is blamed for a malformed message when the message would be whole with the flag
changed; where the bytes do not show which of several it is, each is.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from harness.judging.passive import Context, Finding, NotExercised, Predicate
from reference_qm.codec import FormatError
from suites.mqmq.steps.message_bytes import heals, is_message, user_flags

JudgePart = Callable[[Any, Any], Finding]
"""A predicate on a part of a message, and the message."""


def of_part(name: str) -> Callable[[JudgePart], Predicate]:
    """Show a predicate only the messages that have a part, such as ``SecurityHeader``."""

    def decorate(judge_part: JudgePart) -> Predicate:
        @wraps(judge_part)
        def predicate(packet: Any, context: Context) -> Finding:
            part = getattr(packet, name)
            return None if part is None else judge_part(part, packet)

        return predicate

    return decorate


def well_formed(part: str, *fields: str) -> Predicate:
    """Demand a part that can be read; ``fields`` begin the names of those that the codec stops at when it cannot."""

    def predicate(packet: Any, context: Context) -> Finding:
        if isinstance(packet, FormatError):
            return (False, str(packet)) if packet.field.startswith(fields) else None
        return None if getattr(packet, part) is None else (True, f"the {part} is whole")

    return predicate


def there_if_and_only_if(header: str, flag: str, part: str) -> Predicate:
    """Demand that a part is there if and only if its flag in a header is set; a clear flag alone shows nothing."""

    def predicate(packet: Any, context: Context) -> Finding:
        data = context.frame.data
        if not isinstance(packet, FormatError):
            holder = getattr(packet, header)
            if holder is None:
                return None
            return (
                (True, f"{flag} is 1, and {part} is there") if getattr(holder, flag) else NotExercised(f"{flag} is 0")
            )
        if not is_message(data) or not heals(data, header, flag, 0, 1):
            return None
        return False, f"{flag} is the opposite of whether {part} is there: {packet}"

    return predicate


def properties_are_there(packet: Any, context: Context) -> Finding:
    """Demand MP: it is always set, its header always there."""
    if not is_message(context.frame.data):
        return None
    if not isinstance(packet, FormatError):
        return True, "MP is 1, and the MessagePropertiesHeader is there"
    return None if user_flags(context.frame.data).MP else (False, "MP is 0")
