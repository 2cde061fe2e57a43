"""Faults of round five that break rules of MS-MQDMPR 3.1.3 Initialization."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.enterprise.membership import Membership
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import DomainReported


@fault("queue-manager-changed-domain-at-later-start-ignored", breaks="MQDMPR-3.1.3-10", blind=True)
class QueueManagerChangedDomainAtLaterStartIgnored(Membership):
    """At a start in another domain, the queue manager uses the domain of its last start instead of the domain that the
    local security authority returns.
    """

    def on_domain_reported(self, event: DomainReported, now: Now) -> None:
        super().on_domain_reported(event, now)
        if self.qm.adm.LastDomain is not None and event.identifier is not None:
            self.qm.adm.MachineDomainId = self.qm.adm.LastDomain
