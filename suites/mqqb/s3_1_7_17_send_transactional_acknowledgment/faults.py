"""Faults of MS-MQQB 3.1.7.17 Send Transactional Acknowledgment."""

from __future__ import annotations

from harness.faults.fields import field_is
from harness.faults.parts import fault
from harness.faults.primitives import packets, wrong_fields
from harness.faults.registry import add
from reference_qm.codec import FinalAckBody, MessageClass, OrderAckBody, UserMessagePacket
from reference_qm.core.protocol.order_acks import OrderAcks, is_final_ack, is_order_ack
from reference_qm.surface.clock import Now


def _is_acknowledgment(packet: UserMessagePacket) -> bool:
    return is_order_ack(packet) or is_final_ack(packet)


@fault("transactional-ack-identifier", breaks="MQQB-3.1.7.17-03")
class SameIdentifierForAll(OrderAcks):
    """All acknowledgments have one MessageID."""

    def send_transactional_ack(
        self, name: str, message_class: MessageClass, body: OrderAckBody | FinalAckBody, now: Now
    ) -> None:
        ordinal = self.qm.adm.MessageIdOrdinal
        super().send_transactional_ack(name, message_class, body, now)
        self.qm.adm.MessageIdOrdinal = ordinal


add(
    "transactional-ack-class",
    "MQQB-3.1.7.17-04",
    "Every FinalAck is of class NACK_Q_DELETED.",
    field_is(
        UserMessagePacket,
        "MessagePropertiesHeader.MessageClass",
        int(MessageClass.MQMSG_CLASS_NACK_Q_DELETED),
        is_final_ack,
    ),
)
add(
    "transactional-ack-priority",
    "MQQB-3.1.7.17-05",
    "An acknowledgment has priority 3.",
    field_is(UserMessagePacket, "BaseHeader.PR", 3, _is_acknowledgment),
)
add(
    "transactional-ack-body",
    "MQQB-3.1.7.17-06",
    "An OrderAck has the number 0.",
    wrong_fields(
        UserMessagePacket,
        {"MessagePropertiesHeader.MessageBody": lambda body: body[:8] + bytes(4) + body[12:]},
        is_order_ack,
    ),
)
add(
    "transactional-ack-queue",
    "MQQB-3.1.7.17-07",
    "An acknowledgment is for order$.",
    wrong_fields(
        UserMessagePacket,
        {"UserHeader.DestinationQueue.DirectFormatName": lambda name: name.replace("order_queue$", "order$")},
        _is_acknowledgment,
    ),
)
add(
    "transactional-ack-dropped",
    "MQQB-3.1.7.17-11",
    "No acknowledgment is sent.",
    packets(UserMessagePacket, lambda packet: None, _is_acknowledgment),
)
