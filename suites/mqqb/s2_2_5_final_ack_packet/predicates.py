"""Judge every FinalAck. Spec: MS-MQQB 2.2.5."""

from __future__ import annotations

from typing import Any

from harness.judging.passive import Finding, passive
from suites.mqqb.steps.order_and_final_acks import (
    USER_MESSAGE_KIND,
    apply_predicate_to_order_and_final_acks,
    check_acknowledgment_body_size,
    check_acknowledgment_body_type,
    check_base_header_flags_are_zero,
    check_destination_by_direct_name,
    check_destination_by_private_name,
    check_ordering_ack_label,
    check_properties_header_flags_are_zero,
    check_user_flags_except_mp_dm_and_dq_are_zero,
    is_final_ack,
    register_acknowledgment_predicates,
)
from suites.mqqb.steps.transactional_acks import make_field_of_message_predicate

register_acknowledgment_predicates(
    is_final_ack,
    mp="MQQB-2.2.5-02",
    rules={
        check_base_header_flags_are_zero: "MQQB-2.2.5-01",
        check_user_flags_except_mp_dm_and_dq_are_zero: "MQQB-2.2.5-04",
        check_destination_by_private_name: "MQQB-2.2.5-05",
        check_destination_by_direct_name: "MQQB-2.2.5-06",
        check_ordering_ack_label: "MQQB-2.2.5-08",
        check_acknowledgment_body_size: "MQQB-2.2.5-09",
        check_properties_header_flags_are_zero: "MQQB-2.2.5-10",
        check_acknowledgment_body_type: "MQQB-2.2.5-23",
    },
)


@passive("MQQB-2.2.5-03", USER_MESSAGE_KIND, "DM of a FinalAck is 1")
@apply_predicate_to_order_and_final_acks(is_final_ack)
def check_recoverable_final_ack(packet: Any) -> Finding:
    """Check that DM of a FinalAck is 1, which means recoverable."""
    return packet.UserHeader.DM == 1, f"DM is {packet.UserHeader.DM}"


for rule, field, of_message in (
    ("MQQB-2.2.5-24", "TxSequenceID", ""),
    ("MQQB-2.2.5.1-01", "TxSequenceID", ""),
    ("MQQB-2.2.5.1-02", "TxSequenceNumber", ""),
    ("MQQB-2.2.5.1-03", "TxPreviousSequenceNumber", "PreviousTxSequenceNumber"),
):
    passive(rule, USER_MESSAGE_KIND, f"{field} equals {of_message or field} of the message", of_system=True)(
        make_field_of_message_predicate(field, of_message)
    )
