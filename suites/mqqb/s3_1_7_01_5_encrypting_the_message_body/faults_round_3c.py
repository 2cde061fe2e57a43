"""Faults that break rules of MS-MQQB 3.1.7.1.5."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.securing import Securing
from reference_qm.model.adm import Message, Session
from reference_qm.surface.clock import Now


@fault("sender-cached-key-of-other-provider-with-same-algorithm-used", breaks="MQQB-3.1.7.1.5-22", blind=True)
class SenderCachedKeyOfOtherProviderWithSameAlgorithmUsed(Securing):
    """The sender encrypts a body with the newest cached key for the destination and the algorithm, even if it found
    an older key of the right provider.
    """

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        level = packet.MessagePropertiesHeader.PrivacyLevel
        cache = self.qm.caches.get_sending_cache(level)
        before = list(cache.entries)
        encrypted = super().encrypt_body(session, message, packet, now)
        header = encrypted.SecurityHeader
        blob = b"" if header is None else header.SecurityData.EncryptionKey
        used = next((key for key in before if key.EncryptedSymmetricKey == blob), None)
        if used is None:
            return encrypted
        wanted = (used.RemoteQMGuid, used.CryptoAlgorithm)
        newest = next(key for key in reversed(before) if (key.RemoteQMGuid, key.CryptoAlgorithm) == wanted)
        cache.entries = [replace(newest, CryptoServiceProvider=used.CryptoServiceProvider)]
        encrypted = super().encrypt_body(session, message, packet, now)
        cache.entries = before
        return encrypted
