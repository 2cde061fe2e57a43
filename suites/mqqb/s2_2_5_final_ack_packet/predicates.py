"""Judge every FinalAck. Spec: MS-MQQB 2.2.5."""

from __future__ import annotations

from typing import Any

from harness.capture.recorder import MALFORMED
from harness.judging.passive import Finding, passive
from suites.mqmq.steps.message_bytes import USER
from suites.mqqb.steps.order_and_final_acks import (
    base_flags,
    body_size,
    body_type,
    direct_name,
    flag_of_acknowledgment,
    is_final_ack,
    label,
    of_acknowledgment,
    other_bits,
    private_name,
    property_flags,
)

MESSAGE = "UserMessage"

for rule, expected, judge_packet in (
    ("MQQB-2.2.5-01", "BaseHeader.Flags is 0", base_flags),
    (
        "MQQB-2.2.5-04",
        "All other bits of UserHeader.Flags are 0 but for DQ, 3 or 7, and DM (of an OrderAck see E36)",
        other_bits,
    ),
    ("MQQB-2.2.5-05", "The private queue is that of order_queue$", private_name),
    ("MQQB-2.2.5-06", "The direct name has an address and order_queue$", direct_name),
    ("MQQB-2.2.5-08", "The label is the one printed", label),
    ("MQQB-2.2.5-09", "MessageSize is 0x24", body_size),
    ("MQQB-2.2.5-10", "MessagePropertiesHeader.Flags is 0", property_flags),
    ("MQQB-2.2.5-23", "BodyType is VT_EMPTY", body_type),
):
    passive(rule, MESSAGE, expected)(of_acknowledgment(is_final_ack)(judge_packet))

passive("MQQB-2.2.5-02", (MESSAGE, MALFORMED, "unknown internal"), "MP is 1")(
    flag_of_acknowledgment(USER, "MP", 1, is_final_ack)
)


@passive("MQQB-2.2.5-03", MESSAGE, "DM is 1")
@of_acknowledgment(is_final_ack)
def is_recoverable(packet: Any) -> Finding:
    """Demand a recoverable message."""
    return packet.UserHeader.DM == 1, f"DM is {packet.UserHeader.DM}"
