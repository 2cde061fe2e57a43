"""What OrderAcks and FinalAcks show. Spec: MS-MQQB 2.2.4, 2.2.5, MS-MQMQ 2.2.19.1.

A message counts as one of them when most of what tells them does, so that one wrong field does not hide it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from harness.judging.passive import MALFORMED, Context, Finding, Predicate, passive
from reference_qm.codec import (
    DirectQueueFormatName,
    FormatError,
    MessageClass,
    OrderAckBody,
    PrivateQueueFormatNameId,
    UserHeader,
    UserMessagePacket,
)
from suites.predicates.raw import BASE, USER, healed

MESSAGE = "UserMessage"
LABEL = "QM Ordering Ack"
BODY_SIZE = 0x24
ORDER_QUEUE = 4
FIRST_FINAL = 0x4000
ENOUGH = 3
"""How many of four signs make an acknowledgment of what else would be a message."""
_ADDRESS = r"(?:TCP:(?P<ip>[0-9A-F.:]+)|SPX:[0-9A-F]{8}\.[0-9A-F]{12})"
ORDER_QUEUE_NAME = re.compile(rf"{_ADDRESS}\\PRIVATE\$\\order_queue\$", re.IGNORECASE)

Sees = Callable[[Any], Finding]


def _signs(packet: Any, of_class: bool) -> bool:
    properties, queue = packet.MessagePropertiesHeader, packet.UserHeader.DestinationQueue
    named = isinstance(queue, PrivateQueueFormatNameId) and queue.PrivateQueueIdentifier == ORDER_QUEUE
    direct = isinstance(queue, DirectQueueFormatName) and queue.DirectFormatName.lower().endswith("order_queue$")
    return of_class + (properties.Label == LABEL) + (properties.MessageSize == BODY_SIZE) + (named or direct) >= ENOUGH


def is_order_ack(packet: Any) -> bool:
    """Is it meant as an OrderAck?"""
    value = packet.MessagePropertiesHeader.MessageClass
    return value < FIRST_FINAL and _signs(packet, value == MessageClass.MQMSG_CLASS_ORDER_ACK)


def is_final_ack(packet: Any) -> bool:
    """Is it meant as a FinalAck?"""
    value = packet.MessagePropertiesHeader.MessageClass
    return value >= FIRST_FINAL and _signs(packet, of_class=True)


def of(meant: Callable[[Any], bool], sees: Sees) -> Predicate:
    """Show a predicate only the packets that it speaks of."""
    return lambda packet, context: sees(packet) if meant(packet) else None


def base_flags(packet: Any) -> Finding:
    """BaseHeader.Flags is 0."""
    return packet.BaseHeader.Flags == 0, f"BaseHeader.Flags is 0x{packet.BaseHeader.Flags:04X}"


def other_bits(packet: Any) -> Finding:
    """All other bits of UserHeader.Flags are 0 but for DQ, 3 or 7, and DM (of an OrderAck see E36)."""
    user = packet.UserHeader
    others = user.Flags & ~UserHeader.flags(DM=3, DQ=7, MP=1)
    return not others and user.DQ in (3, 7), f"UserHeader.Flags is 0x{user.Flags:08X}, DQ {user.DQ}"


def is_recoverable(packet: Any) -> Finding:
    """DM is 1."""
    return packet.UserHeader.DM == 1, f"DM is {packet.UserHeader.DM}"


def private_name(packet: Any) -> Finding:
    """The private queue is that of order_queue$."""
    queue = packet.UserHeader.DestinationQueue
    if not isinstance(queue, PrivateQueueFormatNameId):
        return None
    return queue.PrivateQueueIdentifier == ORDER_QUEUE, f"PrivateQueueIdentifier is 0x{queue.PrivateQueueIdentifier:X}"


def direct_name(packet: Any) -> Finding:
    """The direct name has an address and order_queue$."""
    queue = packet.UserHeader.DestinationQueue
    if not isinstance(queue, DirectQueueFormatName):
        return None
    name = queue.DirectFormatName
    return ORDER_QUEUE_NAME.fullmatch(name) is not None, f"DirectFormatName is {name!a}"


def label(packet: Any) -> Finding:
    """The label is the one printed."""
    return packet.MessagePropertiesHeader.Label == LABEL, f"Label is {packet.MessagePropertiesHeader.Label!a}"


def body_size(packet: Any) -> Finding:
    """MessageSize is 0x24."""
    size = packet.MessagePropertiesHeader.MessageSize
    return size == BODY_SIZE, f"MessageSize is 0x{size:X}"


def property_flags(packet: Any) -> Finding:
    """MessagePropertiesHeader.Flags is 0."""
    flags = packet.MessagePropertiesHeader.Flags
    return flags == 0, f"MessagePropertiesHeader.Flags is 0x{flags:02X}"


def order_class(packet: Any) -> Finding:
    """MessageClass is MQMSG_CLASS_ORDER_ACK."""
    value = packet.MessagePropertiesHeader.MessageClass
    return value == MessageClass.MQMSG_CLASS_ORDER_ACK, f"MessageClass is 0x{value:04X}"


def body_type(packet: Any) -> Finding:
    """BodyType is VT_EMPTY."""
    value = packet.MessagePropertiesHeader.BodyType
    return value == 0, f"BodyType is 0x{value:X}"


def previous_number(packet: Any) -> Finding:
    """TxPreviousSequenceNumber is one less than TxSequenceNumber."""
    try:
        body = OrderAckBody.parse(packet.MessagePropertiesHeader.MessageBody)
    except FormatError:
        return None
    kept = body.TxPreviousSequenceNumber == body.TxSequenceNumber - 1
    return kept, f"{body.TxPreviousSequenceNumber} before {body.TxSequenceNumber}"


for _order, _final, _sees in (
    ("2.2.4-01", "2.2.5-01", base_flags),
    ("2.2.4-03", "2.2.5-04", other_bits),
    (None, "2.2.5-03", is_recoverable),
    ("2.2.4-04", "2.2.5-05", private_name),
    ("2.2.4-05", "2.2.5-06", direct_name),
    ("2.2.4-07", "2.2.5-08", label),
    ("2.2.4-08", "2.2.5-09", body_size),
    ("2.2.4-09", "2.2.5-10", property_flags),
    ("2.2.4-10", None, order_class),
    ("2.2.4-11", "2.2.5-23", body_type),
    ("2.2.4.1-03", None, previous_number),
):
    for _number, _meant in ((_order, is_order_ack), (_final, is_final_ack)):
        if _number is not None:
            passive(f"MQQB-{_number}", MESSAGE, (_sees.__doc__ or "").rstrip("."))(of(_meant, _sees))


def meant_as(data: bytes, header: str, flag: str, value: int, *meanings: Callable[[Any], bool]) -> bool:
    """Are malformed bytes such an acknowledgment but for one flag?"""
    packet = healed(data, header, flag, value)
    return packet is not None and any(meant(packet) for meant in meanings)


def flag_of(header: str, flag: str, value: int, *meanings: Callable[[Any], bool]) -> Predicate:
    """Demand a flag without which it is no message at all."""

    def predicate(packet: Any, context: Context) -> Finding:
        if isinstance(packet, UserMessagePacket):
            return (True, f"{flag} is {value}") if any(meant(packet) for meant in meanings) else None
        return (
            (False, f"{flag} is not {value}") if meant_as(context.frame.data, header, flag, value, *meanings) else None
        )

    return predicate


for _rule, _header, _flag, _value, _meanings in (
    ("MQQB-2.2.4-02", USER, "MP", 1, (is_order_ack,)),
    ("MQQB-2.2.5-02", USER, "MP", 1, (is_final_ack,)),
    ("MQMQ-2.2.19.1-06", BASE, "IN", 0, (is_order_ack, is_final_ack)),
):
    _kinds = (MESSAGE, MALFORMED, "unknown internal")
    passive(_rule, _kinds, f"{_flag} is {_value}")(flag_of(_header, _flag, _value, *_meanings))
