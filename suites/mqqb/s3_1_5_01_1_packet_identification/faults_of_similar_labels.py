"""Faults of MS-MQQB 3.1.5.1.1 Identifying Packet Type: the sender treats messages that are not order acknowledgments as
order acknowledgments.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import replace_part
from harness.faults.primitives import set_fields
from harness.faults.registry import Install, add
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.names.queue_names import is_for_order_queue
from reference_qm.core.transfer.message_receiving import MessageReceiving
from reference_qm.core.transfer.order_acks import FIRST_FINAL_ACK_CLASS, ORDER_ACK_LABEL
from reference_qm.model.adm import RecoverableReceipt, Session
from reference_qm.surface.clock import Now

LABEL_FIELD_PATH = "MessagePropertiesHeader.Label"


def _is_of_final_ack_class(packet: UserMessagePacket) -> bool:
    return packet.MessagePropertiesHeader.MessageClass >= FIRST_FINAL_ACK_CLASS


def _is_of_negative_class(packet: UserMessagePacket) -> bool:
    return packet.MessagePropertiesHeader.MessageClass > MessageClass.MQMSG_CLASS_ACK_RECEIVE


def _is_of_order_ack_class(packet: UserMessagePacket) -> bool:
    return packet.MessagePropertiesHeader.MessageClass == MessageClass.MQMSG_CLASS_ORDER_ACK


def identify_ack_despite_wrong_fields(changes: dict[str, Any], when: Callable[[UserMessagePacket], bool]) -> Install:
    """Return an installer of a fault that identifies a message to the order queue as if some of its fields had other
    values.
    """

    class IdentifiedAnyway(MessageReceiving):
        def put_received_message_into_queue(
            self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
        ) -> None:
            if is_for_order_queue(packet) and when(packet):
                packet = set_fields(packet, changes)
            super().put_received_message_into_queue(session, packet, receipt, now)

    return replace_part(IdentifiedAnyway)


def _has_label_in_other_case(packet: UserMessagePacket) -> bool:
    return (packet.MessagePropertiesHeader.Label or "").lower() == ORDER_ACK_LABEL.lower()


add(
    "sender-order-ack-label-compared-without-case",
    "MQQB-3.1.5.1.1-06",
    "The sender takes a message with the label qm ordering ack in lower case as an OrderAck.",
    identify_ack_despite_wrong_fields(
        {LABEL_FIELD_PATH: ORDER_ACK_LABEL},
        lambda packet: _is_of_order_ack_class(packet) and _has_label_in_other_case(packet),
    ),
    blind=True,
)
add(
    "sender-order-ack-label-with-appended-text-accepted",
    "MQQB-3.1.5.1.1-06",
    "The sender takes a message whose label only begins with QM Ordering Ack as an OrderAck.",
    identify_ack_despite_wrong_fields(
        {LABEL_FIELD_PATH: ORDER_ACK_LABEL},
        lambda packet: (
            _is_of_order_ack_class(packet) and (packet.MessagePropertiesHeader.Label or "").startswith(ORDER_ACK_LABEL)
        ),
    ),
    blind=True,
)
add(
    "sender-final-ack-label-compared-without-case",
    "MQQB-3.1.5.1.1-11",
    "The sender takes a message with the label qm ordering ack in lower case as a FinalAck.",
    identify_ack_despite_wrong_fields(
        {LABEL_FIELD_PATH: ORDER_ACK_LABEL},
        lambda packet: _is_of_final_ack_class(packet) and _has_label_in_other_case(packet),
    ),
    blind=True,
)
add(
    "sender-negative-final-ack-label-not-compared",
    "MQQB-3.1.5.1.1-11",
    "The sender takes a message of a negative class with any label as a FinalAck.",
    identify_ack_despite_wrong_fields({LABEL_FIELD_PATH: ORDER_ACK_LABEL}, _is_of_negative_class),
    blind=True,
)
add(
    "sender-final-ack-with-trace-flag-accepted",
    "MQQB-3.1.5.1.1-09",
    "The sender takes a message with BaseHeader.Flags.TR set as a FinalAck.",
    identify_ack_despite_wrong_fields(
        {"BaseHeader.Flags": 0},
        lambda packet: _is_of_final_ack_class(packet) and bool(packet.BaseHeader.TR),
    ),
    blind=True,
)
add(
    "sender-negative-final-ack-with-any-flags-accepted",
    "MQQB-3.1.5.1.1-09",
    "The sender takes a message of a negative class with any bits in BaseHeader.Flags as a FinalAck.",
    identify_ack_despite_wrong_fields({"BaseHeader.Flags": 0}, _is_of_negative_class),
    blind=True,
)
