"""Faults of MS-MQDMPR 3.1.3 Initialization, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.enterprise.membership import Membership
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import DomainReported


@fault("queue-manager-domain-read-at-first-start-only", breaks="MQDMPR-3.1.3-06", blind=True)
class QueueManagerDomainReadAtFirstStartOnly(Membership):
    """A queue manager that has saved a domain uses this domain at each later start, and does not query the local
    security authority.
    """

    def on_domain_reported(self, event: DomainReported, now: Now) -> None:
        if self.qm.adm.LastDomain is None:
            super().on_domain_reported(event, now)
        else:
            self.qm.adm.MachineDomainId = self.qm.adm.LastDomain
