"""Faults that break rules of MS-MQMQ 2.2.18.1 Packet Data Types."""

from __future__ import annotations

from dataclasses import replace
from typing import cast
from uuid import UUID

from harness.faults.parts import fault
from harness.faults.primitives import set_fields
from reference_qm.codec import (
    FormatError,
    MessageClass,
    PrivateName,
    UserMessagePacket,
    parse_format_name,
    parse_packet,
)
from reference_qm.codec.mqf import MQFFormatNameElement
from reference_qm.codec.queue_formats import MQFDistributionQueueFormatName
from reference_qm.core.queueing.positions import Positions
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.core.transfer.sending import Sending
from reference_qm.directory.enums import QueueType
from reference_qm.model.adm import MessagePosition

_LIST = "MultiQueueFormatHeader.Destination.FormatNameList"


@fault("router-hop-count-nack-source-is-destination", breaks="MQMQ-2.2.18.1.3-01", blind=True)
class RouterHopCountNackSourceIsDestination(Sending):
    """A router sends the negative acknowledgment of a message with too many hops with the destination's GUID as
    SourceQueueManager.
    """

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet = super().construct_user_message(position)
        message = position.MessageReference
        if message.Class != MessageClass.MQMSG_CLASS_NACK_HOP_COUNT_EXCEEDED or not message.ResponseQueueFormatName:
            return packet
        try:
            meant = parse_format_name(message.ResponseQueueFormatName)
        except FormatError:
            return packet
        if not isinstance(meant, PrivateName):
            return packet
        return replace(packet, UserHeader=replace(packet.UserHeader, SourceQueueManager=meant.ComputerGuid))


@fault("server-remote-read-distribution-list-guid-big-endian", breaks="MQMQ-2.2.18.1.4.2-02", blind=True)
class ServerRemoteReadDistributionListGuidBigEndian(RemoteReads):
    """In a message that a remote reader gets, the server writes the GUID of a distribution list in network byte
    order.
    """

    def serialize_remote_message(self, position: MessagePosition) -> bytes:
        data = super().serialize_remote_message(position)
        packet = cast(UserMessagePacket, parse_packet(data))
        if packet.MultiQueueFormatHeader is None:
            return data
        elements = tuple(map(_turn_guid, packet.MultiQueueFormatHeader.Destination.FormatNameList))
        return set_fields(packet, {"BaseHeader.PacketSize": 0, _LIST: elements}).build()


def _turn_guid(element: MQFFormatNameElement) -> MQFFormatNameElement:
    name = element.FormatName
    if not isinstance(name, MQFDistributionQueueFormatName):
        return element
    turned = UUID(bytes=name.DistributionListIdentifier.bytes_le)
    return replace(element, FormatName=MQFDistributionQueueFormatName(turned))


@fault("receiver-deleted-subqueue-messages-acknowledged-as-purged", breaks="MQMQ-2.2.18.1.6-D01", blind=True)
class ReceiverDeletedSubqueueMessagesAcknowledgedAsPurged(Positions):
    """When a queue is deleted, the receiver first purges its subqueues, so the negative acknowledgments of their
    messages have the class Q_PURGED.
    """

    def delete_message(self, position: MessagePosition, reason: MessageClass) -> None:
        queue = position.QueueReference
        in_subqueue = queue.parent is not None and queue.QueueType is not QueueType.SYSTEM
        if reason is MessageClass.MQMSG_CLASS_NACK_Q_DELETED and in_subqueue:
            reason = MessageClass.MQMSG_CLASS_NACK_Q_PURGED
        super().delete_message(position, reason)
