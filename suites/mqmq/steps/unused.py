"""Predicates on unused bits and fields in packets that the SUT itself originated.

Spec: MS-MQMQ 2.2.19, 2.2.20. Forwarded messages are not judged, because a queue manager does not change them (MS-MQQB
3.1.5.8.5).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any

from harness.errors import HarnessError
from harness.judging.passive import Context, Finding, Predicate, passive
from reference_qm.codec.record import Bits
from suites.mqmq.steps.source_queue_manager import find_own_queue_manager_identifier

USER_MESSAGE_KIND = "UserMessage"


def is_originated_by_sut(packet: Any, context: Context) -> bool:
    """Return whether the SUT originated a packet. This is true for internal packets, and for messages that the SUT does
    not forward.
    """
    own: bool | None = context.known.get("own")
    if own is None:
        own = context.known["own"] = _is_own_packet(packet, context)
    return own


def _is_own_packet(packet: Any, context: Context) -> bool:
    user = getattr(packet, "UserHeader", None)
    if user is None:
        return True
    own = find_own_queue_manager_identifier(context)
    return not user.RC and own is not None and user.SourceQueueManager == own


def make_zero_value_predicate(header: str, value_of: Callable[[Any], int], name: str) -> Predicate:
    """Return a predicate that checks that a value is 0 in a header of the packets that the SUT originated; `value_of`
    reads the value from the header.
    """

    def judge_unused_bit(packet: Any, context: Context) -> Finding:
        part = getattr(packet, header, None)
        if part is None or not is_originated_by_sut(packet, context):
            return None
        value = value_of(part)
        return value == 0, f"{name} is {value}"

    return judge_unused_bit


def register_unused_bit_predicates(kinds: str | tuple[str, ...], header: type, rules: Mapping[str, str]) -> None:
    """Register a predicate for each rule; it checks that the bits that `rules` names for the rule are 0 in the Flags of
    the header.
    """
    for rule, name in rules.items():
        bits = vars(header).get(name)
        if not isinstance(bits, Bits):
            raise HarnessError(f"{rule}: {header.__name__} has no bits {name}")
        predicate = make_zero_value_predicate(header.__name__, attrgetter(name), name)
        passive(rule, kinds, f"{name} of the {header.__name__} is 0 when sent", advice=True)(predicate)
