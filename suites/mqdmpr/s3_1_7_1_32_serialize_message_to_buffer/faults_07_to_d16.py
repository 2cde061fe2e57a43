"""Faults that break the rules MQDMPR-3.1.7.1.32-07, MQDMPR-3.1.7.1.32-D06 and MQDMPR-3.1.7.1.32-D16."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.fields import change_number_in_field, clear_bits
from harness.faults.parts import fault
from harness.faults.primitives import set_fields
from harness.faults.registry import add
from harness.faults.sent_messages import change_constructed_packet
from reference_qm.codec import (
    MQFSignatureHeader,
    MultiQueueFormatHeader,
    UserHeader,
    UserMessagePacket,
)
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import Message, MessagePosition


def _is_signed_transactional_packet(packet: Any) -> bool:
    signed = packet.SecurityHeader is not None and bool(packet.SecurityHeader.SecurityData.Signature)
    return signed and packet.TransactionHeader is not None


add(
    "sender-de-bit-of-signed-transactional-message-clear",
    "MQDMPR-3.1.7.1.32-07",
    "The sender sets DE to 0 in a transactional message that is signed with the default provider.",
    clear_bits(UserMessagePacket, "SecurityHeader.DE", _is_signed_transactional_packet),
    blind=True,
)


def _change_multi_queue_header(change: Callable[[MultiQueueFormatHeader], MultiQueueFormatHeader]) -> Any:
    def change_packet(packet: UserMessagePacket, message: Message) -> UserMessagePacket:
        header = packet.MultiQueueFormatHeader
        return packet if header is None else replace(packet, MultiQueueFormatHeader=change(header))

    return change_constructed_packet(change_packet)


for _name, _says, _change in (
    (
        "sender-destination-list-without-third-queue",
        "The list of destinations in the sender's MultiQueueFormatHeader contains at most two queues.",
        lambda found: replace(
            found, Destination=replace(found.Destination, FormatNameList=found.Destination.FormatNameList[:2])
        ),
    ),
    (
        "sender-destination-list-signature-of-unsigned-message",
        "The MultiQueueFormatHeader of an unsigned message contains a signature.",
        lambda found: replace(found, Signature=MQFSignatureHeader(b"signature")),
    ),
):
    add(_name, "MQDMPR-3.1.7.1.32-D06", _says, _change_multi_queue_header(_change), blind=True)


for _name, _says, _change_type, _is_changed in (
    (
        "sender-public-response-queue-sent-with-rq-7",
        "The sender sends a public response queue with RQ 7.",
        lambda kind: 7 if kind == 5 else kind,
        lambda packet: True,
    ),
    (
        "sender-response-queue-of-source-sent-with-rq-3",
        "The sender sends a private response queue of the source with RQ 3.",
        lambda kind: 3 if kind == 2 else kind,
        lambda packet: True,
    ),
    (
        "sender-direct-response-queue-beside-admin-queue-sent-with-rq-5",
        "The sender sends a direct response queue with RQ 5 if the message has an administration queue.",
        lambda kind: 5 if kind == 7 else kind,
        lambda packet: packet.UserHeader.AQ != 0,
    ),
):
    add(
        _name,
        "MQDMPR-3.1.7.1.32-D16",
        _says,
        change_number_in_field(UserMessagePacket, "UserHeader.RQ", _change_type, _is_changed),
        blind=True,
    )


_PRIVATE_ON_SOURCE_QUEUE_TYPE, _SAME_AS_ADMIN_QUEUE_TYPE = 0x2, 0x1


@fault("sender-sets-rq-1-although-response-queue-is-not-admin-queue", breaks="MQDMPR-3.1.7.1.32-D16", blind=True)
class SenderSetsRq1AlthoughResponseQueueIsNotAdminQueue(MessageSending):
    """The sender sets RQ to 0x1 (SameAsAdministrationQueue) if the administration queue and the response queue are two
    different private queues of the sender.
    """

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet = super().construct_user_message(position)
        user = packet.UserHeader
        if user.AQ == user.RQ == _PRIVATE_ON_SOURCE_QUEUE_TYPE and user.AdminQueue != user.ResponseQueue:
            others = user.Flags & ~UserHeader.flags(RQ=7)
            changes = {
                "BaseHeader.PacketSize": 0,
                "UserHeader.Flags": others | UserHeader.flags(RQ=_SAME_AS_ADMIN_QUEUE_TYPE),
                "UserHeader.ResponseQueue": None,
            }
            return set_fields(packet, changes)
        return packet
