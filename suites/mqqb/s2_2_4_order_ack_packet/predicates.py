"""Judge every OrderAck. Spec: MS-MQQB 2.2.4, 2.2.4.1."""

from __future__ import annotations

from typing import Any

from harness.expectations.numbers import show_integer
from harness.judging.passive import Finding, NotExercised, passive
from reference_qm.codec import FormatError, MessageClass, OrderAckBody
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
    is_order_ack,
    register_acknowledgment_predicates,
)
from suites.mqqb.steps.transactional_acks import (
    apply_predicate_to_order_acks_of_receiver,
    check_number_was_received,
    check_order_ack_body,
    check_sequence_was_received,
)

register_acknowledgment_predicates(
    is_order_ack,
    mp="MQQB-2.2.4-02",
    rules={
        check_base_header_flags_are_zero: "MQQB-2.2.4-01",
        check_user_flags_except_mp_dm_and_dq_are_zero: "MQQB-2.2.4-03",
        check_destination_by_private_name: "MQQB-2.2.4-04",
        check_destination_by_direct_name: "MQQB-2.2.4-05",
        check_ordering_ack_label: "MQQB-2.2.4-07",
        check_acknowledgment_body_size: "MQQB-2.2.4-08",
        check_properties_header_flags_are_zero: "MQQB-2.2.4-09",
        check_acknowledgment_body_type: "MQQB-2.2.4-11",
    },
)


@passive("MQQB-2.2.4-10", USER_MESSAGE_KIND, "MessageClass of an OrderAck is 0xFF (ORDER_ACK)")
@apply_predicate_to_order_and_final_acks(is_order_ack)
def check_order_ack_class(packet: Any) -> Finding:
    """Check that the class of an OrderAck is MQMSG_CLASS_ORDER_ACK."""
    value = packet.MessagePropertiesHeader.MessageClass
    return value == MessageClass.MQMSG_CLASS_ORDER_ACK, f"MessageClass is {show_integer(value, 'MessageClass')}"


@passive("MQQB-2.2.4.1-03", USER_MESSAGE_KIND, "TxPreviousSequenceNumber is one less than TxSequenceNumber")
@apply_predicate_to_order_and_final_acks(is_order_ack)
def check_previous_number_of_order_ack(packet: Any) -> Finding:
    """Check that TxPreviousSequenceNumber is TxSequenceNumber minus one. TxSequenceNumber 0, which a receiver may send
    before any message arrives (erratum E39), is not judged.
    """
    try:
        body = OrderAckBody.parse(packet.MessagePropertiesHeader.MessageBody)
    except FormatError:
        return None
    if not body.TxSequenceNumber:
        return NotExercised("TxSequenceNumber is 0 (E39)")
    kept = body.TxPreviousSequenceNumber == body.TxSequenceNumber - 1
    return (
        kept,
        f"TxPreviousSequenceNumber is {body.TxPreviousSequenceNumber}, and TxSequenceNumber is {body.TxSequenceNumber}",
    )


passive("MQQB-2.2.4.1-D01", USER_MESSAGE_KIND, "the body has the layout of MS-MQQB 2.2.4.1", of_system=True)(
    check_order_ack_body
)

for rule in ("MQQB-2.2.4-12", "MQQB-2.2.4.1-01"):
    passive(rule, USER_MESSAGE_KIND, "TxSequenceID equals TxSequenceID of received messages", of_system=True)(
        apply_predicate_to_order_acks_of_receiver(check_sequence_was_received)
    )

passive(
    "MQQB-2.2.4.1-02",
    USER_MESSAGE_KIND,
    "TxSequenceNumber equals TxSequenceNumber of a received message",
    of_system=True,
)(apply_predicate_to_order_acks_of_receiver(check_number_was_received))
