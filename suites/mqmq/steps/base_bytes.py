"""Predicates on the BaseHeader as it is on the wire, of packets that are malformed too. Spec: MS-MQMQ 2.2.19.1."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from harness.capture.recorder import MALFORMED, Frame
from harness.judging.passive import Context, Finding, Predicate
from reference_qm.codec import BaseHeader, FormatError
from reference_qm.codec.base import BASE_HEADER_SIZE, SESSION_ACK_SIZES, SESSION_HEADER_SIZE

OF_A_STREAM = (
    "EstablishConnection",
    "ConnectionParameters",
    "SessionAck",
    "UserMessage",
    "unknown internal",
    MALFORMED,
)
NOTHING_BEGINS, AFTER = "BaseHeader", "stream"
"""The fields that are named where no packet begins, and in what comes after it."""

JudgeBytes = Callable[[bytes], Finding]


def of_packets(judge_bytes: JudgeBytes) -> Predicate:
    """Show a predicate the bytes of everything on a stream that is meant as a packet; what is none keeps nothing."""

    @wraps(judge_bytes)
    def predicate(packet: Any, context: Context) -> Finding:
        frame = context.frame
        meant = frame.transport == "tcp" and frame.size >= BASE_HEADER_SIZE and not is_no_packet(frame)
        finding = judge_bytes(frame.data) if meant else None
        return None if isinstance(packet, FormatError) and isinstance(finding, tuple) and finding[0] else finding

    return predicate


def size_counts_packet(data: bytes) -> Finding:
    """Compare PacketSize with the bytes that there are, but for a message's SessionHeader; of SessionAcks see E01."""
    base = BaseHeader(Flags=int.from_bytes(data[2:4], "little"))
    said, there = int.from_bytes(data[8:12], "little"), len(data)
    observed = f"PacketSize is 0x{said:X}, the packet has 0x{there:X} bytes"
    if base.IN and base.SH:
        return said in SESSION_ACK_SIZES, observed
    return said == there - (SESSION_HEADER_SIZE if base.SH else 0), observed


def is_no_packet(frame: Frame) -> bool:
    """Return whether bytes of a stream are those at which it could not be cut into packets any more."""
    return frame.error is not None and frame.error.field in (NOTHING_BEGINS, AFTER)
