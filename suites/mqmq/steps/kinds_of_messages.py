"""Conditions that select messages of the reference queue manager by their kind, for faults that concern only one kind
of message.
"""

from __future__ import annotations

from typing import Any

from reference_qm.codec import MessageClass

_ORDER_AND_FINAL_ACK_LABEL = "QM Ordering Ack"
"""The label of OrderAcks and FinalAcks. Spec: MS-MQQB 2.2.4, 2.2.5."""
LARGE_BODY_BYTES = 4096
"""The greatest length of a body that is not large, in bytes."""


def is_report(packet: Any) -> bool:
    """Return whether a message is a report about a traced message."""
    return bool(packet.MessagePropertiesHeader.MessageClass == MessageClass.MQMSG_CLASS_REPORT)


def is_order_ack(packet: Any) -> bool:
    """Return whether a message is an OrderAck."""
    return bool(packet.MessagePropertiesHeader.MessageClass == MessageClass.MQMSG_CLASS_ORDER_ACK)


def is_final_ack(packet: Any) -> bool:
    """Return whether a message is a FinalAck."""
    return packet.MessagePropertiesHeader.Label == _ORDER_AND_FINAL_ACK_LABEL and not is_order_ack(packet)


def is_admin_ack(packet: Any) -> bool:
    """Return whether a message is an administration acknowledgment."""
    header = packet.MessagePropertiesHeader
    return header.MessageClass > MessageClass.MQMSG_CLASS_REPORT and header.Label != _ORDER_AND_FINAL_ACK_LABEL


def has_destination_lists(packet: Any) -> bool:
    """Return whether a message has a MultiQueueFormatHeader."""
    return packet.MultiQueueFormatHeader is not None


def is_transactional(packet: Any) -> bool:
    """Return whether a message has a TransactionHeader."""
    return packet.TransactionHeader is not None


def is_express(packet: Any) -> bool:
    """Return whether a message is express."""
    return not packet.UserHeader.DM


def has_large_body(packet: Any) -> bool:
    """Return whether the body of a message is longer than LARGE_BODY_BYTES."""
    return len(packet.MessagePropertiesHeader.MessageBody) > LARGE_BODY_BYTES
