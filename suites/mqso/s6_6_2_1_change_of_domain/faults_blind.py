"""Faults of MS-MQSO 6.6.2.2, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.directory.enums import DirectoryOperationResult as Result
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import DirectoryAnswered


@fault("queue-manager-that-left-domain-rejoins-at-second-start", breaks="MQSO-6.6.2.2-01", blind=True)
class QueueManagerThatLeftDomainRejoinsAtSecondStart(DirectoryClient):
    """A queue manager whose computer has left its domain is in workgroup mode only until its second start; then it is
    in directory mode again, and waits for the directory.
    """

    def _on_first_read(self, answer: DirectoryAnswered, now: Now) -> None:
        was_member = self.qm.adm.LastDomain is None and self.qm.enterprise.last_known is not None
        if answer.status is Result.DIRECTORY_NOT_CONNECTED and was_member:
            self.qm.enterprise.state.go_offline()
        else:
            super()._on_first_read(answer, now)
