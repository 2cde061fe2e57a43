"""Predicates about the layout of internal packets. Spec: MS-MQQB 2.2.2, 2.2.3.

A packet whose size equals its PacketSize can still be shorter or longer than its headers.
"""

from __future__ import annotations

from typing import Any

from harness.capture.recorder import MALFORMED_PACKET_KIND
from harness.judging.passive import Context, Finding, Predicate, passive
from reference_qm.codec import FormatError

PACKET_SIZES = (572, 32, 36)
"""The sizes of the three kinds of internal packets. A packet with the size of a different kind has a wrong PT, not a
wrong layout.
"""


def register_layout_predicate(rule: str, kind: str, part: str, size: int) -> None:
    """Register a predicate that checks the size of a part of a packet. The part is a header, or the whole packet
    without trailing bytes.
    """
    passive(rule, (kind, MALFORMED_PACKET_KIND), f"{part} has {size} bytes", decisive=True)(
        _make_size_predicate(part, size)
    )


def _make_size_predicate(part: str, size: int) -> Predicate:
    def judge_size(packet: Any, context: Context) -> Finding:
        if context.frame.transport != "tcp":
            return None
        if isinstance(packet, FormatError):
            blamed = packet.field.partition(".")[0] == part and context.frame.size not in PACKET_SIZES
            return (False, str(packet)) if blamed else None
        return True, f"{part} has {size} bytes"

    return judge_size
