"""Faults that break the rules MQQB-3.1.5.8.3-44 to MQQB-3.1.5.8.3-79."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from operator import attrgetter
from typing import Any

from harness.faults.parts import change_step, fault
from harness.faults.primitives import set_fields
from harness.faults.registry import Install
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.security import ReceivedMessageRefused
from reference_qm.surface.clock import Now
from suites.mqmq.steps.kinds_of_messages import is_express
from suites.mqqb.s3_1_5_08_03_security.fault_steps import (
    BAD_ENCRYPTION_CLASS,
    accept_refused_messages,
    has_destination_list,
    is_encrypted,
    refuse_selected_messages_in_security_step,
    register_faults_written_without_knowing_checks,
    skip_security_step_for_selected_messages,
)


@fault(
    "receiver-foreign-certificate-of-transactional-message-accepted",
    breaks=("MQQB-3.1.5.8.3-44", "MQSO-7.4.1.4.2-D03", "MQSO-7.3-03", "MQSO-7.4.1.4.2-05"),
    blind=True,
)
class ReceiverForeignCertificateOfTransactionalMessageAccepted(SecurityOnReceipt):
    """The receiver does not check the certificate of a transactional message."""

    def verify_sender(self, packet: UserMessagePacket, now: Now) -> None:
        if packet.TransactionHeader is None:
            super().verify_sender(packet, now)


@fault("receiver-body-of-transactional-message-not-decrypted", breaks="MQQB-3.1.5.8.3-45", blind=True)
class ReceiverBodyOfTransactionalMessageNotDecrypted(SecurityOnReceipt):
    """The receiver does not decrypt the body of a transactional message."""

    def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
        return packet if packet.UserHeader.TH else super().decrypt_body(packet, now)


def _decrypt_as_if_privacy_level_differed(old: Callable[[int], bool], new: int) -> Install:
    def run(self: Any, original: Any, packet: UserMessagePacket, now: Any) -> Any:
        level = packet.MessagePropertiesHeader.PrivacyLevel
        if not old(level):
            return original(packet, now)
        changed = set_fields(packet, {"MessagePropertiesHeader.PrivacyLevel": new})
        return set_fields(original(changed, now), {"MessagePropertiesHeader.PrivacyLevel": level})

    return change_step(SecurityOnReceipt.decrypt_body, run)


def _decrypt_with_changed_simple_blob(change: Callable[[bytes], bytes]) -> Install:
    def run(self: Any, original: Any, packet: UserMessagePacket, now: Any) -> Any:
        header = packet.SecurityHeader
        if header is None or not header.EB:
            return original(packet, now)
        data = replace(header.SecurityData, EncryptionKey=change(header.SecurityData.EncryptionKey), Padding=None)
        done = original(replace(packet, SecurityHeader=replace(header, SecurityData=data)), now)
        return replace(done, SecurityHeader=header)

    return change_step(SecurityOnReceipt.decrypt_body, run)


def _has_privacy_level_without_encryption(packet: UserMessagePacket) -> bool:
    return not is_encrypted(packet) and packet.MessagePropertiesHeader.PrivacyLevel != 0


def _refuse_rejected_symmetric_key(is_refused: Callable[[UserMessagePacket, bytes], bool]) -> Install:
    def run(self: Any, original: Any, packet: UserMessagePacket, now: Any) -> Any:
        done = original(packet, now)
        header = packet.SecurityHeader
        if header is not None and header.EB and self.qm.caches.settings.RejectEnhancedRC2Using40BitKeys:
            for key in self.qm.caches.ReceiveSymmetricKeyCache.entries:
                if key.EncryptedSymmetricKey == header.SecurityData.EncryptionKey and is_refused(
                    packet, key.SymmetricKey
                ):
                    raise ReceivedMessageRefused(BAD_ENCRYPTION_CLASS, "a fault refuses the message")
        return done

    return change_step(SecurityOnReceipt.decrypt_body, run)


def _refuse_encryption_algorithm(value: int) -> Install:
    def is_refused(packet: UserMessagePacket) -> bool:
        return is_encrypted(packet) and packet.MessagePropertiesHeader.EncryptionAlgorithm == value

    return refuse_selected_messages_in_security_step("decrypt_body", is_refused, BAD_ENCRYPTION_CLASS)


def _decrypt_with_privacy_level_of_first_message(self: Any, original: Any, packet: UserMessagePacket, now: Any) -> Any:
    if not is_encrypted(packet):
        return original(packet, now)
    level = packet.MessagePropertiesHeader.PrivacyLevel
    kept = self.__dict__.setdefault("level", level)
    changed = set_fields(packet, {"MessagePropertiesHeader.PrivacyLevel": kept})
    return set_fields(original(changed, now), {"MessagePropertiesHeader.PrivacyLevel": level})


_CIPHERTEXT_ERROR_PREDICATES = {
    "body-of-partial-block": lambda packet: len(packet.MessagePropertiesHeader.MessageBody) % 8 != 0,
    "empty-body": lambda packet: not packet.MessagePropertiesHeader.MessageBody,
    "unknown-algorithm": lambda packet: (
        packet.MessagePropertiesHeader.EncryptionAlgorithm not in {0x6602, 0x6801, 0x660E, 0x660F, 0x6610}
    ),
    "express-delivery": is_express,
    "short-key": lambda packet: len(packet.SecurityHeader.SecurityData.EncryptionKey) < 200,
}


register_faults_written_without_knowing_checks(
    *(
        (
            f"receiver-encrypted-message-with-{label}-accepted",
            ("MQQB-3.1.5.8.3-81", "MQQB-3.1.5.8.3-88"),
            f"The receiver accepts an encrypted message that it cannot decrypt and that has {label.replace('-', ' ')}.",
            accept_refused_messages("decrypt_body", when),
        )
        for label, when in _CIPHERTEXT_ERROR_PREDICATES.items()
    ),
    *(
        (
            f"receiver-encrypted-body-{label}-left",
            "MQQB-3.1.5.8.3-45",
            f"The receiver does not decrypt the body of {words} message.",
            skip_security_step_for_selected_messages("decrypt_body", when),
        )
        for label, words, when in (
            ("of-express-message", "an express", is_express),
            ("of-message-to-list", "a multi-destination", has_destination_list),
            ("of-acknowledgment", "an acknowledgment", lambda packet: packet.MessagePropertiesHeader.MessageClass),
        )
    ),
    (
        "receiver-plain-message-with-privacy-level-refused",
        "MQQB-3.1.5.8.3-45",
        "The receiver refuses a message with EB clear and a PrivacyLevel other than 0.",
        refuse_selected_messages_in_security_step(
            "decrypt_body", _has_privacy_level_without_encryption, BAD_ENCRYPTION_CLASS
        ),
    ),
    (
        "receiver-plain-message-with-encryption-key-refused",
        "MQQB-3.1.5.8.3-45",
        "The receiver refuses a message with EB clear and an EncryptionKey.",
        refuse_selected_messages_in_security_step(
            "decrypt_body",
            lambda packet: (
                not is_encrypted(packet)
                and packet.SecurityHeader is not None
                and bool(packet.SecurityHeader.SecurityData.EncryptionKey)
            ),
            BAD_ENCRYPTION_CLASS,
        ),
    ),
    (
        "receiver-privacy-level-of-first-message-for-all",
        ("MQQB-3.1.5.8.3-46", "MQQB-3.1.5.8.3-65"),
        "The receiver uses the PrivacyLevel of the first encrypted message for all messages.",
        change_step(SecurityOnReceipt.decrypt_body, _decrypt_with_privacy_level_of_first_message),
    ),
    *(
        (
            f"receiver-privacy-level-{label}-taken-as-{new}",
            "MQQB-3.1.5.8.3-47",
            f"The receiver treats PrivacyLevel {words} of an encrypted message as {new}.",
            _decrypt_as_if_privacy_level_differed(old, new),
        )
        for label, words, old, new in (
            ("0", "0", lambda level: level == 0, 1),
            ("2", "2", lambda level: level == 2, 3),
            ("4", "4", lambda level: level == 4, 5),
            ("above-5", "above 5", lambda level: level > 5, 5),
            ("above-5", "above 5", lambda level: level > 5, 3),
            ("above-5", "above 5", lambda level: level > 5, 1),
        )
    ),
    *(
        (
            f"receiver-simple-blob-{label}-ignored",
            "MQQB-3.1.5.8.3-63",
            f"The receiver accepts a SIMPLEBLOB with a wrong {words}.",
            _decrypt_with_changed_simple_blob(change),
        )
        for label, words, change in (
            ("first-byte", "first byte", lambda blob: b"\1" + blob[1:]),
            ("version", "version", lambda blob: blob[:1] + b"\2" + blob[2:]),
            ("key-algorithm", "algorithm of the exchange key", lambda blob: blob[:8] + b"\0\xa4\0\0" + blob[12:]),
        )
    ),
    *(
        (
            f"receiver-key-refused-{label}",
            "MQQB-3.1.5.8.3-71",
            f"With RejectEnhancedRC2Using40BitKeys, the receiver refuses {words}.",
            _refuse_rejected_symmetric_key(is_refused),
        )
        for label, words, is_refused in (
            ("with-80-zero-bits", "a key whose last 80 bits are zeros", lambda packet, key: not any(key[-10:])),
            ("with-zero-bits-first", "a key that begins with 88 zero bits", lambda packet, key: not any(key[:11])),
            ("of-base-provider", "each key of 40 bits", lambda packet, key: len(key) == 5),
            (
                "of-rc4",
                "an RC4 key that ends with 88 zero bits",
                lambda packet, key: packet.MessagePropertiesHeader.EncryptionAlgorithm == 0x6801 and not any(key[-11:]),
            ),
        )
    ),
    (
        "receiver-rc2-key-of-40-bits-of-express-message-accepted",
        "MQQB-3.1.5.8.3-71",
        "The receiver accepts a rejected RC2 key in an express message.",
        accept_refused_messages("decrypt_body", lambda packet: is_express(packet) and is_encrypted(packet)),
    ),
    *(
        (
            f"receiver-algorithm-{value:04x}-refused",
            ("MQQB-3.1.5.8.3-79", "MQQB-3.1.5.8.3-81"),
            f"The receiver refuses messages that are encrypted with EncryptionAlgorithm 0x{value:04X}.",
            _refuse_encryption_algorithm(value),
        )
        for value in (0x6602, 0x6801, 0x660E, 0x660F, 0x6610)
    ),
)


@fault("receiver-privacy-level-compared-by-byte", breaks="MQQB-3.1.5.8.3-47", blind=True)
class ReceiverPrivacyLevelComparedByByte(SecurityOnReceipt):
    """The receiver compares only the low byte of PrivacyLevel."""

    def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
        properties = packet.MessagePropertiesHeader
        level = properties.PrivacyLevel & 0xFF
        return super().decrypt_body(
            replace(packet, MessagePropertiesHeader=replace(properties, PrivacyLevel=level)), now
        )


@fault("receiver-invalid-privacy-level-of-transactional-message-accepted", breaks="MQQB-3.1.5.8.3-54", blind=True)
class ReceiverInvalidPrivacyLevelOfTransactionalMessageAccepted(SecurityOnReceipt):
    """The receiver accepts a transactional message with an invalid PrivacyLevel."""

    def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
        if packet.TransactionHeader is not None and packet.MessagePropertiesHeader.PrivacyLevel not in (1, 3, 5):
            return packet
        return super().decrypt_body(packet, now)


@fault("receiver-new-key-of-known-sender-ignored", breaks="MQQB-3.1.5.8.3-57")
class ReceiverNewKeyOfKnownSenderIgnored(SecurityOnReceipt):
    """The receiver decrypts every message of a sender with the same PrivacyLevel and algorithm with the
    key of the first message.
    """

    def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
        security, properties = packet.SecurityHeader, packet.MessagePropertiesHeader
        if security is None or not security.EB:
            return super().decrypt_body(packet, now)
        known = self.__dict__.setdefault("known", {})
        kind = (packet.UserHeader.SourceQueueManager, properties.PrivacyLevel, properties.EncryptionAlgorithm)
        blob = known.get(kind, security.SecurityData.EncryptionKey)
        changed = replace(security, SecurityData=replace(security.SecurityData, EncryptionKey=blob))
        decrypted = super().decrypt_body(replace(packet, SecurityHeader=changed), now)
        known[kind] = blob
        return replace(decrypted, SecurityHeader=security)


@fault("receiver-symmetric-key-cache-halved-one-key-early", breaks="MQQB-3.1.5.8.3-68", blind=True)
class ReceiverSymmetricKeyCacheHalvedOneKeyEarly(SecurityOnReceipt):
    """When a new key makes the number of keys equal to ReceiveSymmetricKeyCacheSize, the receiver already discards the
    oldest half of ReceiveSymmetricKeyCache.
    """

    def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
        cache, size = self.qm.caches.ReceiveSymmetricKeyCache, self.qm.caches.settings.ReceiveSymmetricKeyCacheSize
        before = len(cache)
        decrypted = super().decrypt_body(packet, now)
        if before < len(cache) == size:
            *earlier, newest = cache.entries
            earlier.sort(key=attrgetter("CachedTime"))
            cache.entries[:] = [*earlier[size // 2 :], newest]
        return decrypted


@fault("receiver-rejected-key-accepted-from-cache", breaks=("MQQB-3.1.5.8.3-71", "MQQB-3.1.5.8.3-78"), blind=True)
class ReceiverRejectedKeyAcceptedFromCache(SecurityOnReceipt):
    """The receiver rejects a message with a 40-bit RC2 key only if the key is not in its cache."""

    def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
        header = packet.SecurityHeader
        blob = b"" if header is None else header.SecurityData.EncryptionKey
        settings = self.qm.caches.settings
        known = any(one.EncryptedSymmetricKey == blob for one in self.qm.caches.ReceiveSymmetricKeyCache.entries)
        if blob and known:
            self.qm.caches.settings = replace(settings, RejectEnhancedRC2Using40BitKeys=False)
        try:
            return super().decrypt_body(packet, now)
        finally:
            self.qm.caches.settings = settings


@fault("receiver-large-encrypted-body-not-decrypted", breaks="MQQB-3.1.5.8.3-79", blind=True)
class ReceiverLargeEncryptedBodyNotDecrypted(SecurityOnReceipt):
    """The receiver decrypts only the first 64 KB of a body."""

    def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
        done = super().decrypt_body(packet, now)
        header, properties = packet.SecurityHeader, done.MessagePropertiesHeader
        if header is None or not header.EB or len(properties.MessageBody) <= 0x10000:
            return done
        body = properties.MessageBody[:0x10000] + packet.MessagePropertiesHeader.MessageBody[0x10000:]
        return replace(
            done, MessagePropertiesHeader=replace(properties, MessageBody=body, AllocationBodySize=len(body))
        )
