"""Faults that break rules of MS-MQQB 3.1.7.17 for one kind of OrderAck or FinalAck, or for a later acknowledgment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import change_step
from harness.faults.primitives import wrong_fields
from harness.faults.registry import Install, add
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.transfer.order_acks import ORDER_ACK_LABEL
from reference_qm.core.transfer.sending import Sending
from reference_qm.model.adm import Message, MessagePosition, OutgoingQueue
from reference_qm.surface.clock import Now
from suites.mqmq.steps.kinds_of_messages import is_final_ack, is_order_ack

_RECEIVED = MessageClass.MQMSG_CLASS_ACK_RECEIVE
_ORDER_ACK = MessageClass.MQMSG_CLASS_ORDER_ACK
_BODY_TYPE = 8


def _change_acks(when: Callable[[Any, Message], bool], **changes: Any) -> Install:
    """Return an installer of a fault that changes attributes of some OrderAcks and FinalAcks."""

    def run(self: Any, original: Any, queue: OutgoingQueue, position: MessagePosition, now: Now) -> None:
        message = position.MessageReference
        if message.Label == ORDER_ACK_LABEL:
            self.__dict__["acks"] = self.__dict__.get("acks", 0) + 1
            if when(self, message):
                position.MessageReference = replace(message, **changes)
        original(queue, position, now)

    return change_step(Sending.message_position_available, run)


def _is_refusal(packet: Any) -> bool:
    return is_final_ack(packet) and packet.MessagePropertiesHeader.MessageClass != _RECEIVED


def _is_reception(packet: Any) -> bool:
    return is_final_ack(packet) and packet.MessagePropertiesHeader.MessageClass == _RECEIVED


for _name, _rule, _says, _install in (
    (
        "receiver-final-ack-of-received-message-priority-3",
        "MQQB-3.1.7.17-05",
        "The receiver's FinalAck of a received message has priority 3.",
        _change_acks(lambda self, message: message.Class == _RECEIVED, Priority=3),
    ),
    (
        "receiver-second-order-ack-priority-3",
        "MQQB-3.1.7.17-05",
        "The receiver's second and later OrderAcks have priority 3.",
        _change_acks(lambda self, message: message.Class == _ORDER_ACK and self.__dict__["acks"] > 1, Priority=3),
    ),
    (
        "receiver-negative-final-ack-with-body-type",
        "MQQB-3.1.7.17-05",
        "The receiver's FinalAck of a refused message has a body type.",
        _change_acks(lambda self, message: message.Class not in (_RECEIVED, _ORDER_ACK), BodyType=_BODY_TYPE),
    ),
    (
        "receiver-order-ack-privacy-level-1",
        "MQQB-3.1.7.17-D02",
        "The receiver's OrderAck has PrivacyLevel 1.",
        wrong_fields(UserMessagePacket, {"MessagePropertiesHeader.PrivacyLevel": 1}, when=is_order_ack),
    ),
    (
        "receiver-negative-final-ack-privacy-level-1",
        "MQQB-3.1.7.17-D02",
        "The receiver's FinalAck of a refused message has PrivacyLevel 1.",
        wrong_fields(UserMessagePacket, {"MessagePropertiesHeader.PrivacyLevel": 1}, when=_is_refusal),
    ),
    (
        "receiver-final-ack-of-received-message-privacy-level-1",
        "MQQB-3.1.7.17-D02",
        "The receiver's FinalAck of a received message has PrivacyLevel 1.",
        wrong_fields(UserMessagePacket, {"MessagePropertiesHeader.PrivacyLevel": 1}, when=_is_reception),
    ),
):
    add(_name, _rule, _says, _install, blind=True)
