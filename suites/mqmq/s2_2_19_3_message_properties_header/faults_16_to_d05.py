"""Faults that break the rules MQMQ-2.2.19.3-16 to MQMQ-2.2.19.3-D05."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.fields import change_number_in_field, set_field_value
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import (
    change_core_at_restart,
    change_packets_of_kind,
    send_wrong_field_values,
    set_fields,
)
from harness.faults.registry import Install, add
from harness.faults.sent_messages import change_constructed_packet, change_inserted_message
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.transfer.message_securing import MessageSecuring
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.model.adm import Message, MessagePosition, Queue, Session
from reference_qm.surface.clock import Now
from suites.mqmq.s2_2_19_3_message_properties_header.fault_steps import USER_MESSAGE_TYPE


@fault("receiver-application-tag-replaced-by-1", breaks="MQMQ-2.2.19.3-16")
class ReceiverApplicationTagReplacedBy1(MessagePositions):
    """The receiver replaces the ApplicationTag of a delivered message with 1."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        return super().insert_message(queue, replace(message, AppSpecific=1))


add(
    "sender-application-tag-always-1",
    "MQMQ-2.2.19.3-16",
    "The sender's UserMessage carries ApplicationTag 1.",
    set_field_value(UserMessagePacket, "MessagePropertiesHeader.ApplicationTag", 1),
)


add(
    "sender-application-tag-without-highest-bit",
    ("MQMQ-2.2.19.3-16",),
    "The sender clears the highest bit of ApplicationTag in a UserMessage.",
    change_constructed_packet(
        lambda packet, message: set_fields(
            packet, {"MessagePropertiesHeader.ApplicationTag": message.AppSpecific & 0x7FFFFFFF}
        )
    ),
    blind=True,
)


add(
    "receiver-user-message-application-tag-above-31-bits-cut",
    "MQMQ-2.2.19.3-16",
    "The receiver stores an ApplicationTag above 0x7FFFFFFF as 0x7FFFFFFF.",
    change_inserted_message(lambda message: replace(message, AppSpecific=min(message.AppSpecific, 0x7FFFFFFF))),
    blind=True,
)


