"""Predicates on what should not be set in the packets that a system makes itself: bits and fields without a meaning.

Spec: MS-MQMQ 2.2.19, 2.2.20. What it hands on of others stays as it came (MS-MQQB 3.1.5.8.5) and is not looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any

from harness.errors import HarnessError
from harness.judging.passive import Context, Finding, Predicate, passive
from reference_qm.codec.record import Bits
from suites.mqmq.steps.source_queue_manager import own_identifier

MESSAGE = "UserMessage"


def is_own(packet: Any, context: Context) -> bool:
    """Return whether the SUT made a packet: an internal one, or a message that no other queue manager sent first."""
    own: bool | None = context.known.get("own")
    if own is None:
        own = context.known["own"] = _is_own(packet, context)
    return own


def _is_own(packet: Any, context: Context) -> bool:
    user = getattr(packet, "UserHeader", None)
    if user is None:
        return True
    own = own_identifier(context)
    return not user.RC and own is not None and user.SourceQueueManager == own


def not_set(header: str, value_of: Callable[[Any], int], name: str) -> Predicate:
    """Demand 0 in a header of the SUT's own packets; ``value_of`` gets the header."""

    def predicate(packet: Any, context: Context) -> Finding:
        part = getattr(packet, header, None)
        if part is None or not is_own(packet, context):
            return None
        value = value_of(part)
        return value == 0, f"{name} is {value}"

    return predicate


def bits_not_set(kinds: str | tuple[str, ...], header: type, rules: Mapping[str, str]) -> None:
    """Register for each rule that some bits of the Flags of a header, by name, are not set when sent."""
    for rule, name in rules.items():
        bits = vars(header).get(name)
        if not isinstance(bits, Bits):
            raise HarnessError(f"{rule}: {header.__name__} has no bits {name}")
        predicate = not_set(header.__name__, attrgetter(name), name)
        passive(rule, kinds, f"{name} is 0 when sent", advice=True)(predicate)
