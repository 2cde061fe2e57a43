"""Faults of MS-MQQB 3.1.7.1.5 Encrypting the Message Body that only special cases reveal: second occurrences, other
causes, boundary values.
"""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.transfer.securing import Securing
from reference_qm.core.transfer.sending import Sending
from reference_qm.model.adm import Message, MessagePosition, OutgoingMessagePosition, Session
from reference_qm.security.caches import SecuritySettings
from reference_qm.security.security_error import SecurityError
from reference_qm.surface.clock import Now


@fault("sender-large-body-not-encrypted", breaks="MQQB-3.1.7.1.5-01", blind=True)
class SenderLargeBodyNotEncrypted(Securing):
    """The sender does not encrypt a body that is larger than 64 KB."""

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        return packet if len(message.Body) > 0x10000 else super().encrypt_body(session, message, packet, now)


@fault("sender-transactional-message-that-cannot-be-encrypted-sent", breaks="MQQB-3.1.7.1.5.1-01", blind=True)
class SenderTransactionalMessageThatCannotBeEncryptedSent(Sending):
    """If the sender cannot encrypt a transactional message, it sends the message unencrypted."""

    def handle_encryption_error(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        if not position.TxSequenceNumber:
            super().handle_encryption_error(session, position, now)
            return
        place = position.MessagePosition
        message = replace(place.MessageReference, security=None)
        clear = self.construct_user_message(MessagePosition(message, place.QueueReference))
        position.UserMessage = replace(clear, TransactionHeader=position.UserMessage.TransactionHeader)
        self.transmit(session, position, self.update_user_message(session, position, now))


@fault("sender-recoverable-message-that-cannot-be-encrypted-not-journaled", breaks="MQQB-3.1.7.1.5.1-02", blind=True)
class SenderRecoverableMessageThatCannotBeEncryptedNotJournaled(Sending):
    """The sender does not journal a recoverable message that it cannot encrypt."""

    def delete_unsent(self, session: Session, position: OutgoingMessagePosition) -> None:
        if position.recoverable and not position.TxSequenceNumber:
            self.remove_unsent(session, position)
            return
        super().delete_unsent(session, position)


class _ChangingMessagesWithCachedKey(Securing):
    """Change only messages that the sender encrypts with a key that it has used before."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.blobs: set[bytes] = set()

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        done = super().encrypt_body(session, message, packet, now)
        header = done.SecurityHeader
        if header is None or not header.EB:
            return done
        blob = header.SecurityData.EncryptionKey
        known = blob in self.blobs
        self.blobs.add(blob)
        return self.change(done, packet, known)

    def change(self, done: UserMessagePacket, clear: UserMessagePacket, known: bool) -> UserMessagePacket:
        return done


@fault("sender-encryption-algorithm-of-cached-key-always-rc4", breaks="MQQB-3.1.7.1.5-40", blind=True)
class SenderEncryptionAlgorithmOfCachedKeyAlwaysRc4(_ChangingMessagesWithCachedKey):
    """The sender sets EncryptionAlgorithm to RC4 in every message whose key is in its cache."""

    def change(self, done: UserMessagePacket, clear: UserMessagePacket, known: bool) -> UserMessagePacket:
        properties = done.MessagePropertiesHeader
        return replace(done, MessagePropertiesHeader=replace(properties, EncryptionAlgorithm=0x6801)) if known else done


@fault("sender-encryption-key-of-cached-key-omitted", breaks="MQQB-3.1.7.1.5-42", blind=True)
class SenderEncryptionKeyOfCachedKeyOmitted(_ChangingMessagesWithCachedKey):
    """The sender sends EncryptionKey only in the first message that a key encrypts."""

    def change(self, done: UserMessagePacket, clear: UserMessagePacket, known: bool) -> UserMessagePacket:
        header = done.SecurityHeader
        assert header is not None
        data = replace(header.SecurityData, EncryptionKey=b"", Padding=None)
        size = replace(done.BaseHeader, PacketSize=0)
        return replace(done, BaseHeader=size, SecurityHeader=replace(header, SecurityData=data)) if known else done


@fault("sender-provider-of-cached-key-omitted", breaks="MQQB-3.1.7.1.5-41", blind=True)
class SenderProviderOfCachedKeyOmitted(_ChangingMessagesWithCachedKey):
    """The sender sends ProviderInfo only in the first message that a key encrypts."""

    def change(self, done: UserMessagePacket, clear: UserMessagePacket, known: bool) -> UserMessagePacket:
        header = done.SecurityHeader
        assert header is not None
        data = replace(header.SecurityData, ProviderInfo=b"", Padding=None)
        size = replace(done.BaseHeader, PacketSize=0)
        return replace(done, BaseHeader=size, SecurityHeader=replace(header, SecurityData=data)) if known else done


@fault("sender-body-with-cached-key-garbled", breaks="MQQB-3.1.7.1.5-36", blind=True)
class SenderBodyWithCachedKeyGarbled(_ChangingMessagesWithCachedKey):
    """The sender garbles the first byte of a body that it encrypts with a cached key."""

    def change(self, done: UserMessagePacket, clear: UserMessagePacket, known: bool) -> UserMessagePacket:
        properties = done.MessagePropertiesHeader
        body = bytes([properties.MessageBody[0] ^ 1]) + properties.MessageBody[1:]
        return replace(done, MessagePropertiesHeader=replace(properties, MessageBody=body)) if known else done


@fault("sender-aes-initial-value-of-second-message-not-zero", breaks="MQQB-3.1.7.1.5-37", blind=True)
class SenderAesInitialValueOfSecondMessageNotZero(_ChangingMessagesWithCachedKey):
    """The sender encrypts a body with a nonzero initialization vector when it uses an AES key from its cache."""

    def change(self, done: UserMessagePacket, clear: UserMessagePacket, known: bool) -> UserMessagePacket:
        properties = done.MessagePropertiesHeader
        if not known or properties.PrivacyLevel != 5:
            return done
        body = bytes([properties.MessageBody[0] ^ 1]) + properties.MessageBody[1:]
        return replace(done, MessagePropertiesHeader=replace(properties, MessageBody=body))


@fault("sender-allocation-size-of-large-encrypted-body-of-clear-body", breaks="MQQB-3.1.7.1.5-38", blind=True)
class SenderAllocationSizeOfLargeEncryptedBodyOfClearBody(_ChangingMessagesWithCachedKey):
    """The sender sets AllocationBodySize of an encrypted body of more than 64 KB to the size before encryption."""

    def change(self, done: UserMessagePacket, clear: UserMessagePacket, known: bool) -> UserMessagePacket:
        size = len(clear.MessagePropertiesHeader.MessageBody)
        properties = replace(done.MessagePropertiesHeader, AllocationBodySize=size)
        return replace(done, MessagePropertiesHeader=properties) if size > 0x10000 else done


@fault(
    "sender-preference-of-first-encrypted-message",
    breaks=("MQQB-3.1.7.1.5-14", "MQQB-3.1.7.1.5-16", "MQQB-3.1.7.1.5-19"),
    blind=True,
)
class SenderPreferenceOfFirstEncryptedMessage(Securing):
    """The sender keeps the preferred algorithms that were configured when it first encrypted a message."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.settings: SecuritySettings | None = None

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        present = self.qm.caches.settings
        if message.security is not None and message.security.PrivacyLevel:
            self.settings = self.settings or present
            self.qm.caches.settings = self.settings
        try:
            return super().encrypt_body(session, message, packet, now)
        finally:
            self.qm.caches.settings = present


@fault("sender-level-without-key-replaced-by-base", breaks=("MQQB-3.1.7.1.5-15", "MQQB-3.1.7.1.5-18"), blind=True)
class SenderLevelWithoutKeyReplacedByBase(Securing):
    """When the remote queue manager has no key for the level of a message, the sender encrypts for the level Base."""

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        try:
            return super().encrypt_body(session, message, packet, now)
        except SecurityError:
            properties = replace(packet.MessagePropertiesHeader, PrivacyLevel=1)
            if message.security is None or packet.MessagePropertiesHeader.PrivacyLevel < 3:
                raise
            security = replace(message.security, PrivacyLevel=1)
            return super().encrypt_body(
                session, replace(message, security=security), replace(packet, MessagePropertiesHeader=properties), now
            )


@fault("sender-recoverable-message-to-direct-name-sent-in-clear", breaks="MQQB-3.1.7.1.5-03", blind=True)
class SenderRecoverableMessageToDirectNameSentInClear(Securing):
    """The sender sends a recoverable message with a privacy level to a direct name unencrypted."""

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        if packet.UserHeader.DQ == 7 and packet.UserHeader.DM:
            return packet
        return super().encrypt_body(session, message, packet, now)


@fault("sender-message-that-cannot-be-encrypted-tried-again-on-next-session", breaks="MQQB-3.1.7.1.5.1-01")
class SenderMessageThatCannotBeEncryptedTriedAgainOnNextSession(Sending):
    """The sender journals a message that it cannot encrypt, but does not delete the message from its
    OutgoingMessageTable, and tries to send the message again on the next session.
    """

    def delete_unsent(self, session: Session, position: OutgoingMessagePosition) -> None:
        self.qm.journaling.journal_failed(position.MessagePosition)
