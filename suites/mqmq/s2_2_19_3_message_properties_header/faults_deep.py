"""Faults of MS-MQMQ 2.2.19.3 that only special cases reveal: later times, other kinds of messages, boundary values, and
ignored bits.
"""

from __future__ import annotations

from dataclasses import replace

from harness.faults.fields import change_number
from harness.faults.parts import fault
from harness.faults.primitives import at_restart, packets
from harness.faults.received_messages import change_received
from harness.faults.registry import add
from harness.faults.sent_messages import change_construction
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.securing import Securing
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.model.adm import Message, MessagePosition, Session
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.surface.clock import Now

NO_ACKNOWLEDGMENTS = {"MessagePropertiesHeader.Flags": 0}
MESSAGE = UserMessagePacket


for _name, _rule, _says, _changes, _when in (
    (
        "receiver-message-properties-bit-4-of-transactional-message-suppresses-acknowledgments",
        "MQMQ-2.2.19.3-05",
        "The receiver sends no acknowledgments for a transactional message when bit 4 of "
        "MessagePropertiesHeader.Flags is set.",
        NO_ACKNOWLEDGMENTS,
        lambda packet: packet.MessagePropertiesHeader.Flags & 0x10 and packet.TransactionHeader is not None,
    ),
    (
        "receiver-message-properties-bit-6-message-expires",
        "MQMQ-2.2.19.3-07",
        "The receiver removes a message after one second when bit 6 of MessagePropertiesHeader.Flags is set.",
        {"UserHeader.TimeToBeReceived": 1},
        lambda packet: packet.MessagePropertiesHeader.Flags & 0x40,
    ),
    (
        "receiver-message-properties-bit-7-makes-express",
        "MQMQ-2.2.19.3-08",
        "The receiver treats a recoverable message as express when bit 7 of MessagePropertiesHeader.Flags is set.",
        {"UserHeader.Flags": lambda flags: flags & ~(3 << 5)},
        lambda packet: packet.MessagePropertiesHeader.Flags & 0x80 and packet.TransactionHeader is None,
    ),
    (
        "receiver-correlation-id-of-transactional-message-cut-to-16-bytes",
        "MQMQ-2.2.19.3-13",
        "The receiver delivers only the first 16 bytes of CorrelationID of a transactional message.",
        {"MessagePropertiesHeader.CorrelationID": lambda old: old[:16] + bytes(4)},
        lambda packet: packet.TransactionHeader is not None,
    ),
    (
        "receiver-application-tag-of-transactional-message-cut-to-31-bits",
        "MQMQ-2.2.19.3-16",
        "The receiver clears the highest bit of ApplicationTag of a transactional message.",
        {"MessagePropertiesHeader.ApplicationTag": lambda old: old & 0x7FFFFFFF},
        lambda packet: packet.TransactionHeader is not None,
    ),
):
    add(_name, _rule, _says, change_received(_changes, _when))


