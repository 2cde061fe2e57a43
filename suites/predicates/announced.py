"""What the flags of a message announce is there, and nothing else. Spec: MS-MQMQ 2.2.19.2, 2.2.20, 2.2.20.5.

A flag is blamed for a malformed message when the message would be whole with the flag changed; where the bytes
cannot tell which of several it is, each is.
"""

from __future__ import annotations

from typing import Any

from harness.judging.passive import MALFORMED, Context, Finding, Predicate, passive
from reference_qm.codec import FormatError
from suites.predicates.raw import BASE, TRANSACTION, USER, heals, is_message, user_flags

MESSAGE = ("UserMessage", MALFORMED)
QUEUE_LAYOUTS = (2, 5, 6, 7)
"""One value for each layout that the name of an administration or response queue has."""


def announced(header: str, flag: str, part: str) -> Predicate:
    """Demand that a part is there if and only if its flag is set."""

    def predicate(packet: Any, context: Context) -> Finding:
        data = context.frame.data
        if not isinstance(packet, FormatError):
            holder = getattr(packet, header)
            return None if holder is None else (True, f"{flag} is {getattr(holder, flag)}, and {part} accordingly")
        if not is_message(data) or not heals(data, header, flag, 0, 1):
            return None
        return False, f"{flag} tells the opposite of whether {part} is there: {packet}"

    return predicate


for _header, _flag, _part, _rules in (
    (USER, "TH", "TransactionHeader", ("MQMQ-2.2.19.2-19", "MQMQ-2.2.20-03")),
    (USER, "SH", "SecurityHeader", ("MQMQ-2.2.19.2-18", "MQMQ-2.2.20-04")),
    (USER, "CQ", "ConnectorType", ("MQMQ-2.2.19.2-22", "MQMQ-2.2.19.2-38")),
    (USER, "MQ", "MultiQueueFormatHeader", ("MQMQ-2.2.19.2-23", "MQMQ-2.2.20-08")),
    (USER, "HH", "SoapHeader", ("MQMQ-2.2.19.2-27", "MQMQ-2.2.20-07")),
    (BASE, "DH", "DebugHeader", ("MQMQ-2.2.20-06",)),
    (TRANSACTION, "CG", "ConnectorQMGuid", ("MQMQ-2.2.20.5-03", "MQMQ-2.2.20.5-20")),
):
    for _rule in _rules:
        passive(_rule, MESSAGE, f"{_part} is there if and only if {_flag} is set")(announced(_header, _flag, _part))


def present(flag: str, queue: str, kinds: tuple[int, ...], *, wanted: bool) -> Predicate:
    """Demand that the name of a queue is there, or is not, for some values of its flag."""
    others = (0,) if wanted else QUEUE_LAYOUTS
    absent = "not there" if wanted else "there"

    def predicate(packet: Any, context: Context) -> Finding:
        data = context.frame.data
        if not is_message(data):
            return None
        value = getattr(user_flags(data), flag)
        if value not in kinds:
            return None
        if not isinstance(packet, FormatError):
            return True, f"{flag} is {value}, and {queue} is {'' if wanted else 'not '}there"
        return (False, f"{flag} is {value}, and {queue} is {absent}") if heals(data, USER, flag, *others) else None

    return predicate


NAMED = (2, 3, 5, 6, 7)
for _rule, _flag, _queue, _kinds, _wanted in (
    ("MQMQ-2.2.19.2-32", "AQ", "AdminQueue", NAMED, True),
    ("MQMQ-2.2.19.2-33", "AQ", "AdminQueue", (0,), False),
    ("MQMQ-2.2.19.2-35", "RQ", "ResponseQueue", NAMED, True),
    ("MQMQ-2.2.19.2-36", "RQ", "ResponseQueue", (0, 1), False),
):
    _there = "is there" if _wanted else "is not there"
    passive(_rule, MESSAGE, f"{_queue} {_there} with {_flag} {', '.join(map(str, _kinds))}")(
        present(_flag, _queue, _kinds, wanted=_wanted)
    )


@passive("MQMQ-2.2.19.2-21", MESSAGE, "MP is 1")
@passive("MQMQ-2.2.20-01", MESSAGE, "MP is 1, and the MessagePropertiesHeader is there")
@passive("MQMQ-2.2.20-05", MESSAGE, "MP is 1, and the MessagePropertiesHeader is there")
def properties_are_there(packet: Any, context: Context) -> Finding:
    """MS-MQMQ 2.2.19.2, 2.2.20: MP is always set, its header always there."""
    if not is_message(context.frame.data):
        return None
    if not isinstance(packet, FormatError):
        return True, "MP is 1, and the MessagePropertiesHeader is there"
    return None if user_flags(context.frame.data).MP else (False, "MP is 0")


@passive("MQMQ-2.2.20-02", (*MESSAGE, "unknown internal"), "IN is 0 in a message")
def no_internal_message(packet: Any, context: Context) -> Finding:
    """MS-MQMQ 2.2.20: what is a message but for IN is no internal packet."""
    data = context.frame.data
    if context.frame.kind == "UserMessage":
        return True, "IN is 0"
    return (False, "IN is 1 in what else is a message") if heals(data, BASE, "IN", 0) else None
