"""Faults that break rules of MS-MQQB 3.1.7.1.5 Encrypting the Message Body."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from harness.faults.parts import fault
from reference_qm.codec import PublicKeyBlob, UserMessagePacket
from reference_qm.core.names.security_lookup import SecurityLookup
from reference_qm.core.transfer.securing import Securing
from reference_qm.model.adm import Message, Session
from reference_qm.security import EncryptionAlgorithm, MqdsPublicKeys, PrivacyLevel
from reference_qm.security.algorithms import ENHANCED_PROVIDER
from reference_qm.security.caches import CachedSymmetricKey
from reference_qm.security.key_exchange import encrypt_symmetric_key, public_key
from reference_qm.surface.clock import Now

KEY_BYTES, REDUCED_KEY_BYTES = 16, 5
MODULUS_BUFFER_BYTES = 128


@fault("sender-enhanced-rc4-key-reduced-to-40-bits", breaks="MQQB-3.1.7.1.5-12", blind=True)
class SenderEnhancedRc4KeyReducedTo40Bits(Securing):
    """The sender reduces also an RC4 key of the Enhanced provider to 40 bits, followed by 88 zero bits, if
    SendEnhancedRC2Using40BitKeys is TRUE.
    """

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        settings = self.qm.caches.settings
        enhanced = message.security is not None and message.security.PrivacyLevel == PrivacyLevel.ENHANCED
        rc4 = settings.PreferredEnhancedAlgorithm == EncryptionAlgorithm.RC4
        if enhanced and rc4 and settings.SendEnhancedRC2Using40BitKeys:
            self._add_reduced_key(packet.UserHeader.QueueManagerAddress, now)
        return super().encrypt_body(session, message, packet, now)

    def _add_reduced_key(self, remote: UUID, now: Now) -> None:
        wanted = (remote, ENHANCED_PROVIDER, EncryptionAlgorithm.RC4)
        cache = self.qm.caches.get_sending_cache(PrivacyLevel.ENHANCED)
        keys = self.qm.security_lookup.find_public_keys(remote, now)
        published = None if keys is None else keys.find(ENHANCED_PROVIDER)
        if published is None or cache.find(
            lambda key: (key.RemoteQMGuid, key.CryptoServiceProvider, key.CryptoAlgorithm) == wanted
        ):
            return
        reduced = self.qm.entropy.token(REDUCED_KEY_BYTES).ljust(KEY_BYTES, b"\0")
        rsa_key = public_key(published.to_public_key_blob())
        blob = encrypt_symmetric_key(rsa_key, EncryptionAlgorithm.RC4, reduced, self.qm.entropy)
        cache.add(CachedSymmetricKey(*wanted, blob.build(), reduced, now.utc_s))


@fault("sender-public-key-blob-modulus-cut-to-1024-bits", breaks="MQQB-3.1.7.1.5.2-05", blind=True)
class SenderPublicKeyBlobModulusCutTo1024Bits(SecurityLookup):
    """The sender copies only the first 128 bytes of a published modulus into the PUBLICKEYBLOB, so that it cannot
    encrypt with a longer key.
    """

    def find_public_keys(self, guid: UUID, now: Now) -> MqdsPublicKeys | None:
        keys = super().find_public_keys(guid, now)
        if keys is None:
            return None
        return MqdsPublicKeys(tuple(replace(key, aBuf=_cut_modulus(key.aBuf)) for key in keys.aPublicKeys))


def _cut_modulus(key: bytes) -> bytes:
    header_bytes = len(PublicKeyBlob().build())
    return key[: header_bytes + MODULUS_BUFFER_BYTES].ljust(len(key), b"\0")
