"""Predicates on the layout of internal packets. Spec: MS-MQQB 2.2.2, 2.2.3.

A packet whose size equals its PacketSize can still be shorter or longer than its headers.
"""

from __future__ import annotations

from typing import Any

from harness.capture.recorder import MALFORMED
from harness.judging.passive import Context, Finding, Predicate, passive
from reference_qm.codec import FormatError

PT_OFFSET, IN_BIT = 18, 1 << 3
PACKET_SIZES = (572, 32, 36)
"""Sizes of the three internal packets. A packet with the size of a different kind has a wrong PT, not a wrong layout.
"""


def register_layout(rule: str, kind: str, part: str, size: int, *, packet_type: int | None = None) -> None:
    """Register the predicate that demands the size of a part: a header, or a whole packet without trailing bytes.

    ``packet_type``: the PT of a packet whose wrong PacketSize also breaks the rule.
    """
    passive(rule, (kind, MALFORMED), f"{part} has {size} bytes", decisive=True)(_demand_size(part, size, packet_type))


def _demand_size(part: str, size: int, packet_type: int | None) -> Predicate:
    def judge_size(packet: Any, context: Context) -> Finding:
        if context.frame.transport != "tcp":
            return None
        if isinstance(packet, FormatError):
            blamed = packet.field.partition(".")[0] == part or _has_wrong_size(packet, context.frame.data, packet_type)
            return (False, str(packet)) if blamed and context.frame.size not in PACKET_SIZES else None
        return True, f"{part} has {size} bytes"

    return judge_size


def _has_wrong_size(error: FormatError, data: bytes, packet_type: int | None) -> bool:
    """Return whether a packet with IN set has this PT, and is refused because of its PacketSize."""
    refused = packet_type is not None and error.field == "BaseHeader.PacketSize" and len(data) > PT_OFFSET
    return refused and bool(data[2] & IN_BIT) and data[PT_OFFSET] & 0xF == packet_type
