"""Faults of MS-MQQB 3.1.7.1.5 Encrypting the Message Body, written without reading the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.securing import Securing
from reference_qm.model.adm import Message, Session
from reference_qm.security import EncryptionAlgorithm, PrivacyLevel
from reference_qm.surface.clock import Now
from reference_qm.surface.entropy import Entropy

_KEY_BYTES, _REDUCED_KEY_BYTES = 16, 5


class _ShortKeys:
    """Produce random bytes for keys. A key of 128 bits has only 40 random bits; the other bits are 0."""

    def __init__(self, source: Entropy) -> None:
        self._source = source

    def token(self, size: int) -> bytes:
        found = self._source.token(size)
        return found[:_REDUCED_KEY_BYTES].ljust(size, b"\0") if size == _KEY_BYTES else found


@fault("sender-enhanced-rc4-key-of-40-bits", breaks="MQQB-3.1.7.1.5-17", blind=True)
class SenderEnhancedRc4KeyOf40Bits(Securing):
    """If SendEnhancedRC2Using40BitKeys is TRUE, the sender creates RC4 keys of the Enhanced provider with only 40
    random bits, although the setting applies only to RC2.
    """

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        settings, source = self.qm.caches.settings, self.qm.entropy
        enhanced = message.security is not None and message.security.PrivacyLevel == PrivacyLevel.ENHANCED
        rc4 = settings.PreferredEnhancedAlgorithm == EncryptionAlgorithm.RC4
        if enhanced and rc4 and settings.SendEnhancedRC2Using40BitKeys:
            self.qm.entropy = _ShortKeys(source)
        try:
            return super().encrypt_body(session, message, packet, now)
        finally:
            self.qm.entropy = source
