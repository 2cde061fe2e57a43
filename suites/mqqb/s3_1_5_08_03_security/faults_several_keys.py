"""Faults that break rules of MS-MQQB 3.1.5.8.3 Security about symmetric keys, for a later key, source or message."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import change_step, fault
from harness.faults.registry import Install
from harness.faults.timed_caches import AnyTimedCache, replace_cache, store_field_of_first_entry
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.model.adm import Queue, Session
from reference_qm.security.algorithms import EncryptionAlgorithm
from reference_qm.surface.clock import Now
from suites.mqmq.steps.kinds_of_messages import is_transactional
from suites.mqqb.s3_1_5_08_03_security.fault_steps import (
    BAD_ENCRYPTION_CLASS,
    is_encrypted,
    refuse_selected_messages_in_security_step,
    register_faults_written_without_knowing_checks,
)

RECEIVED_KEY_CACHE_NAME = "ReceiveSymmetricKeyCache"
_DECRYPTED_LENGTH_LIMIT_BYTES = 4096


class _CacheThatClearsFoundKey(AnyTimedCache):
    def find(self, matches: Callable[[Any], bool]) -> Any:
        found = super().find(matches)
        if found is not None:
            place = self.entries.index(found)
            self.entries[place] = replace(found, SymmetricKey=bytes(len(found.SymmetricKey)))
        return found


class _CacheThatFindsNewestKey(AnyTimedCache):
    def find(self, matches: Callable[[Any], bool]) -> Any:
        found = super().find(matches)
        if found is None:
            return None
        same = [one for one in self.entries if one.CryptoAlgorithm == found.CryptoAlgorithm]
        return same[-1]


def _change_cached_key(change: Callable[[bytes], bytes]) -> Install:
    class CachedChanged(AnyTimedCache):
        def add(self, entry: Any) -> None:
            super().add(replace(entry, SymmetricKey=change(entry.SymmetricKey)))

    return replace_cache(RECEIVED_KEY_CACHE_NAME, CachedChanged)


@fault("receiver-cached-key-with-guid-of-forwarder", breaks="MQQB-3.1.5.8.3-59", blind=True)
class ReceiverCachedKeyWithGuidOfForwarder(SecurityOnReceipt):
    """The receiver sets RemoteQMGuid of a CachedSymmetricKey to the GUID of the queue manager that forwarded the
    message.
    """

    def check_security(
        self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now
    ) -> UserMessagePacket | MessageClass:
        cache = self.qm.caches.ReceiveSymmetricKeyCache
        before = list(cache.entries)
        checked = super().check_security(session, packet, queue, now)
        cache.entries = [
            one if one in before else replace(one, RemoteQMGuid=session.RemoteQMGuid) for one in cache.entries
        ]
        return checked


def _change_keys_that_message_adds_to_cache(change: Callable[[Any, UserMessagePacket, Any], Any]) -> Install:
    """Return an installer of a fault that changes the entries which a message adds to the cache."""

    def run(self: Any, original: Any, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
        cache = self.qm.caches.ReceiveSymmetricKeyCache
        before = list(cache.entries)
        decrypted: UserMessagePacket = original(packet, now)
        cache.entries = [one if one in before else change(self, packet, one) for one in cache.entries]
        return decrypted

    return change_step(SecurityOnReceipt.decrypt_body, run)


def _get_message_body(packet: UserMessagePacket) -> bytes:
    return bytes(packet.MessagePropertiesHeader.MessageBody)


def _replace_message_body(packet: UserMessagePacket, body: bytes) -> UserMessagePacket:
    properties = replace(packet.MessagePropertiesHeader, MessageBody=body, AllocationBodySize=len(body), Padding=None)
    return replace(packet, MessagePropertiesHeader=properties)


def _decrypt_only_first_bytes_of_body(
    self: Any, original: Any, packet: UserMessagePacket, now: Now
) -> UserMessagePacket:
    decrypted: UserMessagePacket = original(packet, now)
    if not is_encrypted(packet):
        return decrypted
    body = _get_message_body(decrypted)
    return _replace_message_body(
        decrypted,
        body[:_DECRYPTED_LENGTH_LIMIT_BYTES] + _get_message_body(packet)[_DECRYPTED_LENGTH_LIMIT_BYTES : len(body)],
    )


def _keep_padding_block_of_decrypted_body(
    self: Any, original: Any, packet: UserMessagePacket, now: Now
) -> UserMessagePacket:
    decrypted: UserMessagePacket = original(packet, now)
    if is_encrypted(packet) and len(_get_message_body(packet)) - len(_get_message_body(decrypted)) == 16:
        return _replace_message_body(decrypted, _get_message_body(decrypted) + b"\x10" * 16)
    return decrypted


def _make_encryption_algorithm_condition(*algorithms: EncryptionAlgorithm) -> Callable[[UserMessagePacket], bool]:
    return lambda packet: is_encrypted(packet) and packet.MessagePropertiesHeader.EncryptionAlgorithm in algorithms


def _is_encrypted_transactional_message(packet: UserMessagePacket) -> bool:
    return is_encrypted(packet) and is_transactional(packet)


def _refuse_symmetric_key(condition: Callable[[bytes], bool]) -> Install:
    """Return an installer of a fault that refuses messages whose symmetric key meets a condition."""

    def run(self: Any, original: Any, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
        from reference_qm.security import ReceivedMessageRefused

        decrypted: UserMessagePacket = original(packet, now)
        if is_encrypted(packet):
            blob = packet.SecurityHeader.SecurityData.EncryptionKey  # type: ignore[union-attr]
            for one in self.qm.caches.ReceiveSymmetricKeyCache.entries:
                if one.EncryptedSymmetricKey == blob and condition(one.SymmetricKey):
                    raise ReceivedMessageRefused(BAD_ENCRYPTION_CLASS, "a fault refuses the key")
        return decrypted

    return change_step(SecurityOnReceipt.decrypt_body, run)


register_faults_written_without_knowing_checks(
    (
        "receiver-cached-key-cleared-after-use",
        "MQQB-3.1.5.8.3-56",
        "The receiver clears the symmetric key in its cache after it has decrypted one further body with this key.",
        replace_cache(RECEIVED_KEY_CACHE_NAME, _CacheThatClearsFoundKey),
    ),
    (
        "receiver-newest-cached-key-of-algorithm-used",
        "MQQB-3.1.5.8.3-56",
        "If the cache contains the symmetric key of a message, the receiver decrypts with the newest key of the cache.",
        replace_cache(RECEIVED_KEY_CACHE_NAME, _CacheThatFindsNewestKey),
    ),
    (
        "receiver-cached-key-without-last-byte",
        "MQQB-3.1.5.8.3-56",
        "The receiver decrypts with a cached symmetric key whose last byte is 0.",
        _change_cached_key(lambda key: key[:-1] + b"\0"),
    ),
    (
        "receiver-cached-key-of-second-source-with-guid-of-first",
        "MQQB-3.1.5.8.3-59",
        "The receiver sets RemoteQMGuid of each later CachedSymmetricKey to the source of the first key.",
        store_field_of_first_entry(RECEIVED_KEY_CACHE_NAME, "RemoteQMGuid"),
    ),
    (
        "receiver-cached-key-of-transactional-message-with-own-guid",
        "MQQB-3.1.5.8.3-59",
        "The receiver sets RemoteQMGuid of the CachedSymmetricKey of a transactional message to its own GUID.",
        _change_keys_that_message_adds_to_cache(
            lambda self, packet, one: (
                replace(one, RemoteQMGuid=self.qm.adm.Identifier) if is_transactional(packet) else one
            )
        ),
    ),
    (
        "receiver-key-with-first-byte-zero-refused",
        "MQQB-3.1.5.8.3-64",
        "The receiver cannot use a symmetric key whose first byte is 0.",
        _refuse_symmetric_key(lambda key: key[:1] == b"\0"),
    ),
    (
        "receiver-key-of-more-than-128-bits-refused",
        "MQQB-3.1.5.8.3-64",
        "The receiver decrypts no symmetric key of more than 128 bits.",
        _refuse_symmetric_key(lambda key: len(key) > 16),
    ),
    (
        "receiver-key-of-transactional-message-not-decrypted",
        "MQQB-3.1.5.8.3-64",
        "The receiver decrypts no symmetric key of a transactional message, and refuses the message.",
        refuse_selected_messages_in_security_step(
            "decrypt_body", _is_encrypted_transactional_message, BAD_ENCRYPTION_CLASS
        ),
    ),
    (
        "receiver-body-decrypted-up-to-4096-bytes",
        "MQQB-3.1.5.8.3-70",
        "The receiver decrypts only the first 4,096 bytes of a body.",
        change_step(SecurityOnReceipt.decrypt_body, _decrypt_only_first_bytes_of_body),
    ),
    (
        "receiver-full-padding-block-kept-in-body",
        "MQQB-3.1.5.8.3-70",
        "The receiver keeps the padding of a body whose padding is a block of 16 bytes.",
        change_step(SecurityOnReceipt.decrypt_body, _keep_padding_block_of_decrypted_body),
    ),
    (
        "receiver-body-encrypted-with-aes-192-not-decrypted",
        "MQQB-3.1.5.8.3-70",
        "The receiver refuses a body that is encrypted with AES and a key of 192 bits.",
        refuse_selected_messages_in_security_step(
            "decrypt_body", _make_encryption_algorithm_condition(EncryptionAlgorithm.AES192), BAD_ENCRYPTION_CLASS
        ),
    ),
)
