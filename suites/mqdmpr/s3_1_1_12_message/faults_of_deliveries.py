"""Faults of MS-MQDMPR 3.1.1.12 Message that affect only one DeliveryGuarantee: classes of acknowledgments, and
defaults.
"""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from harness.faults.primitives import wrong_fields
from harness.faults.registry import add
from reference_qm.codec import MessageClass, MessagePropertiesHeader, UserMessagePacket
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.model.message import Message
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.surface.clock import Now

PURGED_CLASS = MessageClass.MQMSG_CLASS_NACK_DELETED


def _add_fault_of_class(rule: str, message_class: MessageClass, delivery: str) -> None:
    """Add a fault: the receiver sends the acknowledgments of messages with one kind of delivery with the class
    NackPurged.
    """

    class OtherClass(AdminAcks):
        def build(self, message: Message, message_class_: MessageClass, now: Now) -> Message:
            transactional = message.TransactionIdentifier is not None
            express = message.DeliveryGuarantee is DeliveryGuarantee.EXPRESS
            affected = {"express": express, "transactional": transactional}[delivery]
            return super().build(
                message, PURGED_CLASS if affected and message_class_ is message_class else message_class_, now
            )

    name = message_class.name.removeprefix("MQMSG_CLASS_").lower().replace("_", "-")
    OtherClass.__doc__ = f"The acknowledgment {name} of {delivery} messages has the class NackPurged."
    fault(f"acknowledgment-{name}-of-{delivery}-message-with-other-class", breaks=rule, blind=True)(OtherClass)


for _rule, _class, _delivery in (
    ("MQDMPR-3.1.1.12-D07", MessageClass.MQMSG_CLASS_ACK_REACH_QUEUE, "express"),
    ("MQDMPR-3.1.1.12-D09", MessageClass.MQMSG_CLASS_ACK_RECEIVE, "transactional"),
    ("MQDMPR-3.1.1.12-D12", MessageClass.MQMSG_CLASS_NACK_REACH_QUEUE_TIMEOUT, "express"),
    ("MQDMPR-3.1.1.12-D12", MessageClass.MQMSG_CLASS_NACK_REACH_QUEUE_TIMEOUT, "transactional"),
    ("MQDMPR-3.1.1.12-D13", MessageClass.MQMSG_CLASS_NACK_Q_EXCEED_QUOTA, "transactional"),
    ("MQDMPR-3.1.1.12-D23", MessageClass.MQMSG_CLASS_NACK_Q_DELETED, "express"),
    ("MQDMPR-3.1.1.12-D23", MessageClass.MQMSG_CLASS_NACK_Q_DELETED, "transactional"),
    ("MQDMPR-3.1.1.12-D24", MessageClass.MQMSG_CLASS_NACK_Q_PURGED, "express"),
    ("MQDMPR-3.1.1.12-D25", MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT, "transactional"),
    ("MQDMPR-3.1.1.12-D20", MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_MSG, "express"),
):
    _add_fault_of_class(_rule, _class, _delivery)


def _is_transactional(packet: Any) -> bool:
    return packet.TransactionHeader is not None and not packet.MessagePropertiesHeader.MessageClass


def _is_recoverable(packet: Any) -> bool:
    return bool(packet.UserHeader.DM) and packet.TransactionHeader is None


for _rule, _name, _changes in (
    ("MQDMPR-3.1.1.12-D38", "application-tag", {"MessagePropertiesHeader.ApplicationTag": 1}),
    ("MQDMPR-3.1.1.12-D40", "body-type", {"MessagePropertiesHeader.BodyType": 8}),
    ("MQDMPR-3.1.1.12-D47", "correlation", {"MessagePropertiesHeader.CorrelationID": b"\1" * 20}),
    ("MQDMPR-3.1.1.12-D42", "time-to-be-received", {"UserHeader.TimeToBeReceived": 345_600}),
    ("MQDMPR-3.1.1.12-D44", "extension", {"MessagePropertiesHeader.ExtensionData": b"odd"}),
    ("MQDMPR-3.1.1.12-D41", "label", {"MessagePropertiesHeader.Label": "transactional"}),
    ("MQDMPR-3.1.1.12-D37", "acknowledgments", {"MessagePropertiesHeader.Flags": MessagePropertiesHeader.flags(NR=1)}),
):
    for _kind, _when in (("transactional", _is_transactional), ("recoverable", _is_recoverable)):
        add(
            f"default-{_name}-of-{_kind}-message-differs",
            _rule,
            f"The default of the attribute {_name} is different for {_kind} messages.",
            wrong_fields(UserMessagePacket, _changes, when=_when),
            blind=True,
        )
