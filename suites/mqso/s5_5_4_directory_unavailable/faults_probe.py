"""Faults of MS-MQSO 5.5.4 that an author wrote without reading the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import DirectoryAnswered


@fault("queue-manager-directory-offline-not-reset", breaks="MQSO-5.5.4-08", blind=True)
class QueueManagerDirectoryOfflineNotReset(DirectoryClient):
    """The queue manager leaves DirectoryOffline at True when the directory is available again."""

    def _check_online(self, answer: DirectoryAnswered, now: Now) -> None:
        super()._check_online(answer, now)
        self.qm.enterprise.state.go_offline()
