"""Faults that break the rules MQMQ-2.5.1-04 to MQMQ-2.5.3-14."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.primitives import set_fields
from reference_qm.codec import (
    DirectQueueFormatName,
    MessagePropertiesHeader,
    PrivateQueueFormatNameId,
    UserMessagePacket,
)
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.security import SignatureType

LARGEST_HASHED_BODY_BYTES = 0x1000


@fault("queue-manager-msmq1-signature-omits-body-beyond-4096-bytes", breaks="MQMQ-2.5.1-04", blind=True)
class QueueManagerMsmq1SignatureOmitsBodyBeyond4096Bytes(SecurityOnReceipt):
    """An MSMQ 1.0 signature covers only the first 4096 bytes of the body."""

    def build_signed_properties(self, packet: UserMessagePacket, kind: SignatureType) -> bytes:
        properties = packet.MessagePropertiesHeader
        if kind is SignatureType.SIG10 and len(properties.MessageBody) > LARGEST_HASHED_BODY_BYTES:
            short = replace(properties, MessageBody=properties.MessageBody[:LARGEST_HASHED_BODY_BYTES])
            packet = replace(packet, MessagePropertiesHeader=short)
        return super().build_signed_properties(packet, kind)


LARGEST_SIGNED_BODY_BYTES = 1024


@fault("queue-manager-msmq1-signature-covers-first-1024-body-bytes", breaks="MQMQ-2.5.1-04", blind=True)
class QueueManagerMsmq1SignatureCoversFirst1024BodyBytes(SecurityOnReceipt):
    """The MSMQ 1.0 digital signature covers only the first 1024 bytes of MessageBody."""

    def build_signed_properties(self, packet: UserMessagePacket, kind: SignatureType) -> bytes:
        if kind is SignatureType.SIG10:
            properties = packet.MessagePropertiesHeader
            body = properties.MessageBody[:LARGEST_SIGNED_BODY_BYTES]
            packet = replace(packet, MessagePropertiesHeader=replace(properties, MessageBody=body))
        content: bytes = super().build_signed_properties(packet, kind)
        return content


@fault("receiver-msmq1-signature-check-omits-private-response-queue", breaks="MQMQ-2.5.1-06", blind=True)
class ReceiverMsmq1SignatureCheckOmitsPrivateResponseQueue(SecurityOnReceipt):
    """If the response queue has a private format name, the receiver verifies an MSMQ 1.0 signature as if the message
    had no response queue.
    """

    def build_signed_properties(self, packet: UserMessagePacket, kind: SignatureType) -> bytes:
        if kind is SignatureType.SIG10 and isinstance(packet.UserHeader.ResponseQueue, PrivateQueueFormatNameId):
            packet = replace(packet, UserHeader=replace(packet.UserHeader, ResponseQueue=None))
        return super().build_signed_properties(packet, kind)


@fault("queue-manager-msmq2-signature-covers-124-label-characters", breaks="MQMQ-2.5.2-05", blind=True)
class QueueManagerMsmq2SignatureCovers124LabelCharacters(SecurityOnReceipt):
    """An MSMQ 2.0 signature covers only the first 124 characters of a label."""

    def build_signed_properties(self, packet: UserMessagePacket, kind: SignatureType) -> bytes:
        header = packet.MessagePropertiesHeader
        if kind is SignatureType.SIG20 and header.Label is not None:
            packet = replace(packet, MessagePropertiesHeader=replace(header, Label=header.Label[:124]))
        return super().build_signed_properties(packet, kind)


@fault("queue-manager-msmq2-signature-covers-only-direct-admin-queue", breaks="MQMQ-2.5.2-07", blind=True)
class QueueManagerMsmq2SignatureCoversOnlyDirectAdminQueue(SecurityOnReceipt):
    """An MSMQ 2.0 signature covers an administration queue only if the message contains its direct name."""

    def build_signed_properties(self, packet: UserMessagePacket, kind: SignatureType) -> bytes:
        header = packet.UserHeader
        if kind is SignatureType.SIG20 and not isinstance(header.AdminQueue, DirectQueueFormatName):
            packet = replace(packet, UserHeader=replace(header, AdminQueue=None))
        return super().build_signed_properties(packet, kind)


@fault("queue-manager-msmq2-signature-omits-nack-bits-na-and-nr", breaks="MQMQ-2.5.2-12", blind=True)
class QueueManagerMsmq2SignatureOmitsNackBitsNaAndNr(SecurityOnReceipt):
    """An MSMQ 2.0 signature covers the acknowledgment bits PA and PR, but not NA and NR."""

    def build_signed_properties(self, packet: UserMessagePacket, kind: SignatureType) -> bytes:
        header = packet.MessagePropertiesHeader
        if kind is SignatureType.SIG20:
            packet = replace(packet, MessagePropertiesHeader=replace(header, Flags=header.Flags & 0x03))
        return super().build_signed_properties(packet, kind)


NEGATIVE_RECEIVE_FLAG = MessagePropertiesHeader.flags(NR=1)


@fault("queue-manager-msmq3-signature-omits-acknowledgment-bit-nr", breaks="MQMQ-2.5.3-14", blind=True)
class QueueManagerMsmq3SignatureOmitsAcknowledgmentBitNr(SecurityOnReceipt):
    """An MSMQ 3.0 signature covers the acknowledgment bits PA, PR and NA, but not NR."""

    def build_signed_properties(self, packet: UserMessagePacket, kind: SignatureType) -> bytes:
        properties = packet.MessagePropertiesHeader
        if kind is SignatureType.SIG30:
            cleared = replace(properties, Flags=properties.Flags & ~NEGATIVE_RECEIVE_FLAG)
            packet = replace(packet, MessagePropertiesHeader=cleared)
        return super().build_signed_properties(packet, kind)


_SOURCE_DELIVERY_AND_PRIORITY_SIZE = 18


"""The number of bytes that an MSMQ 2.0 signature covers between the last field of MSMQ 1.0 and the journaling bits."""


@fault("queue-manager-msmq2-signature-puts-ack-bits-before-journal-bits", breaks="MQMQ-2.5.2-12", blind=True)
class QueueManagerMsmq2SignaturePutsAckBitsBeforeJournalBits(SecurityOnReceipt):
    """An MSMQ 2.0 signature of the queue manager covers the acknowledgment bits before the journaling bits."""

    def build_signed_properties(self, packet: UserMessagePacket, kind: SignatureType) -> bytes:
        content = super().build_signed_properties(packet, kind)
        if kind is not SignatureType.SIG20:
            return content
        at = len(super().build_signed_properties(packet, SignatureType.SIG10)) + _SOURCE_DELIVERY_AND_PRIORITY_SIZE
        return content[:at] + content[at : at + 2][::-1] + content[at + 2 :]


@fault("queue-manager-msmq2-signature-covers-low-half-of-application-tag", breaks="MQMQ-2.5.2-03", blind=True)
class QueueManagerMsmq2SignatureCoversLowHalfOfApplicationTag(SecurityOnReceipt):
    """An MSMQ 2.0 signature of the queue manager covers only the low 16 bits of ApplicationTag."""

    def build_signed_properties(self, packet: UserMessagePacket, kind: SignatureType) -> bytes:
        if kind is SignatureType.SIG20:
            packet = set_fields(packet, {"MessagePropertiesHeader.ApplicationTag": lambda tag: tag & 0xFFFF})
        return super().build_signed_properties(packet, kind)
