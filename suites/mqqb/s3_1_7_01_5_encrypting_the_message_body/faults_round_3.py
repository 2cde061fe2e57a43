"""Faults that break rules of MS-MQQB 3.1.7.1.5 Encrypting the Message Body."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from harness.faults.parts import fault
from reference_qm.codec import PublicKeyBlob, UserMessagePacket
from reference_qm.core.names.security_lookup import SecurityLookup
from reference_qm.core.part import QM
from reference_qm.core.transfer.securing import Securing
from reference_qm.model.adm import Message, Session
from reference_qm.security import MqdsPublicKeys
from reference_qm.security.caches import CachedSymmetricKey
from reference_qm.security.key_exchange import encrypt_symmetric_key, public_key
from reference_qm.security.sending import select_encryption
from reference_qm.surface.clock import Now

MODULUS_BUFFER_BYTES = 128


@fault("sender-use-public-key-of-first-provider-for-all-messages", breaks="MQQB-3.1.7.1.5-12", blind=True)
class SenderUsePublicKeyOfFirstProviderForAllMessages(Securing):
    """The sender uses the public key of the provider with which it first encrypted a message for a queue manager also
    for messages that it encrypts with a different provider.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.used: dict[UUID, PublicKeyBlob] = {}

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        remote = packet.UserHeader.QueueManagerAddress
        keys = self.qm.security_lookup.find_public_keys(remote, now)
        if keys is not None and message.security is not None and message.security.PrivacyLevel:
            self._choose_key(message.security.PrivacyLevel, remote, keys, now)
        return super().encrypt_body(session, message, packet, now)

    def _choose_key(self, level: int, remote: UUID, keys: MqdsPublicKeys, now: Now) -> None:
        selection = select_encryption(level, keys, self.qm.caches.settings)
        chosen = self.used.setdefault(remote, selection.UsePublicKey)
        wanted = (remote, selection.UseCSP, selection.UseAlgorithm)
        cache = self.qm.caches.get_sending_cache(level)
        known = cache.find(lambda key: (key.RemoteQMGuid, key.CryptoServiceProvider, key.CryptoAlgorithm) == wanted)
        if known is None and chosen != selection.UsePublicKey:
            key = selection.new_key(self.qm.entropy)
            blob = encrypt_symmetric_key(public_key(chosen), selection.UseAlgorithm, key, self.qm.entropy)
            cache.add(CachedSymmetricKey(*wanted, blob.build(), key, now.utc_s))


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
