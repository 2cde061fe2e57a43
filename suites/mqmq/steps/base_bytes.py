"""Predicates on the bytes of the BaseHeader, for well-formed and malformed packets. Spec: MS-MQMQ 2.2.19.1."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from harness.capture.recorder import MALFORMED_PACKET_KIND, Frame
from harness.judging.passive import Context, Finding, Predicate
from reference_qm.codec import BaseHeader, FormatError
from reference_qm.codec.base import BASE_HEADER_SIZE, SESSION_ACK_SIZES, SESSION_HEADER_SIZE

STREAM_PACKET_KINDS = (
    "EstablishConnection",
    "ConnectionParameters",
    "SessionAck",
    "UserMessage",
    "unknown internal",
    MALFORMED_PACKET_KIND,
)
FIELD_OF_ERROR_WITHOUT_PACKET, FIELD_OF_ERROR_AFTER_PACKET = "BaseHeader", "stream"
"""The codec's names for bytes that do not begin a packet, and for the bytes after them."""

BytesJudgment = Callable[[bytes], Finding]


def judge_packet_bytes(judge_bytes: BytesJudgment) -> Predicate:
    """Apply a predicate to the bytes of the packets on a connection. A malformed packet can break a rule, but does not
    count as evidence that the rule is kept.
    """

    @wraps(judge_bytes)
    def judge_packet(packet: Any, context: Context) -> Finding:
        frame = context.frame
        meant = frame.transport == "tcp" and frame.size >= BASE_HEADER_SIZE and not has_no_packet(frame)
        finding = judge_bytes(frame.data) if meant else None
        return None if isinstance(packet, FormatError) and isinstance(finding, tuple) and finding[0] else finding

    return judge_packet


def check_packet_size(data: bytes) -> Finding:
    """Check PacketSize against the size of the packet; the SessionHeader of a message does not count. Erratum E01
    applies to SessionAcks.
    """
    base = BaseHeader(Flags=int.from_bytes(data[2:4], "little"))
    stated, actual = int.from_bytes(data[8:12], "little"), len(data)
    observed = f"PacketSize is {stated}, and the packet has {actual} bytes"
    if base.IN and base.SH:
        return stated in SESSION_ACK_SIZES, observed
    return stated == actual - (SESSION_HEADER_SIZE if base.SH else 0), observed


def has_no_packet(frame: Frame) -> bool:
    """Return whether the codec failed to find a packet in the given bytes, or to find the next packet after them."""
    return frame.error is not None and frame.error.field in (FIELD_OF_ERROR_WITHOUT_PACKET, FIELD_OF_ERROR_AFTER_PACKET)
