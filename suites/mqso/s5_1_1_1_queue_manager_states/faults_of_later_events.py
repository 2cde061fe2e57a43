"""Faults in the states of a queue manager after a restart, in a stopped state, and at later events."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.parts import fault
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.queueing.queue_quotas import QueueQuotas
from reference_qm.core.store.directory_link import DirectoryLink
from reference_qm.directory import Change
from reference_qm.directory.enums import DirectoryOperationResult
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import (
    DirectoryAnswered,
    ResourcesChanged,
)


@fault("queue-manager-second-flow-control-not-begun", breaks="MQSO-5.1.1.1-D04", blind=True)
class QueueManagerSecondFlowControlNotBegun(QueueQuotas):
    """A queue manager begins flow control only the first time that its resources run short."""

    def on_resources_changed(self, event: ResourcesChanged, now: Now) -> None:
        shortages: int = self.__dict__.setdefault("shortages", 0)
        self.__dict__["shortages"] = shortages + event.low
        if not (event.low and shortages):
            super().on_resources_changed(event, now)


@fault("queue-manager-directory-offline-stays-false-after-failed-write", breaks="MQSO-5.1.1.1-D06", blind=True)
class QueueManagerDirectoryOfflineStaysFalseAfterFailedWrite(DirectoryLink):
    """A queue manager does not set DirectoryOffline to TRUE when a write to the directory fails."""

    def write(self, change: Change, answered: Callable[[DirectoryAnswered], None]) -> None:
        state = self.qm.enterprise.state
        before = state.DirectoryOffline

        def answer_and_restore_directory_offline(answer: DirectoryAnswered) -> None:
            state.DirectoryOffline = before
            answered(answer)

        super().write(change, answer_and_restore_directory_offline)


@fault("queue-manager-directory-offline-stays-false-at-second-loss", breaks="MQSO-5.1.1.1-D06", blind=True)
class QueueManagerDirectoryOfflineStaysFalseAtSecondLoss(DirectoryClient):
    """A queue manager does not set DirectoryOffline to TRUE when it cannot reach the directory for the second time."""

    def on_directory_answered(self, event: DirectoryAnswered, now: Now) -> None:
        super().on_directory_answered(event, now)
        if event.status is DirectoryOperationResult.DIRECTORY_NOT_CONNECTED:
            if self.__dict__.get("returned"):
                self.qm.enterprise.state.DirectoryOffline = False
        elif self.__dict__.setdefault("reached", False) and self.__dict__.get("lost"):
            self.__dict__["returned"] = True
        self.__dict__["reached"] = True
        if event.status is DirectoryOperationResult.DIRECTORY_NOT_CONNECTED:
            self.__dict__["lost"] = True


@fault("queue-manager-later-messages-lost-when-directory-returns", breaks="MQSO-5.1.1.1-D07", blind=True)
class QueueManagerLaterMessagesLostWhenDirectoryReturns(DirectoryClient):
    """When the directory returns, a queue manager keeps only the first message of each outgoing queue."""

    def on_directory_online_timer(self, now: Now) -> None:
        for queue in self.qm.adm.OutgoingQueues.values():
            for position in list(queue.session.OutgoingMessageTable)[1:]:
                self.qm.message_sending.remove_unsent_message(queue.session, position)
        super().on_directory_online_timer(now)
