"""Faults that break MQQB-3.1.3.1-08: UserCertCache is not empty at some starts."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from harness.faults.registry import FaultyCore, Install, add
from harness.faults.timed_caches import Cache, replace_cache
from reference_qm.core.enterprise.initialization import Initialization
from reference_qm.security import UserSignCerts
from reference_qm.security.caches import CachedUserCert
from reference_qm.surface.clock import Now


def _keep_entries_across_restarts() -> Install:
    """Return an installer of a fault with which the entries of UserCertCache survive a restart."""

    def install_kept_cache(faulty: FaultyCore) -> None:
        kept: list[Any] = []

        class EntriesKept(Cache):
            def add(self, entry: Any) -> None:
                super().add(entry)
                kept.append(entry)

        replace_cache("UserCertCache", EntriesKept)(faulty)
        faulty.on_restart.append(lambda again: again.core.caches.UserCertCache.entries.extend(kept))

    return install_kept_cache


add(
    "receiver-user-cert-cache-kept-across-restart",
    "MQQB-3.1.3.1-08",
    "The receiver keeps the entries of UserCertCache across a restart.",
    _keep_entries_across_restarts(),
    blind=True,
)


@fault("receiver-user-cert-cache-filled-at-start", breaks="MQQB-3.1.3.1-08", blind=True)
class ReceiverUserCertCacheFilledAtStart(Initialization):
    """The receiver starts with the certificates of all known users in UserCertCache."""

    def initialize_globally(self, now: Now) -> None:
        super().initialize_globally(now)
        for account in self.qm.config.security.accounts:
            certificates = account.Certificates
            if isinstance(certificates, UserSignCerts):
                for one in certificates.Certificates:
                    sid = account.SecurityIdentifier.build()
                    self.qm.caches.UserCertCache.add(CachedUserCert(one, sid, now.utc_s))
