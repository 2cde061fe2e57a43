"""Faults that change administration acknowledgments (MS-MQQB 3.1.7.15) of given classes."""

from __future__ import annotations

from collections.abc import Callable, Container

from harness.faults.parts import replace_part
from harness.faults.registry import Install
from reference_qm.codec import MessageClass
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.model.adm import Message
from reference_qm.surface.clock import Now

ChangeAcknowledgmentMessage = Callable[[Message, Message], Message]
"""The type of functions that change acknowledgments. The arguments are an acknowledgment and the acknowledged message;
the result is the changed acknowledgment.
"""
ALL_ACK_CLASSES = frozenset(MessageClass)
ARRIVAL_ACK_CLASSES = frozenset({MessageClass.MQMSG_CLASS_ACK_REACH_QUEUE})
QUEUE_REMOVAL_ACK_CLASSES = frozenset(
    {
        MessageClass.MQMSG_CLASS_ACK_RECEIVE,
        MessageClass.MQMSG_CLASS_NACK_Q_DELETED,
        MessageClass.MQMSG_CLASS_NACK_Q_PURGED,
        MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT,
    }
)
REFUSAL_ACK_CLASSES = ALL_ACK_CLASSES - ARRIVAL_ACK_CLASSES - QUEUE_REMOVAL_ACK_CLASSES


def change_admin_acks(classes: Container[MessageClass], change: ChangeAcknowledgmentMessage) -> Install:
    """Return an installer of a fault that changes the administration acknowledgments of the given classes."""

    class Made(AdminAcks):
        def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
            ack = super().build(message, message_class, now)
            return change(ack, message) if message_class in classes else ack

    return replace_part(Made)
