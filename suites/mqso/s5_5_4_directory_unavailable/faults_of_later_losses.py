"""Faults in the start without the directory, and in a later loss of the directory."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.directory.enums import DirectoryOperationResult
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import DirectoryAnswered, DirectoryChanged


@fault("queue-manager-directory-integrated-becomes-true-at-directory-return", breaks="MQSO-5.5.4-02", blind=True)
class QueueManagerDirectoryIntegratedBecomesTrueAtDirectoryReturn(DirectoryClient):
    """A queue manager that started without the directory sets DirectoryIntegrated to TRUE when the directory reports a
    change, without a restart.
    """

    def on_directory_changed(self, event: DirectoryChanged, now: Now) -> None:
        if self.qm.config.directory_integrated:
            self.qm.enterprise.state.DirectoryIntegrated = True
        super().on_directory_changed(event, now)


@fault(
    "queue-manager-directory-integrated-stays-true-without-directory",
    breaks=("MQSO-5.5.4-01", "MQSO-5.5.4-02"),
    blind=True,
)
class QueueManagerDirectoryIntegratedStaysTrueWithoutDirectory(DirectoryClient):
    """A queue manager that was in the domain at its last start, and starts without the directory, leaves
    DirectoryIntegrated TRUE.
    """

    def _on_first_read(self, answer: DirectoryAnswered, now: Now) -> None:
        super()._on_first_read(answer, now)
        lost = answer.status is DirectoryOperationResult.DIRECTORY_NOT_CONNECTED
        if lost and self.qm.adm.MachineDomainId is not None and self.qm.adm.MachineDomainId == self.qm.adm.LastDomain:
            self.qm.enterprise.state.DirectoryIntegrated = True
            self.qm.enterprise.state.go_offline()


@fault("queue-manager-second-return-of-directory-ignored", breaks="MQSO-5.5.4-01", blind=True)
class QueueManagerSecondReturnOfDirectoryIgnored(DirectoryClient):
    """A queue manager notices only the first return of the directory."""

    def _check_directory_online(self, answer: DirectoryAnswered, now: Now) -> None:
        if self.__dict__.get("has_returned"):
            return
        super()._check_directory_online(answer, now)
        self.__dict__["has_returned"] = not self.qm.enterprise.state.DirectoryOffline
