"""Faults that break rules of MS-MQDMPR 3.1.3 Initialization, written without knowledge of the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.enterprise.domain_membership import DomainMembership
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import DomainReported


@fault(
    "queue-manager-machine-domain-id-kept-from-earlier-start",
    breaks=("MQDMPR-3.1.3-10", "MQDMPR-3.1.3-D02"),
    blind=True,
)
class QueueManagerMachineDomainIdKeptFromEarlierStart(DomainMembership):
    """The queue manager sets MachineDomainId at a later start to the domain that it saved, and not to the domain
    that the local security authority reports.
    """

    def on_domain_reported(self, event: DomainReported, now: Now) -> None:
        super().on_domain_reported(event, now)
        if self.qm.adm.LastDomain is not None:
            self.qm.adm.MachineDomainId = self.qm.adm.LastDomain


@fault("queue-manager-qualified-computer-name-without-domain-after-first-start", breaks="MQDMPR-3.1.3-D03", blind=True)
class QueueManagerQualifiedComputerNameWithoutDomainAfterFirstStart(DirectoryClient):
    """The queue manager sets QualifiedComputerName to the computer's name without the domain whenever it
    synchronizes with the directory again.
    """

    def _copy_attributes_of_own_object(self) -> None:
        again = self.qm.adm.LastDomain is not None
        super()._copy_attributes_of_own_object()
        if again:
            self.qm.adm.QualifiedComputerName = self.qm.adm.ComputerName
