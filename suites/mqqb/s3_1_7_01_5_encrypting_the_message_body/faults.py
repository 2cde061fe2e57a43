"""Faults of MS-MQQB 3.1.7.1.5 Encrypting the Message Body, with 3.1.7.1.5.1."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.connection_history import entries_left_out
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

_LEVEL = "MessagePropertiesHeader.PrivacyLevel"
_BODY = "MessagePropertiesHeader.MessageBody"
_DATA = "SecurityHeader.SecurityData"

# -- whether it is encrypted ---------------------------------------------------------------------------------------


@fault(
    "sent-not-encrypted",
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
class NeverEncrypted(Securing):
    """Bodies are never encrypted."""

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        return packet


@fault(
    "sent-in-clear-when-encryption-fails",
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
class InClearWhenEncryptionFails(Securing):
    """A message that cannot be encrypted is sent in clear."""

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        try:
            return super().encrypt_body(session, message, packet, now)
        except SecurityError:
            return packet


# -- with which provider and algorithm -----------------------------------------------------------------------------


def _of_level(level: PrivacyLevel, instead: tuple[PrivacyLevel, ...]) -> Install:
    """Encrypt for one level instead of others, and send the level that was asked for."""

    class OfLevel(Securing):
        def encrypt_body(
            self, session: Session, message: Message, packet: UserMessagePacket, now: Now
        ) -> UserMessagePacket:
            asked = packet.MessagePropertiesHeader.PrivacyLevel
            if asked not in instead:
                return super().encrypt_body(session, message, packet, now)
            encrypted = super().encrypt_body(session, message, set_fields(packet, {_LEVEL: int(level)}), now)
            sent: UserMessagePacket = set_fields(encrypted, {_LEVEL: asked})
            return sent

    return replace_part(OfLevel)


def _configured(change: Callable[[SecuritySettings], SecuritySettings]) -> Install:
    """Encrypt with other settings."""

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
    "sent-always-base",
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
    "The Base provider encrypts, whatever was asked for.",
    _of_level(PrivacyLevel.BASE, (PrivacyLevel.ENHANCED, PrivacyLevel.ADVANCED)),
)
add(
    "sent-base-as-enhanced",
    ("MQQB-3.1.7.1.5-12", "MQQB-3.1.7.1.5-13", "MQQB-3.1.7.1.5-19", "MQDMPR-3.1.1.12-06", "MQQB-3.1.7.1.5-28"),
    "The Enhanced provider encrypts for level Base, too.",
    _of_level(PrivacyLevel.ENHANCED, (PrivacyLevel.BASE,)),
)
add(
    "sent-preferences-ignored",
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
    "The algorithm that is preferred makes no difference.",
    _configured(lambda settings: SecuritySettings()),
)
add(
    "sent-enhanced-rc2-never-cut",
    ("MQQB-3.1.7.1.5-17", "MQQB-3.1.7.1.5-29", "MQQB-3.1.1.3-18"),
    "RC2 keys of level Enhanced have 128 bits, whatever is configured.",
    _configured(lambda settings: replace(settings, SendEnhancedRC2Using40BitKeys=False)),
)

# -- with which keys -----------------------------------------------------------------------------------------------


@fault("sent-keys-not-looked-up", breaks=("MQQB-3.1.7.1.5-04", "MQQB-3.1.7.1.5-05"))
class KeysNotLookedUp(SecurityLookup):
    """The public keys of the remote queue manager are never found."""

    def find_public_keys(self, guid: UUID, now: Now) -> MqdsPublicKeys | None:
        return None


@fault("sent-key-found-and-not-used", breaks="MQQB-3.1.7.1.5-22")
class KeyFoundAndNotUsed(Securing):
    """Every message gets a key of its own, and of those that have the same entry in the cache the first stays there."""

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


@fault("sent-keys-not-searched", breaks="MQQB-3.1.7.1.5-21")
class KeysNotSearched(Securing):
    """Every message gets a key of its own."""

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        cache = self.qm.caches.SendSymmetricKeyCache
        kept, cache.entries = cache.entries, []
        try:
            return super().encrypt_body(session, message, packet, now)
        finally:
            cache.entries = kept + cache.entries


# -- what is sent --------------------------------------------------------------------------------------------------


def _encrypted(changes: dict[str, Any], when: Callable[[UserMessagePacket], bool] = lambda _: True) -> Install:
    """Change what was encrypted; callables get the old value."""

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


def _security_data(**items: Any) -> dict[str, Any]:
    return {f"{_DATA}.Padding": None, **{f"{_DATA}.{name}": value for name, value in items.items()}}


def _inverted(data: bytes) -> bytes:
    """Invert the lowest bit of every byte."""
    return bytes(byte ^ 1 for byte in data)


def _is_aes(packet: UserMessagePacket) -> bool:
    return packet.MessagePropertiesHeader.EncryptionAlgorithm in (0x660E, 0x660F, 0x6610)


@fault(
    "sent-first-key-again",
    breaks=("MQQB-3.1.7.1.5-23", "MQQB-3.1.7.1.5-24", "MQQB-3.1.7.1.5-30", "MQDMPR-3.1.1.12-D55", "MQQB-3.1.7.1.5-35"),
)
class FirstKeyAgain(Securing):
    """The first key that was made is sent with every message."""

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        encrypted = super().encrypt_body(session, message, packet, now)
        entries = self.qm.caches.SendSymmetricKeyCache.entries
        if encrypted is packet or not entries:
            return encrypted
        sent: UserMessagePacket = set_fields(encrypted, _security_data(EncryptionKey=entries[0].EncryptedSymmetricKey))
        return sent


add(
    "sent-blob-garbled",
    (
        "MQQB-3.1.7.1.5-11",
        "MQQB-3.1.7.1.5-30",
        "MQDMPR-3.1.1.12-D55",
        "MQQB-3.1.7.1.5.2-03",
        "MQQB-3.1.7.1.5.2-04",
        "MQQB-3.1.7.1.5.2-05",
        "MQSO-7.4.1.4.3-D01",
    ),
    "The blob with the key holds something else.",
    _encrypted(_security_data(EncryptionKey=lambda blob: blob[:12] + _inverted(blob[12:]))),
)
add(
    "sent-blob-short",
    ("MQQB-3.1.7.1.5-30", "MQDMPR-3.1.1.12-D55", "MQQB-3.1.7.1.5-42"),
    "The blob ends before the key.",
    _encrypted(_security_data(EncryptionKey=lambda blob: blob[:12])),
)
add(
    "sent-body-garbled",
    ("MQQB-3.1.7.1.5-35", "MQQB-3.1.7.1.5-36"),
    "Bodies are encrypted with another key.",
    _encrypted({_BODY: _inverted}),
)
add(
    "sent-aes-from-ones",
    "MQQB-3.1.7.1.5-37",
    "AES starts from another initial value.",
    _encrypted({_BODY: lambda body: _inverted(body[:16]) + body[16:]}, _is_aes),
)
add(
    "sent-size-of-the-clear-body",
    "MQQB-3.1.7.1.5-38",
    "AllocationBodySize is one byte too small.",
    off_by(
        UserMessagePacket,
        "MessagePropertiesHeader.AllocationBodySize",
        -1,
        lambda packet: packet.SecurityHeader is not None and packet.SecurityHeader.EB,
    ),
)
add(
    "sent-other-algorithm-told",
    ("MQQB-3.1.7.1.5-40", "MQDMPR-3.1.7.1.32-D12"),
    "EncryptionAlgorithm names no algorithm that there is.",
    _encrypted({"MessagePropertiesHeader.EncryptionAlgorithm": 0x6604}),
)
add(
    "sent-other-provider-told",
    ("MQQB-3.1.7.1.5-41", "MQDMPR-3.1.1.12-D66"),
    "ProviderInfo names another provider.",
    _encrypted(_security_data(ProviderInfo=ProviderInfo(1, "Another Provider").build())),
)

# -- 3.1.7.1.5.1 what becomes of a message that cannot be encrypted ------------------------------------------------


@fault("sent-not-encrypted-not-logged", breaks="MQQB-3.1.7.1.5.1-02")
class NotEncryptedNotLogged(Sending):
    """A message that cannot be encrypted is never kept."""

    def handle_encryption_error(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        reference = position.MessagePosition
        reference.MessageReference = replace(reference.MessageReference, NegativeJournalingRequested=False)
        super().handle_encryption_error(session, position, now)


@fault("sent-not-encrypted-kept-as-plain", breaks="MQQB-3.1.7.1.5.1-D01")
class NotEncryptedKeptAsPlain(Journaling):
    """A message that cannot be encrypted is kept in the dead-letter queue of those that are not transactional."""

    def dead_letter_queue(self, message: Message) -> Queue:
        return self.qm.adm.SystemDeadletterQueue


add(
    "sent-not-encrypted-no-history",
    "MQQB-3.1.7.1.5.1-03",
    "A message that cannot be encrypted leaves no entry in ConnectionHistory.",
    entries_left_out({ConnectionStatus.CERTIFICATE_VALIDATION_FAILURE}),
)


@fault("secured-message-sent-again-in-clear", breaks=("MQQB-3.1.7.1.5-01", "MQQB-3.1.7.1-08"), blind=True)
class SecuredMessageSentAgainInClear(Securing):
    """A message that is sent again is not encrypted."""

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


@fault("transactional-message-not-encrypted", breaks=("MQQB-3.1.7.1.5-01"), blind=True)
class TransactionalMessageNotEncrypted(Securing):
    """The body of a transactional message is sent in clear."""

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        if message.TransactionIdentifier is not None:
            return packet
        return super().encrypt_body(session, message, packet, now)
