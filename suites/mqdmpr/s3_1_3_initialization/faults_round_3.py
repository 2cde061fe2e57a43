"""Faults that break rules of MS-MQDMPR 3.1.3 Initialization."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.enterprise.membership import Membership
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import DomainReported


@fault("queue-manager-keeps-first-domain", breaks="MQDMPR-3.1.3-D02", blind=True)
class QueueManagerKeepsFirstDomain(Membership):
    """A queue manager that was in a domain before its start stores that domain instead of the reported domain."""

    def on_domain_reported(self, event: DomainReported, now: Now) -> None:
        super().on_domain_reported(event, now)
        if self.qm.adm.LastDomain is not None:
            self.qm.adm.MachineDomainId = self.qm.adm.LastDomain