def _clear_tags(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        for position in queue.MessagePositionList:
            position.MessageReference = replace(position.MessageReference, AppSpecific=0)


add(
    "queue-manager-application-tag-lost-at-restart",
    "MQMQ-2.2.19.3-16",
    "At a restart, the receiver sets ApplicationTag of every stored message to 0.",
    at_restart(_clear_tags),
)


def _clear_correlation(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        for position in queue.MessagePositionList:
            position.MessageReference = replace(position.MessageReference, CorrelationIdentifier=bytes(20))


add(
    "receiver-correlation-id-lost-at-restart",
    "MQMQ-2.2.19.3-13",
    "At a restart, the receiver sets CorrelationID of every stored message to zero.",
    at_restart(_clear_correlation),
)
add(
    "sender-extension-of-odd-size-followed-by-padding",
    ("MQMQ-2.2.19.3-D05",),
    "The sender inserts a byte of padding between an extension of odd size and the body.",
    packets(
        MESSAGE,
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
add(
    "sender-message-size-of-body-above-64-kib-rounded",
    "MQMQ-2.2.19.3-17",
    "The sender rounds MessageSize of a body of more than 64 KiB up to a multiple of 4.",
    change_number(
        MESSAGE,
        "MessagePropertiesHeader.MessageSize",
        lambda size: size + -size % 4,
        lambda packet: len(packet.MessagePropertiesHeader.MessageBody) > 0xFFFF,
    ),
)
add(
    "sender-label-length-counts-characters",
    "MQMQ-2.2.19.3-09",
    "The sender counts a character outside the basic plane of Unicode as one WCHAR in LabelLength.",
    change_number(
        MESSAGE,
        "MessagePropertiesHeader.LabelLength",
        lambda size: size - 1,
        lambda packet: any(ord(one) > 0xFFFF for one in packet.MessagePropertiesHeader.Label or ""),
    ),
)


def _hash_md5_as_sha_1(packet: UserMessagePacket, message: Message) -> UserMessagePacket:
    properties = packet.MessagePropertiesHeader
    if properties.HashAlgorithm != 0x8003:
        return packet
    return replace(packet, MessagePropertiesHeader=replace(properties, HashAlgorithm=0x8004))


add(
    "sender-requested-md5-replaced-by-sha-1",
    "MQMQ-2.2.19.3-D02",
    "The sender signs with SHA-1 when the application requested MD5.",
    change_construction(_hash_md5_as_sha_1),
)


@fault("receiver-arrival-of-recoverable-message-not-acknowledged", breaks="MQMQ-2.2.19.3-01")
class ReceiverArrivalOfRecoverableMessageNotAcknowledged(AdminAcks):
    """The receiver does not acknowledge the arrival of a nontransactional recoverable message."""

    def acknowledge_arrival(self, position: MessagePosition, now: Now) -> None:
        message = position.MessageReference
        express = message.DeliveryGuarantee is DeliveryGuarantee.EXPRESS
        if express or message.TransactionIdentifier is not None:
            super().acknowledge_arrival(position, now)


@fault("receiver-receipt-not-acknowledged-if-arrival-was", breaks="MQMQ-2.2.19.3-02")
class ReceiverReceiptNotAcknowledgedIfArrivalWas(AdminAcks):
    """The receiver sends no acknowledgment of class ACK_RECEIVE for a message if it has acknowledged the arrival of the
    message.
    """

    def acknowledge_receive(self, message: Message, reason: MessageClass, now: Now) -> None:
        if reason is not MessageClass.MQMSG_CLASS_ACK_RECEIVE or not message.AcknowledgementsRequested & 1:
            super().acknowledge_receive(message, reason, now)


@fault("receiver-full-queue-not-acknowledged", breaks="MQMQ-2.2.19.3-03")
class ReceiverFullQueueNotAcknowledged(AdminAcks):
    """The receiver does not acknowledge a message that it refuses because its queue is full."""

    def acknowledge_failure(self, message: Message, message_class: MessageClass, now: Now) -> None:
        if message_class is not MessageClass.MQMSG_CLASS_NACK_Q_EXCEED_QUOTA:
            super().acknowledge_failure(message, message_class, now)


@fault("receiver-purged-transactional-message-not-acknowledged", breaks="MQMQ-2.2.19.3-04")
class ReceiverPurgedTransactionalMessageNotAcknowledged(AdminAcks):
    """The receiver sends no negative acknowledgment for a transactional message that is purged."""

    def acknowledge_receive(self, message: Message, reason: MessageClass, now: Now) -> None:
        if reason is not MessageClass.MQMSG_CLASS_NACK_Q_PURGED or message.TransactionIdentifier is None:
            super().acknowledge_receive(message, reason, now)


@fault("receiver-correlation-id-of-refusal-that-of-message", breaks="MQMQ-2.2.19.3-14")
class ReceiverCorrelationIdOfRefusalThatOfMessage(AdminAcks):
    """A queue manager sends a negative acknowledgment with the CorrelationID of the refused message."""

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        built = super().build(message, message_class, now)
        if message_class & 0x8000:
            built = replace(built, CorrelationIdentifier=message.CorrelationIdentifier)
        return built


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


@fault("sender-body-of-whole-blocks-not-padded", breaks="MQMQ-2.2.19.3-D04")
class SenderBodyOfWholeBlocksNotPadded(Securing):
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
