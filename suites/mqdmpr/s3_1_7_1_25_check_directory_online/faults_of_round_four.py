"""Faults that break rules of MS-MQDMPR 3.1.7.1.25 Check Directory Online, written without knowledge of the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.directory import QueueManager, build_equality_filter
from reference_qm.directory.events import read_directory
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import DirectoryAnswered


@fault("queue-manager-directory-check-seeks-own-object-by-computer-name", breaks="MQDMPR-3.1.7.1.25-06", blind=True)
class QueueManagerDirectoryCheckSeeksOwnObjectByComputerName(DirectoryClient):
    """The queue manager finds out whether the directory is available by reading an object with its own
    ComputerName, even if this object has a different Identifier.
    """

    def _check_directory_online(self, answer: DirectoryAnswered, now: Now) -> None:
        enterprise = self.qm.enterprise
        named = build_equality_filter("ComputerName", enterprise.state.LocalQueueManager.ComputerName)
        found = read_directory(enterprise.directory, enterprise.state, "QueueManager", named, force=True)
        if isinstance(found.rDirectoryObject, QueueManager):
            enterprise.state.DirectoryOffline = False
        super()._check_directory_online(answer, now)
