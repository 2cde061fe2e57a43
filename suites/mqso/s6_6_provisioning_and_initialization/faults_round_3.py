"""Faults that break rules of MS-MQSO 6.6 Provisioning and Initialization Procedures."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.core.enterprise.initialization import Initialization
from reference_qm.surface.clock import Now


@fault("queue-manager-without-directory-provisioned-as-routing-server", breaks="MQSO-6.6-06", blind=True)
class QueueManagerWithoutDirectoryProvisionedAsRoutingServer(Initialization):
    """A queue manager that is provisioned without a directory has RoutingServer TRUE."""

    def begin(self, now: Now) -> None:
        state = self.qm.enterprise.state
        if not state.DirectoryIntegrated:
            state.LocalQueueManager = replace(state.LocalQueueManager, RoutingServer=True)
        super().begin(now)
