"""Faults in the comparison of a queue manager with its directory object: MQSO-5.5.6-01."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.directory.enums import DirectoryOperationResult
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import DirectoryAnswered


@fault("queue-manager-identifier-not-compared-when-directory-returns", breaks="MQSO-5.5.6-01")
class QueueManagerIdentifierNotComparedWhenDirectoryReturns(DirectoryClient):
    """When the directory is available again, the queue manager does not compare its Identifier with the object."""

    def _check_directory_online(self, answer: DirectoryAnswered, now: Now) -> None:
        super()._check_directory_online(answer, now)
        if answer.status is DirectoryOperationResult.SUCCESS:
            self.qm.enterprise.state.DirectoryOffline = False
