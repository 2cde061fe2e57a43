"""Faults that break the rules MQDMPR-3.1.7.1.25-03 and MQDMPR-3.1.7.1.25-06."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import DirectoryAnswered


@fault(
    "queue-manager-online-check-in-second-outage-reads-only-local-model",
    breaks=("MQDMPR-3.1.7.1.25-03", "MQDMPR-3.1.7.1.25-06"),
    blind=True,
)
class QueueManagerOnlineCheckInSecondOutageReadsOnlyLocalModel(DirectoryClient):
    """In a second outage, the queue manager reads its own object from its model instead of the directory, and so stays
    offline.
    """

    def _check_directory_online(self, answer: DirectoryAnswered, now: Now) -> None:
        if not self.__dict__.get("recovered"):
            super()._check_directory_online(answer, now)
            self.__dict__["recovered"] = not self.qm.enterprise.state.DirectoryOffline


@fault("queue-manager-second-online-check-succeeds-during-outage", breaks="MQDMPR-3.1.7.1.25-03", blind=True)
class QueueManagerSecondOnlineCheckSucceedsDuringOutage(DirectoryClient):
    """At the second expiry of the Directory Online Timer in an outage, the queue manager sets DirectoryOffline to False
    without an answer of the directory.
    """

    def _check_directory_online(self, answer: DirectoryAnswered, now: Now) -> None:
        self.__dict__["checks"] = self.__dict__.get("checks", 0) + 1
        super()._check_directory_online(answer, now)
        if self.qm.enterprise.state.DirectoryOffline and self.__dict__["checks"] > 1:
            self.qm.enterprise.state.DirectoryOffline = False


@fault("queue-manager-only-first-online-check-reads-directory", breaks="MQDMPR-3.1.7.1.25-03", blind=True)
class QueueManagerOnlyFirstOnlineCheckReadsDirectory(DirectoryClient):
    """After a first failed check in an outage, the queue manager does not read the directory again."""

    def on_directory_online_timer(self, now: Now) -> None:
        if self.__dict__.get("failed"):
            self.start_online_timer_if_offline(now)
        else:
            self.__dict__["failed"] = True
            super().on_directory_online_timer(now)
