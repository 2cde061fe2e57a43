"""Faults that break the rules MQDMPR-3.1.7.1.32-07, MQDMPR-3.1.7.1.32-D06 and MQDMPR-3.1.7.1.32-D16."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.primitives import packets, set_fields
from harness.faults.registry import add
from harness.faults.sent_messages import change_construction
from reference_qm.codec import (
    MQFSignatureHeader,
    MultiQueueFormatHeader,
    PublicQueueFormatName,
    SecurityHeader,
    UserHeader,
    UserMessagePacket,
)
from reference_qm.model.adm import Message

DEFAULT_PROVIDER = SecurityHeader.flags(DE=1)


def _change_default_bit(is_set: bool, when: Callable[[Any], bool]) -> Any:
    def change_flags(flags: int) -> int:
        return flags | DEFAULT_PROVIDER if is_set else flags & ~DEFAULT_PROVIDER

    def change(packet: Any) -> bytes:
        return bytes(set_fields(packet, {"SecurityHeader.Flags": change_flags}).build())

    return packets(UserMessagePacket, change, lambda packet: packet.SecurityHeader is not None and when(packet))


def _is_signed(packet: Any) -> bool:
    return bool(packet.SecurityHeader.SecurityData.Signature)


for _name, _says, _install in (
    (
        "sender-de-bit-of-signed-transactional-message-clear",
        "The sender sends a transactional message that is signed with the default provider with DE 0.",
        _change_default_bit(False, lambda packet: _is_signed(packet) and packet.TransactionHeader is not None),
    ),
    (
        "sender-de-bit-of-unsigned-encrypted-message-set",
        "The sender sends an encrypted message without a signature with DE 1.",
        _change_default_bit(True, lambda packet: not _is_signed(packet)),
    ),
    (
        "sender-de-bit-of-signed-encrypted-message-clear",
        "The sender sends an encrypted message that is signed with the default provider with DE 0.",
        _change_default_bit(False, lambda packet: _is_signed(packet) and packet.SecurityHeader.EB == 1),
    ),
):
    add(_name, "MQDMPR-3.1.7.1.32-07", _says, _install, blind=True)


def _change_lists(change: Callable[[MultiQueueFormatHeader], MultiQueueFormatHeader]) -> Any:
    def change_packet(packet: UserMessagePacket, message: Message) -> UserMessagePacket:
        header = packet.MultiQueueFormatHeader
        return packet if header is None else replace(packet, MultiQueueFormatHeader=change(header))

    return change_construction(change_packet)


for _name, _says, _change in (
    (
        "sender-destination-list-without-third-queue",
        "The list of destinations in the sender's MultiQueueFormatHeader contains at most two queues.",
        lambda found: replace(
            found, Destination=replace(found.Destination, FormatNameList=found.Destination.FormatNameList[:2])
        ),
    ),
    (
        "sender-response-list-with-destinations",
        "The list of response queues in the sender's MultiQueueFormatHeader contains the destinations.",
        lambda found: replace(
            found,
            Response=replace(found.Response, FormatNameList=found.Destination.FormatNameList)
            if found.Response.FormatNameList
            else found.Response,
        ),
    ),
    (
        "sender-destination-list-signature-of-unsigned-message",
        "The MultiQueueFormatHeader of an unsigned message contains a signature.",
        lambda found: replace(found, Signature=MQFSignatureHeader(b"signature")),
    ),
):
    add(_name, "MQDMPR-3.1.7.1.32-D06", _says, _change_lists(_change), blind=True)


def _change_response_type(change: Callable[[Any], int]) -> Any:
    def change_packet(packet: UserMessagePacket, message: Message) -> UserMessagePacket:
        user = packet.UserHeader
        flags = user.Flags & ~UserHeader.flags(RQ=7) | UserHeader.flags(RQ=change(user))
        return replace(packet, UserHeader=replace(user, Flags=flags))

    return change_construction(change_packet)


for _name, _says, _change_type in (
    (
        "sender-public-response-queue-sent-with-rq-7",
        "The sender sends a public response queue with RQ 7.",
        lambda user: 7 if isinstance(user.ResponseQueue, PublicQueueFormatName) else user.RQ,
    ),
    (
        "sender-response-queue-of-source-sent-with-rq-3",
        "The sender sends a private response queue of the source with RQ 3.",
        lambda user: 3 if user.RQ == 2 else user.RQ,
    ),
    (
        "sender-direct-response-queue-beside-admin-queue-sent-with-rq-5",
        "The sender sends a direct response queue with RQ 5 if the message has an administration queue.",
        lambda user: 5 if user.RQ == 7 and user.AQ else user.RQ,
    ),
):
    add(_name, "MQDMPR-3.1.7.1.32-D16", _says, _change_response_type(_change_type), blind=True)
