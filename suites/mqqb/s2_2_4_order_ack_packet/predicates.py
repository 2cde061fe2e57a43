"""Judge every OrderAck. Spec: MS-MQQB 2.2.4, 2.2.4.1."""

from __future__ import annotations

from typing import Any

from harness.judging.passive import Finding, NotExercised, passive
from reference_qm.codec import FormatError, MessageClass, OrderAckBody
from suites.mqqb.steps.order_and_final_acks import (
    MESSAGE,
    applies_to_acknowledgment,
    base_flags,
    body_size,
    body_type,
    direct_name,
    is_order_ack,
    judge_acknowledgments,
    label,
    other_bits,
    private_name,
    property_flags,
)
from suites.mqqb.steps.transactional_acks import (
    has_a_received_number,
    has_order_ack_body,
    is_of_a_received_sequence,
    order_ack_of_received,
)

judge_acknowledgments(
    is_order_ack,
    mp="MQQB-2.2.4-02",
    rules={
        base_flags: "MQQB-2.2.4-01",
        other_bits: "MQQB-2.2.4-03",
        private_name: "MQQB-2.2.4-04",
        direct_name: "MQQB-2.2.4-05",
        label: "MQQB-2.2.4-07",
        body_size: "MQQB-2.2.4-08",
        property_flags: "MQQB-2.2.4-09",
        body_type: "MQQB-2.2.4-11",
    },
)


@passive("MQQB-2.2.4-10", MESSAGE, "MessageClass is MQMSG_CLASS_ORDER_ACK")
@applies_to_acknowledgment(is_order_ack)
def order_class(packet: Any) -> Finding:
    """Demand the class of an OrderAck."""
    value = packet.MessagePropertiesHeader.MessageClass
    return value == MessageClass.MQMSG_CLASS_ORDER_ACK, f"MessageClass is 0x{value:04X}"


@passive("MQQB-2.2.4.1-03", MESSAGE, "TxPreviousSequenceNumber is one less than TxSequenceNumber")
@applies_to_acknowledgment(is_order_ack)
def previous_number(packet: Any) -> Finding:
    """Compare the two numbers of the body; a TxSequenceNumber of 0, before any message (E39), has no predecessor."""
    try:
        body = OrderAckBody.parse(packet.MessagePropertiesHeader.MessageBody)
    except FormatError:
        return None
    if not body.TxSequenceNumber:
        return NotExercised("TxSequenceNumber is 0 (E39)")
    kept = body.TxPreviousSequenceNumber == body.TxSequenceNumber - 1
    return (
        kept,
        f"TxPreviousSequenceNumber is {body.TxPreviousSequenceNumber}, TxSequenceNumber {body.TxSequenceNumber}",
    )


passive("MQQB-2.2.4.1-D01", MESSAGE, "the body has the layout of 2.2.4.1", of_system=True)(has_order_ack_body)

for rule in ("MQQB-2.2.4-12", "MQQB-2.2.4.1-01"):
    passive(rule, MESSAGE, "TxSequenceID equals that of received messages", of_system=True)(
        order_ack_of_received(is_of_a_received_sequence)
    )

passive("MQQB-2.2.4.1-02", MESSAGE, "TxSequenceNumber equals that of a received message", of_system=True)(
    order_ack_of_received(has_a_received_number)
)
