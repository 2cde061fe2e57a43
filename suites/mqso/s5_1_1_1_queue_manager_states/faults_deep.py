"""Faults of MS-MQSO 5.1.1.1 that only special cases show: a second occurrence."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.transfer.administering import Administering
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import DirectoryAnswered


@fault("queue-manager-second-offline-request-ignored", breaks="MQSO-5.1.1.1-D05")
class SecondRequestIgnored(Administering):
    """The queue manager stays online when it is taken offline a second time."""

    def take_offline(self, now: Now) -> None:
        self.count = getattr(self, "count", 0) + 1
        if self.count != 2:
            super().take_offline(now)


@fault("queue-manager-second-loss-of-directory-not-noticed", breaks=("MQSO-5.1.1.1-D06", "MQSO-5.5.4-05"))
class SecondLossNotNoticed(DirectoryClient):
    """DirectoryOffline is FALSE when the directory is unavailable a second time."""

    def on_answered(self, event: DirectoryAnswered, now: Now) -> None:
        state = self.qm.enterprise.state
        before = state.DirectoryOffline
        super().on_answered(event, now)
        returned = before and not state.DirectoryOffline
        self.returned = getattr(self, "returned", False) or returned
        if self.returned:
            state.DirectoryOffline = False
