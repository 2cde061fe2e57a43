"""Builds and reads the MultiQueueFormatHeader of a message.

Spec: MS-MQDMPR 3.1.7.1.30 to 3.1.7.1.32, MS-MQMQ 2.2.20.1.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from reference_qm.codec import (
    DirectName,
    FormatError,
    MisuseError,
    MQFAddressHeader,
    MQFDirectQueueFormatName,
    MQFDistributionQueueFormatName,
    MQFFormatNameElement,
    MQFSignatureHeader,
    MultiQueueFormatHeader,
    PrivateName,
    PrivateQueueFormatName,
    PublicName,
    PublicQueueFormatName,
    UserHeader,
    UserMessagePacket,
    parse_format_name,
)
from reference_qm.codec.format_names import DistributionListName, MultipleElementName
from reference_qm.model.adm import Message

_DESTINATION_HEADER_ID, _ADMINISTRATION_HEADER_ID, _RESPONSE_HEADER_ID = 0x0064, 0x00C8, 0x012C


def add_destination_lists(packet: UserMessagePacket, message: Message, destinations: str) -> UserMessagePacket:
    """Return the packet with an added MultiQueueFormatHeader, which lists all destinations of the message.

    ``destinations`` is DestinationMultiQueueFormatName, or the only destination. The header contains the MSMQ 3.0
    signature (MS-MQQB 3.1.7.1.4). Therefore a message with such a signature needs the header even if it has only
    one destination.
    """
    return replace(
        packet,
        UserHeader=replace(packet.UserHeader, Flags=packet.UserHeader.Flags | UserHeader.flags(MQ=1)),
        MultiQueueFormatHeader=MultiQueueFormatHeader(
            _build_address_header(_DESTINATION_HEADER_ID, destinations),
            _build_address_header(_ADMINISTRATION_HEADER_ID, message.AdministrationMultiQueueFormatName),
            _build_address_header(_RESPONSE_HEADER_ID, message.ResponseMultiQueueFormatName),
            MQFSignatureHeader(message.MultipleDestinationSignature),
        ),
    )


def read_destination_lists(header: MultiQueueFormatHeader) -> dict[str, Any]:
    """Return the message attributes that a MultiQueueFormatHeader represents. Spec: MS-MQDMPR 3.1.7.1.31."""
    return {
        "DestinationMultiQueueFormatName": _format_queue_list(header.Destination),
        "AdministrationMultiQueueFormatName": _format_queue_list(header.Administration),
        "ResponseMultiQueueFormatName": _format_queue_list(header.Response),
        "MultipleDestinationSignature": header.Signature.Signature,
    }


def _build_address_header(header_id: int, names: str | None) -> MQFAddressHeader:
    if names is None:
        return MQFAddressHeader(header_id)
    parsed = parse_format_name(names)
    if isinstance(parsed, MultipleElementName):
        return MQFAddressHeader(header_id, tuple(_build_element(text) for text in names.split(",")))
    return MQFAddressHeader(header_id, (_build_element(names),))


def _build_element(text: str) -> MQFFormatNameElement:
    name = parse_format_name(text)
    if isinstance(name, PublicName):
        return MQFFormatNameElement(PublicQueueFormatName(name.QueueGuid))
    if isinstance(name, PrivateName):
        return MQFFormatNameElement(PrivateQueueFormatName(name.ComputerGuid, name.QueueIdentifier))
    if isinstance(name, DirectName):
        return MQFFormatNameElement(MQFDirectQueueFormatName(text.partition("=")[2]))
    if isinstance(name, DistributionListName):
        return MQFFormatNameElement(MQFDistributionQueueFormatName(name.DistributionListGuid))
    raise MisuseError(f"{text!a} does not fit into a MultiQueueFormatHeader")


def _format_queue_list(header: MQFAddressHeader) -> str | None:
    """Return a list of queues as a format name, or None if the list is empty or contains an invalid name."""
    names = [_format_queue_element(element) for element in header.FormatNameList]
    text = ",".join(names)
    if not names or text.count(",") >= len(names):  # a name with a comma would be read as two names
        return None
    try:
        parse_format_name(text)
    except FormatError:
        return None
    return text


def _format_queue_element(element: MQFFormatNameElement) -> str:
    match element.FormatName:
        case PublicQueueFormatName(guid):
            return str(PublicName(guid))
        case PrivateQueueFormatName(computer, number):
            return str(PrivateName(computer, number))
        case MQFDistributionQueueFormatName(guid):
            return str(DistributionListName(guid))
        case MQFDirectQueueFormatName(text):
            return f"DIRECT={text}"
