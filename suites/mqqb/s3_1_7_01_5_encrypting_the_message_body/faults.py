"""Faults of MS-MQQB 3.1.7.1.5 Encrypting the Message Body and 3.1.7.1.5.1."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.connection_history import omit_history_entries
from harness.faults.fields import off_by
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import set_fields
from harness.faults.registry import Install, add
from reference_qm.codec import ProviderInfo, UserMessagePacket
from reference_qm.core.names.security_lookup import SecurityLookup
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.journaling import Journaling
from reference_qm.core.transfer.securing import Securing
from reference_qm.core.transfer.sending import Sending
from reference_qm.model.adm import Message, OutgoingMessagePosition, Queue, Session
from reference_qm.model.states import ConnectionStatus
from reference_qm.security import MqdsPublicKeys, PrivacyLevel, SecurityError, SecuritySettings
from reference_qm.surface.clock import Now

_PRIVACY_LEVEL_FIELD = "MessagePropertiesHeader.PrivacyLevel"
_BODY_PATH = "MessagePropertiesHeader.MessageBody"
_SECURITY_DATA_PATH = "SecurityHeader.SecurityData"

# -- the decision to encrypt -----------------------------------------------------------------------------------------


@fault(
    "sender-body-never-encrypted",
    breaks=(
        "MQQB-3.1.7.1.5-01",
        "MQQB-3.1.7.1.5-23",
        "MQQB-3.1.7.1.5-24",
        "MQQB-3.1.7.1.5-30",
        "MQDMPR-3.1.1.12-D55",
        "MQQB-3.1.7.1.5-35",
        "MQQB-3.1.7.1.5-36",
        "MQQB-3.1.7.1.5-42",
        "MQSO-7.4.1.4.3-D01",
    ),
)
class SenderBodyNeverEncrypted(Securing):
    """The sender never encrypts a body."""

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        return packet


@fault(
    "sender-sends-body-unencrypted-when-encryption-fails",
    breaks=(
        "MQQB-3.1.7.1.5-03",
        "MQQB-3.1.7.1.5-09",
        "MQQB-3.1.7.1.5-15",
        "MQQB-3.1.7.1.5-18",
        "MQQB-3.1.7.1.5-20",
        "MQQB-3.1.7.1.5-39",
        "MQQB-3.1.7.1.5.1-01",
    ),
)
class SenderSendsBodyUnencryptedWhenEncryptionFails(Securing):
    """The sender sends a message unencrypted when it cannot encrypt the body."""

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        try:
            return super().encrypt_body(session, message, packet, now)
        except SecurityError:
            return packet


# -- the provider and the algorithm ----------------------------------------------------------------------------------


def _encrypt_by_level(level: PrivacyLevel, instead: tuple[PrivacyLevel, ...]) -> Install:
    """Make the sender encrypt for a wrong privacy level, but put the requested level into the packet."""

    class OfLevel(Securing):
        def encrypt_body(
            self, session: Session, message: Message, packet: UserMessagePacket, now: Now
        ) -> UserMessagePacket:
            asked = packet.MessagePropertiesHeader.PrivacyLevel
            if asked not in instead:
                return super().encrypt_body(session, message, packet, now)
            encrypted = super().encrypt_body(
                session, message, set_fields(packet, {_PRIVACY_LEVEL_FIELD: int(level)}), now
            )
            sent: UserMessagePacket = set_fields(encrypted, {_PRIVACY_LEVEL_FIELD: asked})
            return sent

    return replace_part(OfLevel)


def _encrypt_with_settings(change: Callable[[SecuritySettings], SecuritySettings]) -> Install:
    """Make the sender encrypt with changed settings."""

    class Configured(Securing):
        def encrypt_body(
            self, session: Session, message: Message, packet: UserMessagePacket, now: Now
        ) -> UserMessagePacket:
            kept = self.qm.caches.settings
            self.qm.caches.settings = change(kept)
            try:
                return super().encrypt_body(session, message, packet, now)
            finally:
                self.qm.caches.settings = kept

    return replace_part(Configured)


add(
    "sender-encryption-provider-always-base",
    (
        "MQQB-3.1.7.1.5-12",
        "MQQB-3.1.7.1.5-13",
        "MQQB-3.1.7.1.5-14",
        "MQDMPR-3.1.1.12-08",
        "MQQB-3.1.7.1.5-16",
        "MQDMPR-3.1.1.12-07",
        "MQQB-3.1.7.1.5-28",
        "MQSO-6.1.5.5-01",
        "MQSO-7.4.1.4.3-01",
    ),
    "The sender encrypts with the Base provider at every privacy level.",
    _encrypt_by_level(PrivacyLevel.BASE, (PrivacyLevel.ENHANCED, PrivacyLevel.ADVANCED)),
)
add(
    "sender-encryption-provider-enhanced-for-level-base",
    ("MQQB-3.1.7.1.5-12", "MQQB-3.1.7.1.5-13", "MQQB-3.1.7.1.5-19", "MQDMPR-3.1.1.12-06", "MQQB-3.1.7.1.5-28"),
    "The sender encrypts with the Enhanced provider at level Base.",
    _encrypt_by_level(PrivacyLevel.ENHANCED, (PrivacyLevel.BASE,)),
)
add(
    "sender-preferred-encryption-algorithm-ignored",
    (
        "MQQB-3.1.7.1.5-14",
        "MQDMPR-3.1.1.12-08",
        "MQQB-3.1.7.1.5-16",
        "MQDMPR-3.1.1.12-07",
        "MQQB-3.1.7.1.5-19",
        "MQDMPR-3.1.1.12-06",
        "MQQB-3.1.1.3-16",
        "MQQB-3.1.1.3-17",
    ),
    "The sender ignores the configured encryption algorithms.",
    _encrypt_with_settings(lambda settings: SecuritySettings()),
)
add(
    "sender-enhanced-rc2-key-never-reduced-to-40-bits",
    ("MQQB-3.1.7.1.5-17", "MQQB-3.1.7.1.5-29", "MQQB-3.1.1.3-18"),
    "The sender makes RC2 keys of 128 bits at level Enhanced although SendEnhancedRC2Using40BitKeys is TRUE.",
    _encrypt_with_settings(lambda settings: replace(settings, SendEnhancedRC2Using40BitKeys=False)),
)

# -- the keys --------------------------------------------------------------------------------------------------------


@fault("sender-public-keys-not-found", breaks=("MQQB-3.1.7.1.5-04", "MQQB-3.1.7.1.5-05"))
class SenderPublicKeysNotFound(SecurityLookup):
    """The sender never finds the public keys of the remote queue manager."""

    def find_public_keys(self, guid: UUID, now: Now) -> MqdsPublicKeys | None:
        return None


@fault("sender-cached-symmetric-key-not-used", breaks="MQQB-3.1.7.1.5-22")
class SenderCachedSymmetricKeyNotUsed(Securing):
    """The sender finds a cached symmetric key but encrypts with a new key."""

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        cache = self.qm.caches.SendSymmetricKeyCache
        kept, cache.entries = cache.entries, []
        try:
            return super().encrypt_body(session, message, packet, now)
        finally:
            known = {(entry.CryptoServiceProvider, entry.CryptoAlgorithm) for entry in kept}
            new = [one for one in cache.entries if (one.CryptoServiceProvider, one.CryptoAlgorithm) not in known]
            cache.entries = kept + new


@fault("sender-symmetric-key-cache-not-searched", breaks="MQQB-3.1.7.1.5-21")
class SenderSymmetricKeyCacheNotSearched(Securing):
    """The sender encrypts every message with a new symmetric key, and adds each of these keys to its cache."""

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        cache = self.qm.caches.SendSymmetricKeyCache
        kept, cache.entries = cache.entries, []
        try:
            return super().encrypt_body(session, message, packet, now)
        finally:
            cache.entries = kept + cache.entries


# -- the sent message ------------------------------------------------------------------------------------------------


def _change_encrypted_message(
    changes: dict[str, Any], when: Callable[[UserMessagePacket], bool] = lambda _: True
) -> Install:
    """Make the sender change fields of an encrypted message. The argument of a function that changes a
    field is the old value.
    """

    class Encrypted(Securing):
        def encrypt_body(
            self, session: Session, message: Message, packet: UserMessagePacket, now: Now
        ) -> UserMessagePacket:
            encrypted = super().encrypt_body(session, message, packet, now)
            if encrypted is packet or not when(encrypted):
                return encrypted
            changed: UserMessagePacket = set_fields(encrypted, changes)
            return changed

    return replace_part(Encrypted)


def _change_security_data(**items: Any) -> dict[str, Any]:
    return {
        f"{_SECURITY_DATA_PATH}.Padding": None,
        **{f"{_SECURITY_DATA_PATH}.{name}": value for name, value in items.items()},
    }


def _invert_lowest_bits(data: bytes) -> bytes:
    """Invert the lowest bit of every byte."""
    return bytes(byte ^ 1 for byte in data)


def _is_encrypted_by_aes(packet: UserMessagePacket) -> bool:
    return packet.MessagePropertiesHeader.EncryptionAlgorithm in (0x660E, 0x660F, 0x6610)


@fault(
    "sender-encryption-key-field-always-first-key",
    breaks=("MQQB-3.1.7.1.5-23", "MQQB-3.1.7.1.5-24", "MQQB-3.1.7.1.5-30", "MQDMPR-3.1.1.12-D55", "MQQB-3.1.7.1.5-35"),
)
class SenderEncryptionKeyFieldAlwaysFirstKey(Securing):
    """The sender sends the first cached key as EncryptionKey of every message."""

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        encrypted = super().encrypt_body(session, message, packet, now)
        entries = self.qm.caches.SendSymmetricKeyCache.entries
        if encrypted is packet or not entries:
            return encrypted
        sent: UserMessagePacket = set_fields(
            encrypted, _change_security_data(EncryptionKey=entries[0].EncryptedSymmetricKey)
        )
        return sent


add(
    "sender-simple-blob-key-corrupt",
    (
        "MQQB-3.1.7.1.5-11",
        "MQQB-3.1.7.1.5-30",
        "MQDMPR-3.1.1.12-D55",
        "MQQB-3.1.7.1.5.2-03",
        "MQQB-3.1.7.1.5.2-04",
        "MQQB-3.1.7.1.5.2-05",
        "MQSO-7.4.1.4.3-D01",
    ),
    "The sender's EncryptionKey is a SIMPLEBLOB with corrupt key bytes.",
    _change_encrypted_message(
        _change_security_data(EncryptionKey=lambda blob: blob[:12] + _invert_lowest_bits(blob[12:]))
    ),
)
add(
    "sender-simple-blob-without-key",
    ("MQQB-3.1.7.1.5-30", "MQDMPR-3.1.1.12-D55", "MQQB-3.1.7.1.5-42"),
    "The sender's EncryptionKey is a SIMPLEBLOB that ends before the key.",
    _change_encrypted_message(_change_security_data(EncryptionKey=lambda blob: blob[:12])),
)
add(
    "sender-encrypted-body-corrupt",
    ("MQQB-3.1.7.1.5-35", "MQQB-3.1.7.1.5-36"),
    "The sender's message has a body that cannot be decrypted with the key in the message.",
    _change_encrypted_message({_BODY_PATH: _invert_lowest_bits}),
)
add(
    "sender-aes-initialization-vector-not-zero",
    "MQQB-3.1.7.1.5-37",
    "The sender encrypts a body with AES and an initialization vector other than zeros.",
    _change_encrypted_message(
        {_BODY_PATH: lambda body: _invert_lowest_bits(body[:16]) + body[16:]}, _is_encrypted_by_aes
    ),
)
add(
    "sender-encrypted-message-allocation-size-low",
    "MQQB-3.1.7.1.5-38",
    "The sender's encrypted message has an AllocationBodySize that is one too low.",
    off_by(
        UserMessagePacket,
        "MessagePropertiesHeader.AllocationBodySize",
        -1,
        lambda packet: packet.SecurityHeader is not None and packet.SecurityHeader.EB,
    ),
)
add(
    "sender-encryption-algorithm-unknown",
    ("MQQB-3.1.7.1.5-40", "MQDMPR-3.1.7.1.32-D12"),
    "The sender's encrypted message has an unknown value in EncryptionAlgorithm.",
    _change_encrypted_message({"MessagePropertiesHeader.EncryptionAlgorithm": 0x6604}),
)
add(
    "sender-provider-info-wrong-provider",
    ("MQQB-3.1.7.1.5-41", "MQDMPR-3.1.1.12-D66"),
    "The sender's encrypted message names a wrong provider in ProviderInfo.",
    _change_encrypted_message(_change_security_data(ProviderInfo=ProviderInfo(1, "Another Provider").build())),
)

# -- 3.1.7.1.5.1 messages that cannot be encrypted -------------------------------------------------------------------


@fault("sender-dead-letter-of-unencryptable-message-missing", breaks="MQQB-3.1.7.1.5.1-02")
class SenderDeadLetterOfUnencryptableMessageMissing(Sending):
    """The sender does not put a message with JN into a dead-letter queue when it cannot encrypt the message."""

    def handle_encryption_error(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        reference = position.MessagePosition
        reference.MessageReference = replace(reference.MessageReference, NegativeJournalingRequested=False)
        super().handle_encryption_error(session, position, now)


@fault("sender-dead-letter-of-transactional-message-in-wrong-queue", breaks="MQQB-3.1.7.1.5.1-D01")
class SenderDeadLetterOfTransactionalMessageInWrongQueue(Journaling):
    """When the sender cannot encrypt a transactional message, it puts the message into the
    nontransactional dead-letter queue.
    """

    def dead_letter_queue(self, message: Message) -> Queue:
        return self.qm.adm.SystemDeadletterQueue


add(
    "sender-connection-history-of-encryption-failure-missing",
    "MQQB-3.1.7.1.5.1-03",
    "The sender adds no entry to ConnectionHistory for a message that cannot be encrypted.",
    omit_history_entries({ConnectionStatus.CERTIFICATE_VALIDATION_FAILURE}),
)


@fault("sender-resent-message-not-encrypted", breaks=("MQQB-3.1.7.1.5-01", "MQQB-3.1.7.1-08"), blind=True)
class SenderResentMessageNotEncrypted(Securing):
    """The sender does not encrypt a message that it resends."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._done: set[int] = set()

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        ordinal = packet.UserHeader.MessageID
        again = ordinal in self._done
        self._done.add(ordinal)
        return packet if again else super().encrypt_body(session, message, packet, now)


@fault("sender-transactional-message-not-encrypted", breaks=("MQQB-3.1.7.1.5-01"), blind=True)
class SenderTransactionalMessageNotEncrypted(Securing):
    """The sender sends the body of a transactional message unencrypted."""

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        if message.TransactionIdentifier is not None:
            return packet
        return super().encrypt_body(session, message, packet, now)
