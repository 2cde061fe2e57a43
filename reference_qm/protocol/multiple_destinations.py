"""The MultiQueueFormatHeader of a message. Spec: MS-MQDMPR 3.1.7.1.30, MS-MQMQ 2.2.20.1."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reference_qm.codec import (
    DirectName,
    MisuseError,
    MQFAddressHeader,
    MQFDirectQueueFormatName,
    MQFFormatNameElement,
    MultiQueueFormatHeader,
    PrivateName,
    PrivateQueueFormatName,
    PublicName,
    PublicQueueFormatName,
    UserHeader,
    UserMessagePacket,
    parse_format_name,
)

if TYPE_CHECKING:
    from reference_qm.adm import Message

_DESTINATION = 0x0064


def with_destinations(packet: UserMessagePacket, message: Message) -> UserMessagePacket:
    """Return the packet with a MultiQueueFormatHeader that lists the destination of its message.

    An MSMQ 3.0 signature has its place in that header (MS-MQQB 3.1.7.1.4), so a message that is to have one needs it
    also when it goes to one queue.
    """
    listed = (_element(message.DestinationQueueFormatName),)
    return replace(
        packet,
        UserHeader=replace(packet.UserHeader, Flags=packet.UserHeader.Flags | UserHeader.flags(MQ=1)),
        MultiQueueFormatHeader=MultiQueueFormatHeader(MQFAddressHeader(_DESTINATION, listed)),
    )


def _element(text: str) -> MQFFormatNameElement:
    name = parse_format_name(text)
    if isinstance(name, PublicName):
        return MQFFormatNameElement(PublicQueueFormatName(name.QueueGuid))
    if isinstance(name, PrivateName):
        return MQFFormatNameElement(PrivateQueueFormatName(name.ComputerGuid, name.QueueIdentifier))
    if isinstance(name, DirectName):
        return MQFFormatNameElement(MQFDirectQueueFormatName(text.partition("=")[2]))
    raise MisuseError(f"{text!a} cannot stand in a MultiQueueFormatHeader")