def _clear_application_tags(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        for position in queue.MessagePositionList:
            position.MessageReference = replace(position.MessageReference, AppSpecific=0)


add(
    "queue-manager-application-tag-lost-at-restart",
    "MQMQ-2.2.19.3-16",
    "At a restart, the receiver sets ApplicationTag of every stored message to 0.",
    change_core_at_restart(_clear_application_tags),
)


@fault("receiver-application-tag-of-extended-message-lost-in-journaling-queue", breaks="MQMQ-2.2.19.3-16")
class ReceiverApplicationTagOfExtendedMessageLostInJournalingQueue(MessagePositions):
    """The receiver delivers a message without its ApplicationTag if the message has ExtensionData and its queue has
    journaling.
    """

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        if queue.Journaling and message.Extension:
            message = replace(message, AppSpecific=0)
        return super().insert_message(queue, message)


add(
    "receiver-body-delivered-with-padding",
    ("MQMQ-2.2.19.3-17", "MQMQ-2.2.19.3-D05"),
    "The receiver delivers a body together with its padding.",
    change_inserted_message(lambda message: replace(message, Body=message.Body + bytes(-len(message.Body) % 4))),
    blind=True,
)


add(
    "receiver-body-without-trailing-zeros",
    ("MQMQ-2.2.19.3-17", "MQDMPR-3.1.1.12-32"),
    "The receiver delivers a body without its trailing zeros.",
    change_inserted_message(lambda message: replace(message, Body=message.Body.rstrip(b"\0"))),
    blind=True,
)


add(
    "sender-message-size-of-body-above-64-kib-rounded",
    "MQMQ-2.2.19.3-17",
    "The sender rounds MessageSize of a body of more than 64 KiB up to a multiple of 4.",
    change_number_in_field(
        USER_MESSAGE_TYPE,
        "MessagePropertiesHeader.MessageSize",
        lambda size: size + -size % 4,
        lambda packet: len(packet.MessagePropertiesHeader.MessageBody) > 0xFFFF,
    ),
)


def _accept_undefined_value(field: str, value: int) -> Install:
    """Let the receiver accept a message whose `field` has an undefined value."""

    class UndefinedValueAcceptor(SecurityOnReceipt):
        def check_security(
            self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now
        ) -> UserMessagePacket | MessageClass:
            if getattr(packet.MessagePropertiesHeader, field) == value:
                return packet
            return super().check_security(session, packet, queue, now)

    return replace_part(UndefinedValueAcceptor)


for _name, _rule, _field, _value, _says in (
    (
        "receiver-privacy-level-4-accepted",
        "MQMQ-2.2.19.3-21",
        "PrivacyLevel",
        4,
        "The receiver accepts an encrypted message with PrivacyLevel 4.",
    ),
    (
        "receiver-hash-algorithm-0x8099-accepted",
        "MQMQ-2.2.19.3-22",
        "HashAlgorithm",
        0x8099,
        "The receiver accepts a signed message with HashAlgorithm 0x8099.",
    ),
    (
        "receiver-encryption-algorithm-0x6699-accepted",
        "MQMQ-2.2.19.3-25",
        "EncryptionAlgorithm",
        0x6699,
        "The receiver accepts an encrypted message with EncryptionAlgorithm 0x6699.",
    ),
):
    add(_name, _rule, _says, _accept_undefined_value(_field, _value))


@fault("receiver-privacy-level-2-treated-as-1", breaks="MQMQ-2.2.19.3-21")
class ReceiverPrivacyLevel2TreatedAs1(SecurityOnReceipt):
    """The receiver decrypts a message with PrivacyLevel 2 as a message with PrivacyLevel 1."""

    def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
        properties = packet.MessagePropertiesHeader
        if properties.PrivacyLevel in (2, 4):
            properties = replace(properties, PrivacyLevel=properties.PrivacyLevel - 1)
        return super().decrypt_body(replace(packet, MessagePropertiesHeader=properties), now)


@fault("receiver-hash-algorithm-cut-to-16-bits", breaks="MQMQ-2.2.19.3-22")
class ReceiverHashAlgorithmCutTo16Bits(SecurityOnReceipt):
    """The receiver reads only the lower 16 bits of HashAlgorithm."""

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        properties = packet.MessagePropertiesHeader
        cut = replace(properties, HashAlgorithm=properties.HashAlgorithm & 0xFFFF)
        found = super().authenticate_packet(replace(packet, MessagePropertiesHeader=cut))
        return replace(found, MessagePropertiesHeader=properties)


@fault("receiver-encryption-algorithm-cut-to-16-bits", breaks="MQMQ-2.2.19.3-25")
class ReceiverEncryptionAlgorithmCutTo16Bits(SecurityOnReceipt):
    """The receiver reads only the lower 16 bits of EncryptionAlgorithm."""

    def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
        properties = packet.MessagePropertiesHeader
        cut = replace(properties, EncryptionAlgorithm=properties.EncryptionAlgorithm & 0xFFFF)
        return super().decrypt_body(replace(packet, MessagePropertiesHeader=cut), now)


add(
    "sender-label-cut-at-124-characters",
    (
        "MQMQ-2.2.19.3-29",
        "MQDMPR-3.1.1.12-45",
    ),
    "The sender's UserMessage carries only the first 124 characters of the label.",
    change_constructed_packet(
        lambda packet, message: set_fields(packet, {"MessagePropertiesHeader.Label": message.Label[:124] or None})
    ),
    blind=True,
)


def _change_bytes_of_properties_header(change: Callable[[bytearray, int], None]) -> Install:
    """Change bytes of the MessagePropertiesHeader; `change` is called with the packet's bytes and the offset of the
    header.
    """

    def change_header_bytes(packet: UserMessagePacket) -> bytes:
        headers = (packet.BaseHeader, packet.UserHeader, packet.TransactionHeader, packet.SecurityHeader)
        data = bytearray(packet.build())
        change(data, sum(len(header.build()) for header in headers if header is not None))
        return bytes(data)

    return change_packets_of_kind(UserMessagePacket, change_header_bytes)


def _swap_tag_and_body_type(data: bytearray, at: int) -> None:
    data[at + 24 : at + 28], data[at + 28 : at + 32] = data[at + 28 : at + 32], data[at + 24 : at + 28]


def _reverse_ack_request_bits(data: bytearray, at: int) -> None:
    flags = data[at]
    data[at] = flags & 0xF0 | int(f"{flags & 0x0F:04b}"[::-1], 2)


def _move_class_after_correlation_id(data: bytearray, at: int) -> None:
    data[at + 2 : at + 24] = data[at + 4 : at + 24] + data[at + 2 : at + 4]


for _name, _says, _change in (
    (
        "sender-message-class-after-correlation-id",
        "The sender's MessagePropertiesHeader has MessageClass after CorrelationID.",
        _move_class_after_correlation_id,
    ),
    (
        "sender-application-tag-before-body-type",
        "The sender's MessagePropertiesHeader has ApplicationTag before BodyType.",
        _swap_tag_and_body_type,
    ),
    (
        "sender-acknowledgment-bits-reversed",
        "The sender's MessagePropertiesHeader has PA, PR, NA and NR in the reverse order.",
        _reverse_ack_request_bits,
    ),
):
    add(
        _name,
        (
            "MQMQ-2.2.19.3-D01",
            "MQDMPR-3.1.7.1.32-06",
            "MQDMPR-3.1.7.1.32-03",
            "MQDMPR-3.1.7.1.32-02",
            "MQDMPR-3.1.7.1.32-D02",
        ),
        _says,
        _change_bytes_of_properties_header(_change),
    )


@fault(
    "receiver-body-type-lost",
    breaks=(
        "MQMQ-2.2.19.3-D01",
        "MQDMPR-3.1.7.1.31-04",
        "MQDMPR-3.1.7.1.31-D02",
    ),
)
class ReceiverBodyTypeLost(MessagePositions):
    """The receiver replaces the BodyType of a delivered message with 0."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        return super().insert_message(queue, replace(message, BodyType=0))


def _hash_md5_as_sha_1(packet: UserMessagePacket, message: Message) -> UserMessagePacket:
    properties = packet.MessagePropertiesHeader
    if properties.HashAlgorithm != 0x8003:
        return packet
    return replace(packet, MessagePropertiesHeader=replace(properties, HashAlgorithm=0x8004))


add(
    "sender-requested-md5-replaced-by-sha-1",
    "MQMQ-2.2.19.3-D02",
    "The sender signs with SHA-1 when the application requested MD5.",
    change_constructed_packet(_hash_md5_as_sha_1),
)


@fault("sender-body-of-whole-blocks-not-padded", breaks="MQMQ-2.2.19.3-D04")
class SenderBodyOfWholeBlocksNotPadded(MessageSecuring):
    """If the size of a body is a multiple of the block size, the sender encrypts the body with AES without padding."""

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        size = len(packet.MessagePropertiesHeader.MessageBody)
        secured = super().encrypt_body(session, message, packet, now)
        properties = secured.MessagePropertiesHeader
        if not size or size % 16 or len(properties.MessageBody) != size + 16:
            return secured
        body = properties.MessageBody[:-16]
        return replace(
            secured,
            MessagePropertiesHeader=replace(properties, MessageBody=body, AllocationBodySize=len(body), Padding=None),
        )


@fault("receiver-extension-last-byte-moved-to-body", breaks="MQMQ-2.2.19.3-D05")
class ReceiverExtensionLastByteMovedToBody(MessagePositions):
    """Return the bytes of a message whose padding was computed as if there were no extension."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        extension, body = message.Extension[:-1], message.Extension[-1:] + message.Body
        return super().insert_message(queue, replace(message, Extension=extension, Body=body))


add(
    "sender-extension-reversed",
    "MQMQ-2.2.19.3-D05",
    "The sender's UserMessage carries the bytes of the extension in reverse order.",
    send_wrong_field_values(UserMessagePacket, {"MessagePropertiesHeader.ExtensionData": lambda old: old[::-1]}),
)


add(
    "sender-extension-of-odd-size-followed-by-padding",
    ("MQMQ-2.2.19.3-D05",),
    "The sender inserts a byte of padding between an extension of odd size and the body.",
    change_packets_of_kind(
        USER_MESSAGE_TYPE,
        lambda packet: packet.build().replace(
            packet.MessagePropertiesHeader.ExtensionData + packet.MessagePropertiesHeader.MessageBody,
            packet.MessagePropertiesHeader.ExtensionData + b"\0" + packet.MessagePropertiesHeader.MessageBody[:-1],
        ),
        lambda packet: (
            len(packet.MessagePropertiesHeader.ExtensionData) % 2 == 1
            and len(packet.MessagePropertiesHeader.MessageBody) > 1
        ),
    ),
)
