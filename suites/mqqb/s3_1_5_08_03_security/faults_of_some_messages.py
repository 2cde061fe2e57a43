"""Faults of MS-MQQB 3.1.5.8.3 Security: cache entries, bodies and tokens of some messages only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import replace_part
from harness.faults.primitives import set_fields
from harness.faults.registry import Install, add
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.security import ReceivedMessageRefused
from reference_qm.security.algorithms import BASE_PROVIDER, ENHANCED_PROVIDER, EncryptionAlgorithm
from reference_qm.surface.clock import Now
from suites.mqmq.steps.kinds_of_messages import is_transactional
from suites.mqqb.s3_1_5_08_03_security.fault_steps import (
    PacketPredicate,
    accept_every_message,
    is_encrypted,
    is_recoverable,
)

CacheEntryChangeFunction = Callable[[Any, UserMessagePacket, list[Any]], Any]
"""The type of functions that return a changed cache entry, given the entry, the packet and the earlier entries."""
LARGE_BODY_BYTES = 1_024
HOUR_S = 3_600
LONGEST_CIPHER_BLOCK_BYTES = 16


def make_encryption_algorithm_condition(*algorithms: EncryptionAlgorithm) -> PacketPredicate:
    """Return a condition that selects messages with one of the given encryption algorithms."""
    return lambda packet: packet.MessagePropertiesHeader.EncryptionAlgorithm in algorithms


def make_privacy_level_condition(level: int, when: PacketPredicate) -> PacketPredicate:
    """Return a condition that selects messages with a PrivacyLevel and a further property."""
    return lambda packet: packet.MessagePropertiesHeader.PrivacyLevel == level and when(packet)


def change_cache_entries_added_by_message(
    cache_name: str, change: CacheEntryChangeFunction, when: PacketPredicate
) -> Install:
    """Return an installer of a fault that changes the entries that a message adds to a cache. If ``change`` returns
    None, the entry is removed.
    """

    class NewEntriesChanged(SecurityOnReceipt):
        def change_entries(self, packet: UserMessagePacket, known: list[Any], wanted: str) -> None:
            if cache_name != wanted or not when(packet):
                return
            cache: Any = getattr(self.qm.caches, cache_name)
            changed = [one if one in known else change(one, packet, known) for one in cache.entries]
            cache.entries = [one for one in changed if one is not None]

        def verify_sender(self, packet: UserMessagePacket, now: Now) -> None:
            known = list(self.qm.caches.UserCertCache.entries)
            super().verify_sender(packet, now)
            self.change_entries(packet, known, "UserCertCache")

        def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
            known = list(self.qm.caches.ReceiveSymmetricKeyCache.entries)
            decrypted = super().decrypt_body(packet, now)
            self.change_entries(packet, known, "ReceiveSymmetricKeyCache")
            return decrypted

    return replace_part(NewEntriesChanged)


def make_change_of_cache_entry_element(element: str, compute: Callable[[Any], Any]) -> CacheEntryChangeFunction:
    """Return a function that computes an element of an entry from the correct value of this element."""
    return lambda entry, packet, known: replace(entry, **{element: compute(getattr(entry, element))})


def cut_last_byte_of_certificate(entry: Any, packet: UserMessagePacket, known: list[Any]) -> Any:
    """Return an entry whose certificate lacks its last byte."""
    return replace(entry, UserCert=replace(entry.UserCert, Certificate=entry.UserCert.Certificate[:-1]))


def clear_certificate_digest(entry: Any, packet: UserMessagePacket, known: list[Any]) -> Any:
    """Return an entry whose UserCert has a digest of zeros."""
    return replace(entry, UserCert=replace(entry.UserCert, Digest=bytes(len(entry.UserCert.Digest))))


def set_cached_time_of_first_entry(entry: Any, packet: UserMessagePacket, known: list[Any]) -> Any:
    """Return an entry with CachedTime of the first entry of the cache."""
    return replace(entry, CachedTime=known[0].CachedTime) if known else entry


def set_cached_time_to_sent_time(entry: Any, packet: UserMessagePacket, known: list[Any]) -> Any:
    """Return an entry with SentTime of the message as CachedTime."""
    return replace(entry, CachedTime=packet.UserHeader.SentTime)


def omit_new_cache_entry(entry: Any, packet: UserMessagePacket, known: list[Any]) -> None:
    """Return no entry."""


def omit_new_cache_entry_unless_cache_was_empty(entry: Any, packet: UserMessagePacket, known: list[Any]) -> Any:
    """Return no entry if the cache has two or more entries."""
    return None if len(known) > 1 else entry


for _name, _rule, _says, _cache, _change, _when in (
    (
        "receiver-cached-certificate-of-transactional-message-cut",
        "MQQB-3.1.5.8.3-30",
        "The receiver cuts the last byte of UserCert in the CachedUserCert of a transactional message.",
        "UserCertCache",
        cut_last_byte_of_certificate,
        is_transactional,
    ),
    (
        "receiver-cached-certificate-of-recoverable-message-cut",
        "MQQB-3.1.5.8.3-30",
        "The receiver cuts the last byte of UserCert in the CachedUserCert of a recoverable message.",
        "UserCertCache",
        cut_last_byte_of_certificate,
        is_recoverable,
    ),
    (
        "receiver-cached-certificate-without-digest",
        "MQQB-3.1.5.8.3-30",
        "The receiver clears the digest of UserCert in each CachedUserCert.",
        "UserCertCache",
        clear_certificate_digest,
        accept_every_message,
    ),
    (
        "receiver-cached-certificate-of-transactional-message-without-security-id",
        "MQQB-3.1.5.8.3-31",
        "The receiver leaves SecurityID empty in the CachedUserCert of a transactional message.",
        "UserCertCache",
        make_change_of_cache_entry_element("SecurityID", lambda old: b""),
        is_transactional,
    ),
    (
        "receiver-cached-certificate-of-encrypted-message-without-security-id",
        "MQQB-3.1.5.8.3-31",
        "The receiver leaves SecurityID empty in the CachedUserCert of an encrypted message.",
        "UserCertCache",
        make_change_of_cache_entry_element("SecurityID", lambda old: b""),
        is_encrypted,
    ),
    (
        "receiver-cached-certificate-security-id-without-relative-identifier",
        "MQQB-3.1.5.8.3-31",
        "The receiver cuts the last four bytes of SecurityID in each CachedUserCert.",
        "UserCertCache",
        make_change_of_cache_entry_element("SecurityID", lambda old: old[:-4]),
        accept_every_message,
    ),
    (
        "receiver-cached-certificate-time-is-sent-time",
        "MQQB-3.1.5.8.3-33",
        "The receiver sets CachedTime of a CachedUserCert to SentTime of the message.",
        "UserCertCache",
        set_cached_time_to_sent_time,
        accept_every_message,
    ),
    (
        "receiver-cached-certificate-time-in-local-time",
        "MQQB-3.1.5.8.3-33",
        "The receiver sets CachedTime of a CachedUserCert to local time, which is one hour ahead of UTC.",
        "UserCertCache",
        make_change_of_cache_entry_element("CachedTime", lambda old: old + HOUR_S),
        accept_every_message,
    ),
    (
        "receiver-later-cached-certificate-has-time-of-first",
        "MQQB-3.1.5.8.3-33",
        "The receiver sets CachedTime of each later CachedUserCert to CachedTime of the first.",
        "UserCertCache",
        set_cached_time_of_first_entry,
        accept_every_message,
    ),
    (
        "receiver-certificate-of-transactional-message-not-cached",
        "MQQB-3.1.5.8.3-34",
        "The receiver adds no CachedUserCert for a transactional message.",
        "UserCertCache",
        omit_new_cache_entry,
        is_transactional,
    ),
    (
        "receiver-certificate-of-encrypted-message-not-cached",
        "MQQB-3.1.5.8.3-34",
        "The receiver adds no CachedUserCert for an encrypted message.",
        "UserCertCache",
        omit_new_cache_entry,
        is_encrypted,
    ),
    (
        "receiver-third-certificate-not-cached",
        "MQQB-3.1.5.8.3-34",
        "The receiver adds no third CachedUserCert to UserCertCache.",
        "UserCertCache",
        omit_new_cache_entry_unless_cache_was_empty,
        accept_every_message,
    ),
    (
        "receiver-cached-key-of-transactional-message-has-other-provider",
        "MQQB-3.1.5.8.3-60",
        "The receiver sets CryptoServiceProvider to the Base provider in the CachedSymmetricKey of a transactional "
        "message.",
        "ReceiveSymmetricKeyCache",
        make_change_of_cache_entry_element("CryptoServiceProvider", lambda old: BASE_PROVIDER),
        is_transactional,
    ),
    (
        "receiver-cached-key-of-level-1-has-enhanced-provider",
        "MQQB-3.1.5.8.3-60",
        "The receiver sets CryptoServiceProvider to the Enhanced provider in the CachedSymmetricKey of a message with "
        "PrivacyLevel 1.",
        "ReceiveSymmetricKeyCache",
        make_change_of_cache_entry_element(
            "CryptoServiceProvider", lambda old: ENHANCED_PROVIDER if old == BASE_PROVIDER else old
        ),
        accept_every_message,
    ),
    (
        "receiver-cached-key-provider-without-version",
        "MQQB-3.1.5.8.3-60",
        "The receiver cuts the version from CryptoServiceProvider in the CachedSymmetricKey.",
        "ReceiveSymmetricKeyCache",
        make_change_of_cache_entry_element("CryptoServiceProvider", lambda old: old.removesuffix(" v1.0")),
        accept_every_message,
    ),
    (
        "receiver-cached-key-of-transactional-message-has-algorithm-0",
        "MQQB-3.1.5.8.3-61",
        "The receiver sets CryptoAlgorithm to 0 in the CachedSymmetricKey of a transactional message.",
        "ReceiveSymmetricKeyCache",
        make_change_of_cache_entry_element("CryptoAlgorithm", lambda old: 0),
        is_transactional,
    ),
    (
        "receiver-cached-key-of-rc2-message-has-rc4",
        "MQQB-3.1.5.8.3-61",
        "The receiver sets CryptoAlgorithm to RC4 in the CachedSymmetricKey of a message that is encrypted with RC2.",
        "ReceiveSymmetricKeyCache",
        make_change_of_cache_entry_element("CryptoAlgorithm", lambda old: EncryptionAlgorithm.RC4),
        make_encryption_algorithm_condition(EncryptionAlgorithm.RC2),
    ),
    (
        "receiver-cached-key-of-aes-192-message-has-aes-256",
        "MQQB-3.1.5.8.3-61",
        "The receiver sets CryptoAlgorithm to AES with 256 bits in the CachedSymmetricKey of a message that is "
        "encrypted with AES with 192 bits.",
        "ReceiveSymmetricKeyCache",
        make_change_of_cache_entry_element("CryptoAlgorithm", lambda old: EncryptionAlgorithm.AES256),
        make_encryption_algorithm_condition(EncryptionAlgorithm.AES192),
    ),
    (
        "receiver-cached-key-of-transactional-message-without-blob",
        "MQQB-3.1.5.8.3-62",
        "The receiver leaves EncryptedSymmetricKey empty in the CachedSymmetricKey of a transactional message.",
        "ReceiveSymmetricKeyCache",
        make_change_of_cache_entry_element("EncryptedSymmetricKey", lambda old: b""),
        is_transactional,
    ),
    (
        "receiver-cached-key-blob-without-header",
        "MQQB-3.1.5.8.3-62",
        "The receiver omits the header of the SIMPLEBLOB in EncryptedSymmetricKey of each CachedSymmetricKey.",
        "ReceiveSymmetricKeyCache",
        make_change_of_cache_entry_element("EncryptedSymmetricKey", lambda old: old[12:]),
        accept_every_message,
    ),
    (
        "receiver-cached-key-of-rc2-message-with-reversed-blob",
        "MQQB-3.1.5.8.3-62",
        "The receiver reverses the bytes of EncryptedSymmetricKey in the CachedSymmetricKey of a message that is "
        "encrypted with RC2.",
        "ReceiveSymmetricKeyCache",
        make_change_of_cache_entry_element("EncryptedSymmetricKey", lambda old: old[::-1]),
        make_encryption_algorithm_condition(EncryptionAlgorithm.RC2),
    ),
):
    add(_name, _rule, _says, change_cache_entries_added_by_message(_cache, _change, _when), blind=True)


def refuse_registered_signers(when: Callable[[SecurityOnReceipt, UserMessagePacket], bool]) -> Install:
    """Return an installer of a fault that refuses selected signed messages although their certificate is registered."""

    class SignerRefused(SecurityOnReceipt):
        def verify_sender(self, packet: UserMessagePacket, now: Now) -> None:
            refused = packet.SecurityHeader is not None and bool(packet.SecurityHeader.AS) and when(self, packet)
            super().verify_sender(packet, now)
            if refused:
                raise ReceivedMessageRefused(
                    MessageClass.MQMSG_CLASS_NACK_BAD_SIGNATURE, "a fault refuses the signature"
                )

    return replace_part(SignerRefused)


def _is_certificate_cached(part: SecurityOnReceipt, packet: UserMessagePacket) -> bool:
    assert packet.SecurityHeader is not None  # only signed messages are selected
    certificate = packet.SecurityHeader.SecurityData.SenderCert
    return any(one.UserCert.Certificate == certificate for one in part.qm.caches.UserCertCache.entries)


for _name, _says, _refused in (
    (
        "receiver-registered-certificate-in-transactional-message-refused",
        "The receiver refuses a transactional message although its certificate is registered.",
        lambda part, packet: is_transactional(packet),
    ),
    (
        "receiver-registered-certificate-in-cache-refused",
        "The receiver refuses a message although its certificate is registered and in UserCertCache.",
        _is_certificate_cached,
    ),
    (
        "receiver-registered-certificate-in-encrypted-message-refused",
        "The receiver refuses an encrypted message although its certificate is registered.",
        lambda part, packet: is_encrypted(packet),
    ),
):
    add(_name, "MQQB-3.1.5.8.3-27", _says, refuse_registered_signers(_refused), blind=True)


def decrypt_as_if_privacy_level_differed(level: int, when: PacketPredicate) -> Install:
    """Return an installer of a fault that decrypts selected messages as if they had a different PrivacyLevel."""

    class PrivacyLevelReplaced(SecurityOnReceipt):
        def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
            if not is_encrypted(packet) or not when(packet):
                return super().decrypt_body(packet, now)
            path = "MessagePropertiesHeader.PrivacyLevel"
            changed = super().decrypt_body(set_fields(packet, {path: level}), now)
            return set_fields(changed, {path: packet.MessagePropertiesHeader.PrivacyLevel})

    return replace_part(PrivacyLevelReplaced)


for _name, _says, _level, _from, _selected in (
    (
        "receiver-privacy-level-3-of-transactional-message-read-as-1",
        "The receiver uses the Base provider for a transactional message with PrivacyLevel 3.",
        1,
        3,
        is_transactional,
    ),
    (
        "receiver-privacy-level-5-of-transactional-message-read-as-3",
        "The receiver uses the Enhanced provider for a transactional message with PrivacyLevel 5.",
        3,
        5,
        is_transactional,
    ),
    (
        "receiver-privacy-level-1-with-rc2-read-as-3",
        "The receiver uses the Enhanced provider for a message with PrivacyLevel 1 that is encrypted with RC2.",
        3,
        1,
        make_encryption_algorithm_condition(EncryptionAlgorithm.RC2),
    ),
):
    add(
        _name,
        "MQQB-3.1.5.8.3-46",
        _says,
        decrypt_as_if_privacy_level_differed(_level, make_privacy_level_condition(_from, _selected)),
        blind=True,
    )


def decrypt_with_wrong_initialization_vector(when: PacketPredicate) -> Install:
    """Return an installer of a fault that decrypts selected AES bodies as if the initialization vector did not consist
    of zeros.
    """

    class FirstBlockChanged(SecurityOnReceipt):
        def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
            decrypted = super().decrypt_body(packet, now)
            aes = packet.MessagePropertiesHeader.EncryptionAlgorithm in (
                EncryptionAlgorithm.AES128,
                EncryptionAlgorithm.AES192,
                EncryptionAlgorithm.AES256,
            )
            if not is_encrypted(packet) or not aes or not when(packet):
                return decrypted
            body = decrypted.MessagePropertiesHeader.MessageBody
            changed = bytes(byte ^ 1 for byte in body[:LONGEST_CIPHER_BLOCK_BYTES]) + body[LONGEST_CIPHER_BLOCK_BYTES:]
            return set_fields(decrypted, {"MessagePropertiesHeader.MessageBody": changed})

    return replace_part(FirstBlockChanged)


for _name, _says, _selected in (
    (
        "receiver-initial-value-of-transactional-message-not-0",
        "The receiver decrypts the AES body of a transactional message with an initialization vector other than zeros.",
        is_transactional,
    ),
    (
        "receiver-initial-value-of-aes-192-not-0",
        "The receiver decrypts a body that is encrypted with AES with 192 bits with an initialization vector other "
        "than zeros.",
        make_encryption_algorithm_condition(EncryptionAlgorithm.AES192),
    ),
    (
        "receiver-initial-value-of-large-body-not-0",
        "The receiver decrypts an AES body of more than 1,024 bytes with an initialization vector other than zeros.",
        lambda packet: len(packet.MessagePropertiesHeader.MessageBody) > LARGE_BODY_BYTES,
    ),
):
    add(_name, "MQQB-3.1.5.8.3-80", _says, decrypt_with_wrong_initialization_vector(_selected), blind=True)
