"""Judges the PacketSize that a message gets when it is serialized to its packet. Spec: MS-MQDMPR 3.1.7.1.32."""

from __future__ import annotations

from harness.capture.recorder import MALFORMED_PACKET_KIND
from harness.judging.passive import Finding, passive
from suites.mqmq.steps.base_bytes import check_packet_size, judge_packet_bytes
from suites.mqmq.steps.message_bytes import is_user_message


@passive(
    "MQDMPR-3.1.7.1.32-04",
    ("UserMessage", MALFORMED_PACKET_KIND),
    "PacketSize is the size of the message without its SessionHeader",
    decisive=True,
)
@judge_packet_bytes
def check_packet_size_of_message(data: bytes) -> Finding:
    """Compare the PacketSize of a message with the number of bytes that the packet has."""
    return check_packet_size(data) if is_user_message(data) else None
