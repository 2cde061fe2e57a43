"""Faults that break the rules MQQB-3.1.7.1.5-30 to MQQB-3.1.7.1.5.1-D01."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.connection_history import omit_connection_history_entries
from harness.faults.fields import add_to_field
from harness.faults.parts import fault
from harness.faults.primitives import replace_method_during
from harness.faults.registry import add
from reference_qm.codec import ProviderInfo, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.queueing.message_journaling import MessageJournaling
from reference_qm.core.transfer.message_securing import MessageSecuring
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import Message, MessagePosition, OutgoingMessagePosition, Queue, Session
from reference_qm.model.states import ConnectionStatus
from reference_qm.surface.clock import Now
from suites.mqqb.s3_1_7_01_5_encrypting_the_message_body.fault_steps import (
    change_encrypted_message,
    change_security_data,
    invert_lowest_bit_of_every_byte,
)

add(
    "sender-simple-blob-without-key",
    ("MQQB-3.1.7.1.5-30", "MQDMPR-3.1.1.12-D55", "MQQB-3.1.7.1.5-42"),
    "The sender's EncryptionKey is a SIMPLEBLOB that ends before the key.",
    change_encrypted_message(change_security_data(EncryptionKey=lambda blob: blob[:12])),
)


_MESSAGE_BODY_PATH = "MessagePropertiesHeader.MessageBody"


add(
    "sender-encrypted-body-corrupt",
    ("MQQB-3.1.7.1.5-35", "MQQB-3.1.7.1.5-36"),
    "The sender's message has a body that cannot be decrypted with the key in the message.",
    change_encrypted_message({_MESSAGE_BODY_PATH: invert_lowest_bit_of_every_byte}),
)


class _ChangerOfMessagesEncryptedWithReusedKey(MessageSecuring):
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


@fault("sender-body-with-cached-key-garbled", breaks="MQQB-3.1.7.1.5-36", blind=True)
class SenderBodyWithCachedKeyGarbled(_ChangerOfMessagesEncryptedWithReusedKey):
    """The sender garbles the first byte of a body that it encrypts with a cached key."""

    def change(self, done: UserMessagePacket, clear: UserMessagePacket, known: bool) -> UserMessagePacket:
        properties = done.MessagePropertiesHeader
        body = bytes([properties.MessageBody[0] ^ 1]) + properties.MessageBody[1:]
        return replace(done, MessagePropertiesHeader=replace(properties, MessageBody=body)) if known else done


def _is_encrypted_by_aes(packet: UserMessagePacket) -> bool:
    return packet.MessagePropertiesHeader.EncryptionAlgorithm in (0x660E, 0x660F, 0x6610)


add(
    "sender-aes-initialization-vector-not-zero",
    "MQQB-3.1.7.1.5-37",
    "The sender encrypts a body with AES and an initialization vector other than zeros.",
    change_encrypted_message(
        {_MESSAGE_BODY_PATH: lambda body: invert_lowest_bit_of_every_byte(body[:16]) + body[16:]}, _is_encrypted_by_aes
    ),
)


@fault("sender-aes-initial-value-of-second-message-not-zero", breaks="MQQB-3.1.7.1.5-37", blind=True)
class SenderAesInitialValueOfSecondMessageNotZero(_ChangerOfMessagesEncryptedWithReusedKey):
    """The sender encrypts a body with a nonzero initialization vector when it uses an AES key from its cache."""

    def change(self, done: UserMessagePacket, clear: UserMessagePacket, known: bool) -> UserMessagePacket:
        properties = done.MessagePropertiesHeader
        if not known or properties.PrivacyLevel != 5:
            return done
        body = bytes([properties.MessageBody[0] ^ 1]) + properties.MessageBody[1:]
        return replace(done, MessagePropertiesHeader=replace(properties, MessageBody=body))


add(
    "sender-encrypted-message-allocation-size-low",
    "MQQB-3.1.7.1.5-38",
    "The sender's encrypted message has an AllocationBodySize that is one too low.",
    add_to_field(
        UserMessagePacket,
        "MessagePropertiesHeader.AllocationBodySize",
        -1,
        lambda packet: packet.SecurityHeader is not None and packet.SecurityHeader.EB,
    ),
)


@fault("sender-allocation-size-of-large-encrypted-body-is-clear-size", breaks="MQQB-3.1.7.1.5-38", blind=True)
class SenderAllocationSizeOfLargeEncryptedBodyIsClearSize(_ChangerOfMessagesEncryptedWithReusedKey):
    """The sender sets AllocationBodySize of an encrypted body of more than 64 KB to the size before encryption."""

    def change(self, done: UserMessagePacket, clear: UserMessagePacket, known: bool) -> UserMessagePacket:
        size = len(clear.MessagePropertiesHeader.MessageBody)
        properties = replace(done.MessagePropertiesHeader, AllocationBodySize=size)
        return replace(done, MessagePropertiesHeader=properties) if size > 0x10000 else done


add(
    "sender-encryption-algorithm-unknown",
    ("MQQB-3.1.7.1.5-40", "MQDMPR-3.1.7.1.32-D12"),
    "The sender's encrypted message has an unknown value in EncryptionAlgorithm.",
    change_encrypted_message({"MessagePropertiesHeader.EncryptionAlgorithm": 0x6604}),
)


@fault("sender-encryption-algorithm-of-cached-key-always-rc4", breaks="MQQB-3.1.7.1.5-40", blind=True)
class SenderEncryptionAlgorithmOfCachedKeyAlwaysRc4(_ChangerOfMessagesEncryptedWithReusedKey):
    """The sender sets EncryptionAlgorithm to RC4 in every message whose key is in its cache."""

    def change(self, done: UserMessagePacket, clear: UserMessagePacket, known: bool) -> UserMessagePacket:
        properties = done.MessagePropertiesHeader
        return replace(done, MessagePropertiesHeader=replace(properties, EncryptionAlgorithm=0x6801)) if known else done


add(
    "sender-provider-info-wrong-provider",
    ("MQQB-3.1.7.1.5-41", "MQDMPR-3.1.1.12-D66"),
    "The sender's encrypted message names a wrong provider in ProviderInfo.",
    change_encrypted_message(change_security_data(ProviderInfo=ProviderInfo(1, "Another Provider").build())),
)


@fault("sender-provider-of-cached-key-omitted", breaks="MQQB-3.1.7.1.5-41", blind=True)
class SenderProviderOfCachedKeyOmitted(_ChangerOfMessagesEncryptedWithReusedKey):
    """The sender sends ProviderInfo only in the first message that a key encrypts."""

    def change(self, done: UserMessagePacket, clear: UserMessagePacket, known: bool) -> UserMessagePacket:
        header = done.SecurityHeader
        assert header is not None
        data = replace(header.SecurityData, ProviderInfo=b"", Padding=None)
        size = replace(done.BaseHeader, PacketSize=0)
        return replace(done, BaseHeader=size, SecurityHeader=replace(header, SecurityData=data)) if known else done


@fault("sender-encryption-key-of-cached-key-omitted", breaks="MQQB-3.1.7.1.5-42", blind=True)
class SenderEncryptionKeyOfCachedKeyOmitted(_ChangerOfMessagesEncryptedWithReusedKey):
    """The sender sends EncryptionKey only in the first message that a key encrypts."""

    def change(self, done: UserMessagePacket, clear: UserMessagePacket, known: bool) -> UserMessagePacket:
        header = done.SecurityHeader
        assert header is not None
        data = replace(header.SecurityData, EncryptionKey=b"", Padding=None)
        size = replace(done.BaseHeader, PacketSize=0)
        return replace(done, BaseHeader=size, SecurityHeader=replace(header, SecurityData=data)) if known else done


@fault("sender-transactional-message-that-cannot-be-encrypted-sent", breaks="MQQB-3.1.7.1.5.1-01", blind=True)
class SenderTransactionalMessageThatCannotBeEncryptedSent(MessageSending):
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


@fault("sender-message-that-cannot-be-encrypted-tried-again-on-next-session", breaks="MQQB-3.1.7.1.5.1-01")
class SenderMessageThatCannotBeEncryptedTriedAgainOnNextSession(MessageSending):
    """The sender journals a message that it cannot encrypt, but does not delete the message from its
    OutgoingMessageTable, and tries to send the message again on the next session.
    """

    def delete_unsent_message(self, session: Session, position: OutgoingMessagePosition) -> None:
        self.qm.message_journaling.journal_failed_message(position.MessagePosition)


@fault("sender-dead-letter-of-unencryptable-message-missing", breaks="MQQB-3.1.7.1.5.1-02")
class SenderDeadLetterOfUnencryptableMessageMissing(MessageSending):
    """The sender does not put a message with JN into a dead-letter queue when it cannot encrypt the message."""

    def handle_encryption_error(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        reference = position.MessagePosition
        reference.MessageReference = replace(reference.MessageReference, NegativeJournalingRequested=False)
        super().handle_encryption_error(session, position, now)


@fault("sender-recoverable-message-that-cannot-be-encrypted-not-journaled", breaks="MQQB-3.1.7.1.5.1-02", blind=True)
class SenderRecoverableMessageThatCannotBeEncryptedNotJournaled(MessageSending):
    """The sender does not journal a recoverable message that it cannot encrypt."""

    def delete_unsent_message(self, session: Session, position: OutgoingMessagePosition) -> None:
        if position.recoverable and not position.TxSequenceNumber:
            self.remove_unsent_message(session, position)
            return
        super().delete_unsent_message(session, position)


add(
    "sender-connection-history-of-encryption-failure-missing",
    "MQQB-3.1.7.1.5.1-03",
    "The sender adds no entry to ConnectionHistory for a message that cannot be encrypted.",
    omit_connection_history_entries({ConnectionStatus.CERTIFICATE_VALIDATION_FAILURE}),
)


@fault(
    "sender-dead-letter-of-transactional-message-in-wrong-queue", breaks=("MQQB-3.1.7.1.5.1-D01", "MQSO-5.1.1.2-D13")
)
class SenderDeadLetterOfTransactionalMessageInWrongQueue(MessageJournaling):
    """When the sender cannot encrypt a transactional message, it puts the message into the
    nontransactional dead-letter queue.
    """

    def find_dead_letter_queue(self, message: Message) -> Queue:
        return self.qm.adm.SystemDeadletterQueue


def _use_nontransactional_dead_letter_queue(original: Callable[..., Queue], *_: object) -> Callable[..., Queue]:
    return lambda qm, message: qm.adm.SystemDeadletterQueue


add(
    "sender-unencryptable-transactional-message-in-nontransactional-dead-letter-queue",
    "MQQB-3.1.7.1.5.1-D01",
    "The sender puts a transactional message that cannot be encrypted into the nontransactional dead-letter queue.",
    replace_method_during(
        MessageSending.delete_unsent_message,
        MessageJournaling.find_dead_letter_queue,
        _use_nontransactional_dead_letter_queue,
    ),
    blind=True,
)
