"""Faults of MS-MQQB 3.1.5.8 of the probe, written without reading the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.model.adm import Queue, Session
from reference_qm.surface.clock import Now


@fault("receiver-security-step-omitted-for-cached-certificate", breaks="MQQB-3.1.5.8-05", blind=True)
class CachedSenderTrusted(SecurityOnReceipt):
    """The receiver accepts an unencrypted message, whatever its signature and the rights of its sender, if the
    certificate and the SID of the message are in UserCertCache.
    """

    def check_security(
        self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now
    ) -> UserMessagePacket | MessageClass:
        trusted = self._is_sender_cached(packet)
        outcome = super().check_security(session, packet, queue, now)
        return packet if trusted and isinstance(outcome, MessageClass) else outcome

    def _is_sender_cached(self, packet: UserMessagePacket) -> bool:
        security = packet.SecurityHeader
        if security is None or security.EB or not security.SecurityData.SenderCert:
            return False
        sender = (security.SecurityData.SenderCert, security.SecurityData.SecurityID)
        cache = self.qm.caches.UserCertCache
        return cache.find(lambda known: (known.UserCert.Certificate, known.SecurityID) == sender) is not None
