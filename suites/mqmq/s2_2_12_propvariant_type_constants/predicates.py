"""Check the BodyType of OrderAcks and FinalAcks. Spec: MS-MQMQ 2.2.12, MS-MQQB 2.2.4, 2.2.5."""

from __future__ import annotations

from typing import Any

from harness.judging.passive import Context, Finding, passive
from suites.mqqb.steps.order_and_final_acks import is_final_ack, is_order_ack

VT_EMPTY = 0x0000


@passive("MQMQ-2.2.12-D01", "UserMessage", "BodyType of an OrderAck or FinalAck is 0x0000, VT_EMPTY")
def check_body_type_is_empty(packet: Any, context: Context) -> Finding:
    """Check that BodyType of an OrderAck or FinalAck is VT_EMPTY."""
    if not (is_order_ack(packet) or is_final_ack(packet)):
        return None
    value = packet.MessagePropertiesHeader.BodyType
    return value == VT_EMPTY, f"BodyType is 0x{value:04X}"
