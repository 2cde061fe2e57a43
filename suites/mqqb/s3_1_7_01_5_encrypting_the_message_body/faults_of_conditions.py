"""Faults that break rules of MS-MQQB 3.1.7.1.5, 3.1.7.1.5.1 and 3.1.7.1.5.2 for one provider, algorithm or message."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import ECB

from harness.faults.parts import change_step
from harness.faults.public_keys import change_blob_number, change_published_blobs
from harness.faults.registry import Install, add
from harness.faults.timed_caches import AnyTimedCache, replace_cache
from reference_qm.codec import UserMessagePacket
from reference_qm.core.names.security_lookup import SecurityLookup
from reference_qm.core.sessions.session_connecting import SessionConnecting
from reference_qm.core.transfer.message_securing import MessageSecuring
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import Message, OutgoingMessagePosition, Session
from reference_qm.model.states import ConnectionStatus
from reference_qm.security import MqdsPublicKeys, SecurityError
from reference_qm.security.algorithms import (
    AES_PROVIDER,
    BASE_PROVIDER,
    ENHANCED_PROVIDER,
    EncryptionAlgorithm,
    PrivacyLevel,
)
from reference_qm.surface.clock import Now
from suites.mqqb.s3_1_7_01_5_encrypting_the_message_body.fault_steps import (
    EncryptedMessageContext,
    encrypt_body_with_chosen_symmetric_key,
    replace_encrypted_body,
    replace_symmetric_key,
)

SENT_KEY_CACHE_NAME = "SendSymmetricKeyCache"
_REDUCED_KEY_BYTES, _UNREDUCED_KEY_BYTES = 5, 16
_AES_BLOCK_BYTES = 16
_KEY_ALGORITHM_OFFSET, _MODULUS_OFFSET = 4, 20
_CALG_RSA_SIGN = 0x2400
_AES_ALGORITHMS = (EncryptionAlgorithm.AES128, EncryptionAlgorithm.AES192, EncryptionAlgorithm.AES256)


def _has_reduced_rc2_key(step: EncryptedMessageContext) -> bool:
    """Return whether the key of a message is a 40-bit RC2 key of the Enhanced provider."""
    return step.key.CryptoServiceProvider == ENHANCED_PROVIDER and not any(step.key.SymmetricKey[_REDUCED_KEY_BYTES:])


def _pad_reduced_key_with_ones(step: EncryptedMessageContext) -> bytes | None:
    key = step.key.SymmetricKey
    return key[:_REDUCED_KEY_BYTES].ljust(_UNREDUCED_KEY_BYTES, b"\xff") if _has_reduced_rc2_key(step) else None


def _pad_reduced_key_at_front(step: EncryptedMessageContext) -> bytes | None:
    key = step.key.SymmetricKey
    return key[:_REDUCED_KEY_BYTES].rjust(_UNREDUCED_KEY_BYTES, b"\0") if _has_reduced_rc2_key(step) else None


def _repeat_reduced_key(step: EncryptedMessageContext) -> bytes | None:
    key = step.key.SymmetricKey[:_REDUCED_KEY_BYTES]
    return (key * 4)[:_UNREDUCED_KEY_BYTES] if _has_reduced_rc2_key(step) else None


def _draw_unreduced_key_for_later_messages(step: EncryptedMessageContext) -> bytes | None:
    return (
        step.queue_manager.entropy.token(_UNREDUCED_KEY_BYTES) if _has_reduced_rc2_key(step) and step.number else None
    )


def _reduce_rc4_key_to_40_bits(step: EncryptedMessageContext) -> bytes | None:
    key = step.key
    if key.CryptoServiceProvider != ENHANCED_PROVIDER or key.CryptoAlgorithm != EncryptionAlgorithm.RC4:
        return None
    return key.SymmetricKey[:_REDUCED_KEY_BYTES].ljust(_UNREDUCED_KEY_BYTES, b"\0")


def _clear_end_of_aes_key(step: EncryptedMessageContext) -> bytes | None:
    key = step.key.SymmetricKey
    if step.key.CryptoAlgorithm not in (EncryptionAlgorithm.AES192, EncryptionAlgorithm.AES256):
        return None
    return key[:_UNREDUCED_KEY_BYTES].ljust(len(key), b"\0")


def _shorten_base_key(step: EncryptedMessageContext) -> bytes | None:
    return step.key.SymmetricKey[:2] + bytes(3) if step.level == PrivacyLevel.BASE else None


def _omit_look_up_for_lower_level(self: Any, original: Any, session: Session, message: Message, *arguments: Any) -> Any:
    """While the public keys are not known yet, encrypt only messages with PrivacyLevel Advanced, and fail for the other
    levels.
    """
    security = message.security
    level = 0 if security is None else security.PrivacyLevel
    if level in (PrivacyLevel.BASE, PrivacyLevel.ENHANCED) and not any(session.RemoteQMPublicKey):
        raise SecurityError("RemoteQMPublicKey", "a fault", "the public keys are not looked up")
    return original(session, message, *arguments)


def _remember_failed_key_look_ups(self: Any, original: Any, guid: UUID, now: Now) -> MqdsPublicKeys | None:
    failed = self.__dict__.setdefault("failed_look_ups", set())
    found: MqdsPublicKeys | None = None if guid in failed else original(guid, now)
    if found is None:
        failed.add(guid)
    return found


def _look_up_keys_only_for_nontransactional_messages(
    self: Any, original: Any, session: Session, message: Message, *arguments: Any
) -> Any:
    if message.TransactionIdentifier is not None and not any(session.RemoteQMPublicKey):
        raise SecurityError("RemoteQMPublicKey", "a fault", "the public keys are not looked up")
    return original(session, message, *arguments)


def _lacks_enhanced_public_key(self: Any, message: Message, packet: UserMessagePacket, now: Now) -> bool:
    security = message.security
    if security is None or security.PrivacyLevel != PrivacyLevel.ENHANCED:
        return False
    keys = self.qm.security_lookup.find_public_keys(packet.UserHeader.QueueManagerAddress, now)
    return keys is not None and keys.find(ENHANCED_PROVIDER) is None


def _send_unencrypted_without_enhanced_key(
    self: Any, original: Any, session: Session, message: Message, packet: UserMessagePacket, now: Now
) -> Any:
    return packet if _lacks_enhanced_public_key(self, message, packet, now) else original(session, message, packet, now)


def _replace_privacy_level_without_enhanced_key(level: PrivacyLevel) -> Install:
    """Return an installer of a fault: if the destination has no Enhanced key, the sender encrypts with the given
    privacy level instead of the requested level.
    """

    def encrypt_with_level(
        self: Any, original: Any, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> Any:
        if not _lacks_enhanced_public_key(self, message, packet, now):
            return original(session, message, packet, now)
        properties = replace(packet.MessagePropertiesHeader, PrivacyLevel=level)
        return original(session, message, replace(packet, MessagePropertiesHeader=properties), now)

    return change_step(MessageSecuring.encrypt_body, encrypt_with_level)


def _encrypt_later_body_with_new_key(step: EncryptedMessageContext) -> bytes:
    body: bytes = step.encrypted_packet.MessagePropertiesHeader.MessageBody
    if not step.number:
        return body
    key = step.queue_manager.entropy.token(len(step.key.SymmetricKey))
    again = replace(step, key=replace(step.key, SymmetricKey=key))
    return replace_symmetric_key(again, key).MessagePropertiesHeader.MessageBody


def _repeat_bytes_of_first_key(step: EncryptedMessageContext) -> bytes | None:
    first = step.queue_manager.caches.SendSymmetricKeyCache.entries[0].SymmetricKey
    size = len(step.key.SymmetricKey)
    return (first * 8)[:size] if step.number else None


def _use_zero_key_for_base_provider(step: EncryptedMessageContext) -> bytes | None:
    return bytes(len(step.key.SymmetricKey)) if step.level == PrivacyLevel.BASE else None


def _derive_key_from_provider(step: EncryptedMessageContext) -> bytes | None:
    name = step.key.CryptoServiceProvider.encode() * 2
    return name[: len(step.key.SymmetricKey)] if step.level == PrivacyLevel.ADVANCED else None


def _change_new_key_cache_entry(change: Callable[[Any], Any]) -> Install:
    """Return an installer of a fault that changes each new entry of SendSymmetricKeyCache."""

    class ChangedNewEntry(AnyTimedCache):
        def add(self, entry: Any) -> None:
            super().add(change(entry))

    return replace_cache(SENT_KEY_CACHE_NAME, ChangedNewEntry)


def _encrypt_body_with_cipher_mode(
    step: EncryptedMessageContext, mode: Any, algorithms: tuple[int, ...] = _AES_ALGORITHMS
) -> bytes:
    body: bytes = step.encrypted_packet.MessagePropertiesHeader.MessageBody
    if step.key.CryptoAlgorithm not in algorithms:
        return body
    clear_body: bytes = step.clear_packet.MessagePropertiesHeader.MessageBody
    size = _AES_BLOCK_BYTES - len(clear_body) % _AES_BLOCK_BYTES
    context = Cipher(AES(step.key.SymmetricKey), mode).encryptor()
    return context.update(clear_body + bytes([size]) * size) + context.finalize()


def _encrypt_with_short_aes_keys_in_ecb_mode(step: EncryptedMessageContext) -> bytes:
    return _encrypt_body_with_cipher_mode(step, ECB(), (EncryptionAlgorithm.AES128, EncryptionAlgorithm.AES192))  # noqa: S305 - a fault


def _omit_connection_history_of_journaled_message(
    self: Any, original: Any, session: Session, position: OutgoingMessagePosition, now: Now
) -> None:
    if position.UserMessage.UserHeader.JN:
        self.qm.message_sending.delete_unsent_message(session, position)
    else:
        original(session, position, now)


def _omit_connection_history_of_direct_name(
    self: Any, original: Any, session: Session, position: OutgoingMessagePosition, now: Now
) -> None:
    if session.is_destination_direct:
        self.qm.message_sending.delete_unsent_message(session, position)
    else:
        original(session, position, now)


def _clear_error_in_connection_history(
    self: Any, original: Any, session: Session, status: ConnectionStatus, now: Now
) -> None:
    original(session, status, now)
    queue = session.OutgoingQueueReference
    if status is ConnectionStatus.CERTIFICATE_VALIDATION_FAILURE and queue is not None:
        queue.ConnectionHistory[-1] = replace(queue.ConnectionHistory[-1], Error=0)


def _change_key_blobs_that_sender_looked_up(change: Callable[[bytes], bytes], *providers: str) -> Install:
    """Return an installer of a fault: if the sender looks up public keys, the key blobs of the given providers are
    changed.
    """

    def run(self: Any, original: Any, guid: UUID, now: Now) -> MqdsPublicKeys | None:
        found: MqdsPublicKeys | None = original(guid, now)
        if found is None:
            return None
        return MqdsPublicKeys(
            tuple(
                replace(key, aBuf=change(key.aBuf)) if key.sProviderName in providers else key
                for key in found.aPublicKeys
            )
        )

    return change_step(SecurityLookup.find_public_keys, run)


def _set_low_modulus_byte(blob: bytes) -> bytes:
    return blob[:_MODULUS_OFFSET] + bytes([blob[_MODULUS_OFFSET] ^ 2]) + blob[_MODULUS_OFFSET + 1 :]


def _reverse_modulus(blob: bytes) -> bytes:
    return (
        blob[:_MODULUS_OFFSET]
        + bytes([blob[_MODULUS_OFFSET] | 0x80])
        + blob[_MODULUS_OFFSET + 1 : -1][::-1]
        + blob[-1:]
    )


def _clear_middle_of_modulus(blob: bytes) -> bytes:
    middle = len(blob) // 2
    return blob[:middle] + bytes(8) + blob[middle + 8 :]


for _name, _rule, _says, _install in (
    (
        "sender-reduced-rc2-key-padded-with-ones",
        "MQQB-3.1.7.1.5-29",
        "The sender pads a 40-bit RC2 key of the Enhanced provider with 88 bits that are 1.",
        encrypt_body_with_chosen_symmetric_key(_pad_reduced_key_with_ones),
    ),
    (
        "sender-reduced-rc2-key-padded-at-front",
        "MQQB-3.1.7.1.5-29",
        "The sender puts the 88 zero bits before a 40-bit RC2 key of the Enhanced provider.",
        encrypt_body_with_chosen_symmetric_key(_pad_reduced_key_at_front),
    ),
    (
        "sender-reduced-rc2-key-padded-with-itself",
        "MQQB-3.1.7.1.5-29",
        "The sender repeats a 40-bit RC2 key of the Enhanced provider until it has 128 bits.",
        encrypt_body_with_chosen_symmetric_key(_repeat_reduced_key),
    ),
    (
        "sender-reduced-rc2-key-only-for-first-message",
        "MQQB-3.1.7.1.5-17",
        "The sender uses a 40-bit RC2 key with the Enhanced provider only for the first message.",
        encrypt_body_with_chosen_symmetric_key(_draw_unreduced_key_for_later_messages),
    ),
    (
        "sender-public-keys-not-looked-up-for-lower-levels",
        "MQQB-3.1.7.1.5-04",
        "The sender looks up public keys only for a message with PrivacyLevel Advanced.",
        change_step(MessageSecuring.encrypt_body, _omit_look_up_for_lower_level),
    ),
    (
        "sender-failed-look-up-of-public-keys-kept",
        "MQQB-3.1.7.1.5-04",
        "After a look-up that found no public keys, the sender never looks up the keys of that queue manager again.",
        change_step(SecurityLookup.find_public_keys, _remember_failed_key_look_ups),
    ),
    (
        "sender-public-keys-not-looked-up-for-transactional-message",
        "MQQB-3.1.7.1.5-04",
        "The sender does not look up public keys for a transactional message.",
        change_step(MessageSecuring.encrypt_body, _look_up_keys_only_for_nontransactional_messages),
    ),
    (
        "receiver-public-key-of-base-provider-for-signatures",
        "MQQB-3.1.7.1.5-11",
        "The receiver publishes a key of the Base provider for signatures.",
        change_published_blobs(change_blob_number(_KEY_ALGORITHM_OFFSET, lambda old: _CALG_RSA_SIGN), BASE_PROVIDER),
    ),
    (
        "receiver-public-key-of-enhanced-provider-for-signatures",
        "MQQB-3.1.7.1.5-11",
        "The receiver publishes a key of the Enhanced provider for signatures.",
        change_published_blobs(
            change_blob_number(_KEY_ALGORITHM_OFFSET, lambda old: _CALG_RSA_SIGN), ENHANCED_PROVIDER
        ),
    ),
    (
        "receiver-public-key-of-aes-provider-for-signatures",
        "MQQB-3.1.7.1.5-11",
        "The receiver publishes a key of the AES provider for signatures.",
        change_published_blobs(change_blob_number(_KEY_ALGORITHM_OFFSET, lambda old: _CALG_RSA_SIGN), AES_PROVIDER),
    ),
    (
        "sender-message-for-missing-enhanced-key-sent-in-clear",
        "MQQB-3.1.7.1.5-18",
        "The sender sends a message of privacy level Enhanced in clear if the destination has no Enhanced key.",
        change_step(MessageSecuring.encrypt_body, _send_unencrypted_without_enhanced_key),
    ),
    (
        "sender-message-for-missing-enhanced-key-encrypted-with-aes-key",
        "MQQB-3.1.7.1.5-18",
        "The sender encrypts a message of privacy level Enhanced for the AES provider if the destination has no "
        "Enhanced key.",
        _replace_privacy_level_without_enhanced_key(PrivacyLevel.ADVANCED),
    ),
    (
        "sender-later-body-encrypted-with-uncached-key",
        "MQQB-3.1.7.1.5-22",
        "The sender names the cached key in each later message, but encrypts the body with a new key.",
        replace_encrypted_body(_encrypt_later_body_with_new_key),
    ),
    (
        "sender-new-key-begins-like-first-key",
        ("MQQB-3.1.7.1.5-23", "MQQB-3.1.7.1.5-24"),
        "The sender derives each later symmetric key from the first symmetric key.",
        encrypt_body_with_chosen_symmetric_key(_repeat_bytes_of_first_key),
    ),
    (
        "sender-key-of-base-provider-zero",
        ("MQQB-3.1.7.1.5-23", "MQQB-3.1.7.1.5-24"),
        "The sender encrypts messages of privacy level Base with a key of zeros.",
        encrypt_body_with_chosen_symmetric_key(_use_zero_key_for_base_provider),
    ),
    (
        "sender-key-of-aes-provider-derived-from-provider-name",
        ("MQQB-3.1.7.1.5-23", "MQQB-3.1.7.1.5-24"),
        "The sender encrypts messages of privacy level Advanced with a key that consists of the provider name.",
        encrypt_body_with_chosen_symmetric_key(_derive_key_from_provider),
    ),
    (
        "sender-cached-key-with-guid-in-other-byte-order",
        "MQQB-3.1.7.1.5-25",
        "The sender sets RemoteQMGuid of a new cached symmetric key to a GUID with reversed byte order.",
        _change_new_key_cache_entry(lambda entry: replace(entry, RemoteQMGuid=UUID(bytes=entry.RemoteQMGuid.bytes_le))),
    ),
    (
        "sender-cached-key-of-aes-provider-with-enhanced-provider",
        "MQQB-3.1.7.1.5-26",
        "The sender sets CryptoServiceProvider of a cached symmetric key of the AES provider to the Enhanced provider.",
        _change_new_key_cache_entry(
            lambda entry: (
                replace(entry, CryptoServiceProvider=ENHANCED_PROVIDER)
                if entry.CryptoServiceProvider == AES_PROVIDER
                else entry
            )
        ),
    ),
    (
        "sender-cached-key-of-base-provider-with-enhanced-provider",
        "MQQB-3.1.7.1.5-26",
        "The sender sets CryptoServiceProvider of a cached key of the Base provider to the Enhanced provider.",
        _change_new_key_cache_entry(
            lambda entry: (
                replace(entry, CryptoServiceProvider=ENHANCED_PROVIDER)
                if entry.CryptoServiceProvider == BASE_PROVIDER
                else entry
            )
        ),
    ),
    (
        "sender-cached-aes-key-with-algorithm-aes-256",
        "MQQB-3.1.7.1.5-27",
        "The sender sets CryptoAlgorithm of each cached AES key to AES-256.",
        _change_new_key_cache_entry(
            lambda entry: (
                replace(entry, CryptoAlgorithm=EncryptionAlgorithm.AES256)
                if entry.CryptoAlgorithm in _AES_ALGORITHMS
                else entry
            )
        ),
    ),
    (
        "sender-cached-rc2-key-with-algorithm-rc4",
        "MQQB-3.1.7.1.5-27",
        "The sender sets CryptoAlgorithm of a cached RC2 key to RC4.",
        _change_new_key_cache_entry(
            lambda entry: (
                replace(entry, CryptoAlgorithm=EncryptionAlgorithm.RC4)
                if entry.CryptoAlgorithm == EncryptionAlgorithm.RC2
                else entry
            )
        ),
    ),
    (
        "sender-rc4-key-of-enhanced-provider-with-40-bits",
        "MQQB-3.1.7.1.5-28",
        "The sender creates an RC4 key of 40 bits for the Enhanced provider, and pads the key with zero bits.",
        encrypt_body_with_chosen_symmetric_key(_reduce_rc4_key_to_40_bits),
    ),
    (
        "sender-long-aes-key-with-128-bits",
        "MQQB-3.1.7.1.5-28",
        "The sender creates each AES key with 128 bits, and pads a longer key with zero bits.",
        encrypt_body_with_chosen_symmetric_key(_clear_end_of_aes_key),
    ),
    (
        "sender-key-of-base-provider-with-16-bits",
        "MQQB-3.1.7.1.5-28",
        "The sender creates a key of 16 bits for the Base provider, and pads the key with zero bits.",
        encrypt_body_with_chosen_symmetric_key(_shorten_base_key),
    ),
    (
        "sender-body-encrypted-with-short-aes-key-without-chain",
        "MQQB-3.1.7.1.5-37",
        "The sender encrypts a body with AES-128 or AES-192 in ECB mode.",
        replace_encrypted_body(_encrypt_with_short_aes_keys_in_ecb_mode),
    ),
    (
        "sender-encryption-failure-of-journaled-message-not-in-history",
        "MQQB-3.1.7.1.5.1-03",
        "The sender adds no entry to ConnectionHistory for a message with JN that cannot be encrypted.",
        change_step(MessageSending.handle_encryption_error, _omit_connection_history_of_journaled_message),
    ),
    (
        "sender-encryption-failure-for-direct-name-not-in-history",
        "MQQB-3.1.7.1.5.1-03",
        "The sender adds no entry to ConnectionHistory for an encrypted message to a direct format name.",
        change_step(MessageSending.handle_encryption_error, _omit_connection_history_of_direct_name),
    ),
    (
        "sender-encryption-failure-in-history-without-error",
        "MQQB-3.1.7.1.5.1-03",
        "The sender sets Error to 0 in the ConnectionHistory entry of a message that cannot be encrypted.",
        change_step(SessionConnecting.add_connection_history, _clear_error_in_connection_history),
    ),
    (
        "sender-modulus-of-base-key-with-changed-low-byte",
        "MQQB-3.1.7.1.5.2-05",
        "The sender copies the modulus of a Base key with a wrong low byte into the PUBLICKEYBLOB.",
        _change_key_blobs_that_sender_looked_up(_set_low_modulus_byte, BASE_PROVIDER),
    ),
    (
        "sender-modulus-of-enhanced-key-in-reverse-order",
        "MQQB-3.1.7.1.5.2-05",
        "The sender copies the modulus of an Enhanced key with reversed inner bytes into the PUBLICKEYBLOB.",
        _change_key_blobs_that_sender_looked_up(_reverse_modulus, ENHANCED_PROVIDER),
    ),
    (
        "sender-modulus-of-aes-key-with-gap",
        "MQQB-3.1.7.1.5.2-05",
        "The sender copies the modulus of an AES key with eight zero bytes in the middle into the PUBLICKEYBLOB.",
        _change_key_blobs_that_sender_looked_up(_clear_middle_of_modulus, AES_PROVIDER),
    ),
):
    add(_name, _rule, _says, _install, blind=True)
