"""Faults that break rules of MS-MQSO 6.6.2.2 at a later start."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.directory.enums import DirectoryOperationResult
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import DirectoryAnswered


@fault("queue-manager-directory-integrated-at-second-start-outside-domain", breaks="MQSO-6.6.2.2-01", blind=True)
class QueueManagerDirectoryIntegratedAtSecondStartOutsideDomain(DirectoryClient):
    """The queue manager sets DirectoryIntegrated to FALSE at the first start after its computer has left the domain,
    but keeps TRUE at the second start.
    """

    def _on_first_read(self, answer: DirectoryAnswered, now: Now) -> None:
        has_left_before = (
            self.qm.adm.MachineDomainId is None
            and self.qm.adm.LastDomain is None
            and self.qm.enterprise.last_known is not None
        )
        super()._on_first_read(answer, now)
        if has_left_before and answer.status is DirectoryOperationResult.DIRECTORY_NOT_CONNECTED:
            self.qm.enterprise.state.DirectoryIntegrated = True
            self.qm.enterprise.state.go_offline()
