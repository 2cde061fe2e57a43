"""Predicates on the layout of internal packets. Spec: MS-MQQB 2.2.2, 2.2.3.

A packet that is as long as its PacketSize says can still be shorter, or longer, than its headers are.
"""

from __future__ import annotations

from typing import Any

from harness.capture.recorder import MALFORMED
from harness.judging.passive import Context, Finding, Predicate, passive
from reference_qm.codec import FormatError

SIZES = (572, 32, 36)
"""Of the internal packets: what has the size of another one has the wrong PT, and not the wrong layout."""


def laid_out(rule: str, kind: str, part: str, size: int) -> None:
    """Register the predicate that demands a part of its size: a header, or a whole packet with nothing behind it."""
    passive(rule, (kind, MALFORMED), f"{part} has {size} bytes", decisive=True)(_is_whole(part, size))


def _is_whole(part: str, size: int) -> Predicate:
    def predicate(packet: Any, context: Context) -> Finding:
        if context.frame.transport != "tcp":
            return None
        if isinstance(packet, FormatError):
            blamed = packet.field.partition(".")[0] == part and context.frame.size not in SIZES
            return (False, str(packet)) if blamed else None
        return True, f"{part} has {size} bytes"

    return predicate
