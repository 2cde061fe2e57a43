"""Faults that break MQQB-3.1.3.1-08: UserCertCache is not empty at some starts."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.enterprise.queue_manager_initialization import QueueManagerInitialization
from reference_qm.security import UserSignCerts
from reference_qm.security.caches import CachedUserCert
from reference_qm.surface.clock import Now


@fault("receiver-user-cert-cache-filled-at-start", breaks="MQQB-3.1.3.1-08", blind=True)
class ReceiverUserCertCacheFilledAtStart(QueueManagerInitialization):
    """The receiver starts with the certificates of all known users in UserCertCache."""

    def initialize_globally(self, now: Now) -> None:
        super().initialize_globally(now)
        for account in self.qm.config.security.accounts:
            certificates = account.Certificates
            if isinstance(certificates, UserSignCerts):
                for one in certificates.Certificates:
                    sid = account.SecurityIdentifier.build()
                    self.qm.caches.UserCertCache.add(CachedUserCert(one, sid, now.utc_s))
