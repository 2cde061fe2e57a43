"""Faults in the comparison of a queue manager with the directory object of its computer."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.directory.enums import DirectoryOperationResult
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import DirectoryAnswered


@fault("queue-manager-foreign-object-at-directory-online-timer-accepted", breaks="MQSO-5.5.6-01", blind=True)
class QueueManagerForeignObjectAtDirectoryOnlineTimerAccepted(DirectoryClient):
    """When the Directory Online Timer expires, a queue manager accepts an object of its computer with another
    Identifier.
    """

    def _check_online(self, answer: DirectoryAnswered, now: Now) -> None:
        super()._check_online(answer, now)
        if answer.status is DirectoryOperationResult.SUCCESS:
            self.qm.enterprise.state.DirectoryOffline = False


@fault("queue-manager-identifier-of-known-domain-not-compared", breaks="MQSO-5.5.6-02", blind=True)
class QueueManagerIdentifierOfKnownDomainNotCompared(DirectoryClient):
    """A queue manager that starts again in the same domain does not compare its Identifier with the directory
    object.
    """

    def _on_first_read(self, answer: DirectoryAnswered, now: Now) -> None:
        super()._on_first_read(answer, now)
        same = self.qm.adm.MachineDomainId is not None and self.qm.adm.MachineDomainId == self.qm.adm.LastDomain
        if answer.status is DirectoryOperationResult.SUCCESS and same:
            self.qm.enterprise.state.DirectoryOffline = False
