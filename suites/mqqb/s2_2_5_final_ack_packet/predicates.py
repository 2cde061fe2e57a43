"""Judge every FinalAck. Spec: MS-MQQB 2.2.5."""

from __future__ import annotations

from typing import Any

from harness.judging.passive import Finding, passive
from suites.mqqb.steps.order_and_final_acks import (
    MESSAGE_KIND,
    apply_to_acknowledgments,
    demand_base_flags,
    demand_body_size,
    demand_body_type,
    demand_direct_name,
    demand_label,
    demand_other_user_flags,
    demand_private_name,
    demand_property_flags,
    is_final_ack,
    judge_acknowledgments,
)
from suites.mqqb.steps.transactional_acks import demand_field_of_message

judge_acknowledgments(
    is_final_ack,
    mp="MQQB-2.2.5-02",
    rules={
        demand_base_flags: "MQQB-2.2.5-01",
        demand_other_user_flags: "MQQB-2.2.5-04",
        demand_private_name: "MQQB-2.2.5-05",
        demand_direct_name: "MQQB-2.2.5-06",
        demand_label: "MQQB-2.2.5-08",
        demand_body_size: "MQQB-2.2.5-09",
        demand_property_flags: "MQQB-2.2.5-10",
        demand_body_type: "MQQB-2.2.5-23",
    },
)


@passive("MQQB-2.2.5-03", MESSAGE_KIND, "DM of a FinalAck is 1")
@apply_to_acknowledgments(is_final_ack)
def demand_recoverable_final_ack(packet: Any) -> Finding:
    """Demand that DM of a FinalAck is 1, which means recoverable."""
    return packet.UserHeader.DM == 1, f"DM is {packet.UserHeader.DM}"


for rule, field, of_message in (
    ("MQQB-2.2.5-24", "TxSequenceID", ""),
    ("MQQB-2.2.5.1-01", "TxSequenceID", ""),
    ("MQQB-2.2.5.1-02", "TxSequenceNumber", ""),
    ("MQQB-2.2.5.1-03", "TxPreviousSequenceNumber", "PreviousTxSequenceNumber"),
):
    passive(rule, MESSAGE_KIND, f"{field} equals {of_message or field} of the message", of_system=True)(
        demand_field_of_message(field, of_message)
    )
