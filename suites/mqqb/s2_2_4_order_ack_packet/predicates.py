"""Judge every OrderAck. Spec: MS-MQQB 2.2.4, 2.2.4.1."""

from __future__ import annotations

from typing import Any

from harness.capture.recorder import MALFORMED
from harness.judging.passive import Finding, NotExercised, passive
from reference_qm.codec import FormatError, MessageClass, OrderAckBody
from suites.mqmq.steps.message_bytes import USER
from suites.mqqb.steps.order_and_final_acks import (
    base_flags,
    body_size,
    body_type,
    direct_name,
    flag_of_acknowledgment,
    is_order_ack,
    label,
    of_acknowledgment,
    other_bits,
    private_name,
    property_flags,
)

MESSAGE = "UserMessage"

for rule, expected, judge_packet in (
    ("MQQB-2.2.4-01", "BaseHeader.Flags is 0", base_flags),
    (
        "MQQB-2.2.4-03",
        "All other bits of UserHeader.Flags are 0 but for DQ, 3 or 7, and DM (of an OrderAck see E36)",
        other_bits,
    ),
    ("MQQB-2.2.4-04", "The private queue is that of order_queue$", private_name),
    ("MQQB-2.2.4-05", "The direct name has an address and order_queue$", direct_name),
    ("MQQB-2.2.4-07", "The label is the one printed", label),
    ("MQQB-2.2.4-08", "MessageSize is 0x24", body_size),
    ("MQQB-2.2.4-09", "MessagePropertiesHeader.Flags is 0", property_flags),
    ("MQQB-2.2.4-11", "BodyType is VT_EMPTY", body_type),
):
    passive(rule, MESSAGE, expected)(of_acknowledgment(is_order_ack)(judge_packet))

passive("MQQB-2.2.4-02", (MESSAGE, MALFORMED, "unknown internal"), "MP is 1")(
    flag_of_acknowledgment(USER, "MP", 1, is_order_ack)
)


@passive("MQQB-2.2.4-10", MESSAGE, "MessageClass is MQMSG_CLASS_ORDER_ACK")
@of_acknowledgment(is_order_ack)
def order_class(packet: Any) -> Finding:
    """Demand the class of an OrderAck."""
    value = packet.MessagePropertiesHeader.MessageClass
    return value == MessageClass.MQMSG_CLASS_ORDER_ACK, f"MessageClass is 0x{value:04X}"


@passive("MQQB-2.2.4.1-03", MESSAGE, "TxPreviousSequenceNumber is one less than TxSequenceNumber")
@of_acknowledgment(is_order_ack)
def previous_number(packet: Any) -> Finding:
    """Compare the two numbers of the body; before 0, of nothing (E39), there is no number."""
    try:
        body = OrderAckBody.parse(packet.MessagePropertiesHeader.MessageBody)
    except FormatError:
        return None
    if not body.TxSequenceNumber:
        return NotExercised("TxSequenceNumber is 0 (E39)")
    kept = body.TxPreviousSequenceNumber == body.TxSequenceNumber - 1
    return kept, f"{body.TxPreviousSequenceNumber} before {body.TxSequenceNumber}"
