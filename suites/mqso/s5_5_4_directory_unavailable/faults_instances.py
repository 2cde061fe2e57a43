"""Faults that break rules of MS-MQSO 5.5.4 for repeated losses of the directory only."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import DirectoryAnswered


@fault("queue-manager-does-not-notice-second-return-of-directory", breaks="MQSO-5.5.4-01")
class QueueManagerDoesNotNoticeSecondReturnOfDirectory(DirectoryClient):
    """The queue manager stays offline when the directory returns a second time."""

    def _check_online(self, answer: DirectoryAnswered, now: Now) -> None:
        if self.__dict__.get("returned"):
            return
        super()._check_online(answer, now)
        if not self.qm.enterprise.state.DirectoryOffline:
            self.__dict__["returned"] = True


@fault("queue-manager-checks-lost-directory-only-once", breaks="MQSO-5.5.4-01")
class QueueManagerChecksLostDirectoryOnlyOnce(DirectoryClient):
    """After the loss of the directory, the queue manager checks only once whether the directory is available again."""

    def on_directory_online_timer(self, now: Now) -> None:
        self.qm.directory_link.read(self._check_online)

    def watch(self, now: Now) -> None:
        if not self.__dict__.get("watched"):
            super().watch(now)
        self.__dict__["watched"] = self.qm.enterprise.state.DirectoryOffline
