"""Faults of MS-MQQB 3.1.5.8.3 Security: later keys and certificates."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.registry import add
from harness.faults.timed_caches import AnyTimedCache, make_cache_ignoring_fields, replace_cache
from reference_qm.codec import MessageClass, SecurityHeader, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.security import ReceivedMessageRefused, decrypt_message
from reference_qm.security.algorithms import BASE_PROVIDER, ENHANCED_PROVIDER
from reference_qm.surface.clock import Now

AUTHENTICATION_TYPE_AS_OF_LIST_SIGNATURE = 5
"""AS of a message whose signature is in the list of destinations."""


@fault("receiver-list-signature-of-cached-certificate-not-decrypted", breaks="MQQB-3.1.5.8.3-12", blind=True)
class ReceiverListSignatureOfCachedCertificateNotDecrypted(SecurityOnReceipt):
    """The receiver accepts a signature in the list of destinations without decrypting it if the certificate is
    cached.
    """

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        security, names = packet.SecurityHeader, packet.MultiQueueFormatHeader
        if security is None or names is None or security.SecurityData.Signature:
            return super().authenticate_packet(packet)
        certificate = security.SecurityData.SenderCert
        known = self.qm.caches.UserCertCache.find(lambda one: one.UserCert.Certificate == certificate)
        if known is None:
            return super().authenticate_packet(packet)
        flags = security.Flags | SecurityHeader.flags(AS=AUTHENTICATION_TYPE_AS_OF_LIST_SIGNATURE)
        return replace(packet, SecurityHeader=replace(security, Flags=flags))


class _CachedTimeRefreshFault(SecurityOnReceipt):
    """A base class of faults that update CachedTime of an entry whenever the entry is used."""

    def refresh_cached_times(self, cache: AnyTimedCache, now: Now) -> None:
        """Set CachedTime of every entry to the present time."""
        cache.entries[:] = [replace(entry, CachedTime=now.utc_s) for entry in cache.entries]


@fault("receiver-cached-time-of-certificate-updated-on-use", breaks="MQQB-3.1.5.8.3-32", blind=True)
class ReceiverCachedTimeOfCertificateUpdatedOnUse(_CachedTimeRefreshFault):
    """The receiver sets CachedTime of a CachedUserCert to the time of the last message with this certificate."""

    def verify_sender(self, packet: UserMessagePacket, now: Now) -> None:
        super().verify_sender(packet, now)
        self.refresh_cached_times(self.qm.caches.UserCertCache, now)


@fault("receiver-cached-time-of-symmetric-key-updated-on-use", breaks="MQQB-3.1.5.8.3-66", blind=True)
class ReceiverCachedTimeOfSymmetricKeyUpdatedOnUse(_CachedTimeRefreshFault):
    """The receiver sets CachedTime of a CachedSymmetricKey to the time of the last message with this key."""

    def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
        decrypted = super().decrypt_body(packet, now)
        self.refresh_cached_times(self.qm.caches.ReceiveSymmetricKeyCache, now)
        return decrypted


class _WrongPrivateKeyFault(SecurityOnReceipt):
    """A base class of faults that use the private key of another provider."""

    def decrypt_with_key_of_provider(
        self, packet: UserMessagePacket, now: Now, level: int, provider: str
    ) -> UserMessagePacket:
        """Decrypt messages of one PrivacyLevel with the private key of the given provider."""
        receiver = self._build_receiver()
        if packet.MessagePropertiesHeader.PrivacyLevel == level and provider in receiver.private_keys:
            keys = dict.fromkeys(receiver.private_keys, receiver.private_keys[provider])
            receiver = replace(receiver, private_keys=keys)
        return decrypt_message(packet, receiver, now)


@fault("receiver-aes-key-decrypted-with-private-key-of-enhanced-provider", breaks="MQQB-3.1.5.8.3-65", blind=True)
class ReceiverAesKeyDecryptedWithPrivateKeyOfEnhancedProvider(_WrongPrivateKeyFault):
    """For PrivacyLevel 5, the receiver uses its private key for the enhanced provider."""

    def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
        return self.decrypt_with_key_of_provider(packet, now, 5, ENHANCED_PROVIDER)


@fault("receiver-enhanced-key-decrypted-with-key-of-base-provider", breaks="MQQB-3.1.5.8.3-65", blind=True)
class ReceiverEnhancedKeyDecryptedWithKeyOfBaseProvider(_WrongPrivateKeyFault):
    """For PrivacyLevel 3, the receiver uses its private key for the base provider."""

    def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
        return self.decrypt_with_key_of_provider(packet, now, 3, BASE_PROVIDER)


@fault("receiver-known-key-after-cleanup-not-taken-from-message", breaks="MQQB-3.1.5.8.3-57", blind=True)
class ReceiverKnownKeyAfterCleanupNotTakenFromMessage(SecurityOnReceipt):
    """The receiver refuses a message with a symmetric key that it had cached earlier and has since removed."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.known: set[bytes] = set()

    def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
        cached = {entry.EncryptedSymmetricKey for entry in self.qm.caches.ReceiveSymmetricKeyCache.entries}
        security = packet.SecurityHeader
        blob = b"" if security is None or not security.EB else security.SecurityData.EncryptionKey
        if blob and blob in self.known and blob not in cached:
            raise ReceivedMessageRefused(MessageClass.MQMSG_CLASS_NACK_BAD_ENCRYPTION, "a fault refuses the key")
        self.known |= {blob} | cached
        return super().decrypt_body(packet, now)


add(
    "receiver-second-key-of-source-not-taken-from-message",
    "MQQB-3.1.5.8.3-57",
    "If a symmetric key of the same source, provider and algorithm is cached, the receiver uses this key, although the "
    "message contains another one.",
    replace_cache("ReceiveSymmetricKeyCache", make_cache_ignoring_fields("EncryptedSymmetricKey")),
    blind=True,
)
