"""Faults in which the Directory Online Timer stops after some expiries (MQDMPR-3.1.7.1.25-20)."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.directory.enums import DirectoryOperationResult
from reference_qm.surface.clock import Now


class OnlineTimerRestartOmitter(DirectoryClient):
    """A part of the queue manager that does not restart the Directory Online Timer after some expiries; a subclass
    selects which.
    """

    def is_last_timer_expiry(self) -> bool:
        raise NotImplementedError

    def on_directory_online_timer(self, now: Now) -> None:
        self.__dict__["stopping"] = self.is_last_timer_expiry()
        super().on_directory_online_timer(now)
        self.__dict__["stopping"] = False

    def start_online_timer_if_offline(self, now: Now) -> None:
        if not self.__dict__.get("stopping"):
            super().start_online_timer_if_offline(now)


@fault("queue-manager-online-timer-stops-after-third-expiry", breaks="MQDMPR-3.1.7.1.25-20", blind=True)
class QueueManagerOnlineTimerStopsAfterThirdExpiry(OnlineTimerRestartOmitter):
    """The queue manager does not restart the Directory Online Timer after its third expiry."""

    def is_last_timer_expiry(self) -> bool:
        self.__dict__["count"] = self.__dict__.get("count", 0) + 1
        return self.__dict__["count"] >= 3


@fault("queue-manager-online-timer-expires-once-in-second-outage", breaks="MQDMPR-3.1.7.1.25-20", blind=True)
class QueueManagerOnlineTimerExpiresOnceInSecondOutage(OnlineTimerRestartOmitter):
    """In the second outage, the queue manager does not restart the Directory Online Timer after an expiry."""

    def is_last_timer_expiry(self) -> bool:
        return self.__dict__.get("returns", 0) > 1

    def synchronize_with_directory(self, now: Now) -> DirectoryOperationResult:
        self.__dict__["returns"] = self.__dict__.get("returns", 0) + 1
        return super().synchronize_with_directory(now)
