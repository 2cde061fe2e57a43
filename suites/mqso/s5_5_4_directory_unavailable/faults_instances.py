"""Faults that break rules of MS-MQSO 5.5.4 for repeated losses of the directory only."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.surface.clock import Now


@fault("queue-manager-checks-lost-directory-only-once", breaks="MQSO-5.5.4-01")
class QueueManagerChecksLostDirectoryOnlyOnce(DirectoryClient):
    """After the loss of the directory, the queue manager checks only once whether the directory is available again."""

    def on_directory_online_timer(self, now: Now) -> None:
        self.qm.directory_link.read(self._check_online)

    def watch(self, now: Now) -> None:
        if not self.__dict__.get("watched"):
            super().watch(now)
        self.__dict__["watched"] = self.qm.enterprise.state.DirectoryOffline
