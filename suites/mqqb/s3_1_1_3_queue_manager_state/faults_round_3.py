"""Faults that break rules of MS-MQQB 3.1.1.3 Queue Manager State."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.enterprise.restoring import Restoring
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.surface.clock import Now


@fault("receiver-cached-user-cert-lifetime-extended-by-use", breaks="MQQB-3.1.1.3-05", blind=True)
class ReceiverCachedUserCertLifetimeExtendedByUse(SecurityOnReceipt):
    """The receiver begins UserCertLifetime of a CachedUserCert again whenever a signed message uses the entry."""

    def verify_sender(self, packet: UserMessagePacket, now: Now) -> None:
        super().verify_sender(packet, now)
        if packet.SecurityHeader is not None and packet.SecurityHeader.AS:
            data = packet.SecurityHeader.SecurityData
            entries = self.qm.caches.UserCertCache.entries
            for place, entry in enumerate(entries):
                if (entry.UserCert.Certificate, entry.SecurityID) == (data.SenderCert, data.SecurityID):
                    entries[place] = replace(entry, CachedTime=now.utc_s)


@fault("sender-resend-timeouts-medium-lost-with-unacked-sequence", breaks="MQQB-3.1.1.3-29", blind=True)
class SenderResendTimeoutsMediumLostWithUnackedSequence(Restoring):
    """The sender sets ResendTimeoutsMedium to ResendTimeoutsShort when it restarts with transactional messages in an
    outgoing queue.
    """

    def restore(self, entries: Mapping[str, object]) -> None:
        super().restore(entries)
        adm = self.qm.adm
        tables = [queue.session.OutgoingMessageTable for queue in adm.OutgoingQueues.values()]
        if any(position.TxSequenceNumber for table in tables for position in table):
            adm.ResendTimeoutsMedium = adm.ResendTimeoutsShort
