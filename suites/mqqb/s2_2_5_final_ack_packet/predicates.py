"""Judge every FinalAck. Spec: MS-MQQB 2.2.5."""

from __future__ import annotations

from typing import Any

from harness.judging.passive import Finding, passive
from suites.mqqb.steps.order_and_final_acks import (
    MESSAGE,
    applies_to_acknowledgment,
    base_flags,
    body_size,
    body_type,
    direct_name,
    is_final_ack,
    judge_acknowledgments,
    label,
    other_bits,
    private_name,
    property_flags,
)
from suites.mqqb.steps.transactional_acks import has_field_of_message

judge_acknowledgments(
    is_final_ack,
    mp="MQQB-2.2.5-02",
    rules={
        base_flags: "MQQB-2.2.5-01",
        other_bits: "MQQB-2.2.5-04",
        private_name: "MQQB-2.2.5-05",
        direct_name: "MQQB-2.2.5-06",
        label: "MQQB-2.2.5-08",
        body_size: "MQQB-2.2.5-09",
        property_flags: "MQQB-2.2.5-10",
        body_type: "MQQB-2.2.5-23",
    },
)


@passive("MQQB-2.2.5-03", MESSAGE, "DM is 1")
@applies_to_acknowledgment(is_final_ack)
def is_recoverable(packet: Any) -> Finding:
    """Demand a recoverable message."""
    return packet.UserHeader.DM == 1, f"DM is {packet.UserHeader.DM}"


for rule, field, of_message in (
    ("MQQB-2.2.5-24", "TxSequenceID", ""),
    ("MQQB-2.2.5.1-01", "TxSequenceID", ""),
    ("MQQB-2.2.5.1-02", "TxSequenceNumber", ""),
    ("MQQB-2.2.5.1-03", "TxPreviousSequenceNumber", "PreviousTxSequenceNumber"),
):
    passive(rule, MESSAGE, f"{field} is that of the message", of_system=True)(has_field_of_message(field, of_message))
