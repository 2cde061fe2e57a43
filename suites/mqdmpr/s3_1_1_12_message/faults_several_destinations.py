"""Faults that break MQDMPR-3.1.1.12-29 and MQDMPR-3.1.1.12-48 for one kind of message."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.primitives import set_fields
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.transfer.message_securing import MessageSecuring
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import Message, MessagePosition

UNLISTED_HASH_ALGORITHM = 0x8005
"""The identifier of a MAC algorithm, which MS-MQDMPR 3.1.1.12 does not list."""


class _SecondSignatureAdderForSeveralQueues(MessageSecuring):
    """Add the signature of some messages to several queues also to the SecurityHeader; a subclass selects which."""

    def is_signed_twice(self, message: Message, packet: UserMessagePacket) -> bool:
        """Return whether the SecurityHeader also gets the signature."""
        return False

    def sign_packet(self, message: Message, packet: UserMessagePacket) -> UserMessagePacket:
        signed = super().sign_packet(message, packet)
        several, security = signed.MultiQueueFormatHeader, signed.SecurityHeader
        if several is None or security is None or not several.Signature.Signature:
            return signed
        if not self.is_signed_twice(message, signed):
            return signed
        data = replace(security.SecurityData, Signature=several.Signature.Signature, Padding=None)
        return replace(
            set_fields(signed, {"BaseHeader.PacketSize": 0}), SecurityHeader=replace(security, SecurityData=data)
        )


@fault("sender-transactional-message-to-several-queues-signed-twice", breaks="MQDMPR-3.1.1.12-29", blind=True)
class SenderTransactionalMessageToSeveralQueuesSignedTwice(_SecondSignatureAdderForSeveralQueues):
    """A signed transactional message to several queues also has a Signature."""

    def is_signed_twice(self, message: Message, packet: UserMessagePacket) -> bool:
        return message.TransactionIdentifier is not None


@fault("sender-message-to-several-queues-with-admin-queue-signed-twice", breaks="MQDMPR-3.1.1.12-29", blind=True)
class SenderMessageToSeveralQueuesWithAdminQueueSignedTwice(_SecondSignatureAdderForSeveralQueues):
    """A signed message to several queues that has an administration queue also has a Signature."""

    def is_signed_twice(self, message: Message, packet: UserMessagePacket) -> bool:
        return bool(message.AdministrationQueueFormatName)


@fault("sender-large-message-to-several-queues-has-no-signature", breaks="MQDMPR-3.1.1.12-29", blind=True)
class SenderLargeMessageToSeveralQueuesHasNoSignature(MessageSecuring):
    """A message to several queues with a body of more than 1,000 bytes has no MultipleDestinationSignature."""

    def sign_packet(self, message: Message, packet: UserMessagePacket) -> UserMessagePacket:
        signed = super().sign_packet(message, packet)
        several = signed.MultiQueueFormatHeader
        if several is None or len(message.Body) <= 1_000:
            return signed
        empty = replace(several.Signature, Signature=b"", Padding=None)
        return replace(
            set_fields(signed, {"BaseHeader.PacketSize": 0}), MultiQueueFormatHeader=replace(several, Signature=empty)
        )


class _HashAlgorithmChanger(MessageSending):
    """Send some messages with a HashAlgorithm that the document does not list; a subclass selects which."""

    def has_wrong_hash_algorithm(self, packet: UserMessagePacket) -> bool:
        """Return whether a packet gets the wrong HashAlgorithm."""
        return False

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet = super().construct_user_message(position)
        wrong = {"MessagePropertiesHeader.HashAlgorithm": UNLISTED_HASH_ALGORITHM}
        return set_fields(packet, wrong) if self.has_wrong_hash_algorithm(packet) else packet


@fault("sender-hash-algorithm-of-acknowledgment-unlisted", breaks="MQDMPR-3.1.1.12-48", blind=True)
class SenderHashAlgorithmOfAcknowledgmentUnlisted(_HashAlgorithmChanger):
    """The HashAlgorithm of an acknowledgment is 0x8005."""

    def has_wrong_hash_algorithm(self, packet: UserMessagePacket) -> bool:
        return packet.MessagePropertiesHeader.MessageClass != MessageClass.MQMSG_CLASS_NORMAL


@fault("sender-hash-algorithm-of-unsigned-message-unlisted", breaks="MQDMPR-3.1.1.12-48", blind=True)
class SenderHashAlgorithmOfUnsignedMessageUnlisted(_HashAlgorithmChanger):
    """The HashAlgorithm of a recoverable message without a SecurityHeader is 0x8005."""

    def has_wrong_hash_algorithm(self, packet: UserMessagePacket) -> bool:
        return packet.SecurityHeader is None and bool(packet.UserHeader.DM)


@fault("sender-hash-algorithm-of-message-to-several-queues-unlisted", breaks="MQDMPR-3.1.1.12-48", blind=True)
class SenderHashAlgorithmOfMessageToSeveralQueuesUnlisted(_HashAlgorithmChanger):
    """The HashAlgorithm of an unsigned message to several queues is 0x8005."""

    def has_wrong_hash_algorithm(self, packet: UserMessagePacket) -> bool:
        return packet.MultiQueueFormatHeader is not None and packet.SecurityHeader is None


@fault("sender-resent-message-to-several-queues-signed-twice", breaks="MQDMPR-3.1.1.12-29")
class SenderResentMessageToSeveralQueuesSignedTwice(_SecondSignatureAdderForSeveralQueues):
    """A signed message to several queues that is sent again also has a Signature."""

    def is_signed_twice(self, message: Message, packet: UserMessagePacket) -> bool:
        sent: set[int] = getattr(self, "sent", set())
        self.sent = sent | {message.Identifier.Ordinal}
        return message.Identifier.Ordinal in sent
