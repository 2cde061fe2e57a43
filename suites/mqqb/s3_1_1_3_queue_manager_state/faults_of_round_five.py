"""Faults of the fifth round that break rules of MS-MQQB 3.1.1.3 Queue Manager State."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import change_core_at_restart, combine_installers
from harness.faults.registry import add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.commands.settings_changing import SettingsChanging
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result


@fault("receiver-40-bit-rc2-key-in-cache-not-rejected", breaks="MQQB-3.1.1.3-19", blind=True)
class Receiver40BitRc2KeyInCacheNotRejected(SecurityOnReceipt):
    """The receiver rejects the first message with a 40-bit RC2 key, but accepts later messages with this key, because
    it does not check keys that are in ReceiveSymmetricKeyCache.
    """

    def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
        security, caches = packet.SecurityHeader, self.qm.caches
        known = caches.get_receiving_cache(packet.MessagePropertiesHeader.PrivacyLevel).entries
        if security is None or all(key.EncryptedSymmetricKey != security.SecurityData.EncryptionKey for key in known):
            return super().decrypt_body(packet, now)
        settings = caches.settings
        caches.settings = replace(settings, RejectEnhancedRC2Using40BitKeys=False)
        try:
            return super().decrypt_body(packet, now)
        finally:
            caches.settings = settings


class _SavedSendInsecureNacks(SettingsChanging):
    """The queue manager saves SendInsecureNacks only when it becomes TRUE."""

    def configure(self, request: commands.Configure, token: int, now: Now) -> Result:
        result = super().configure(request, token, now)
        if request.send_insecure_nacks:
            self.qm.config = replace(self.qm.config, send_insecure_nacks=True)
        return result


def _restore_saved_value(qm: QueueManager) -> None:
    if qm.config.send_insecure_nacks:
        qm.adm.SendInsecureNacks = True


add(
    "receiver-send-insecure-nacks-false-after-true-lost-at-restart",
    "MQQB-3.1.1.3-27",
    "The receiver saves SendInsecureNacks only when it becomes TRUE. If SendInsecureNacks was set to TRUE and then to "
    "FALSE, its value is TRUE after a restart.",
    combine_installers(replace_part(_SavedSendInsecureNacks), change_core_at_restart(_restore_saved_value)),
    blind=True,
)
