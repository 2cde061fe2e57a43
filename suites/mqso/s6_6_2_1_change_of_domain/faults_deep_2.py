"""Faults of MS-MQSO 6.6.2.1 and 6.6.2.2: changes of the directory after a queue manager has left its domain."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import DirectoryChanged


@fault("left-domain-directory-mode-after-first-message", breaks="MQSO-6.6.2.2-01")
class LeftDomainDirectoryModeAfterFirstMessage(DirectoryClient):
    """A queue manager that left its domain reads the directory when another program changes the directory."""

    def on_changed(self, event: DirectoryChanged, now: Now) -> None:
        self.qm.enterprise.state.DirectoryIntegrated = True
        super().on_changed(event, now)
