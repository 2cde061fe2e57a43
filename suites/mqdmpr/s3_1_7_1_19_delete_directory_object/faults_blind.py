"""Faults of MS-MQDMPR 3.1.7.1.19 Delete Directory Object, by an author who had not seen the checks."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.parts import fault
from reference_qm.core.events import DirectoryLost
from reference_qm.core.store.directory_link import DirectoryLink
from reference_qm.directory import Change
from reference_qm.directory.enums import DirectoryOperationResult as Result
from reference_qm.directory.interface import Delete
from reference_qm.directory.state import ChangeOperation
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.inputs import DirectoryAnswered

OnAnswered = Callable[[DirectoryAnswered], None]


@fault("queue-manager-delete-object-no-notification-of-failed-deletion", breaks="MQDMPR-3.1.7.1.19-03", blind=True)
class QueueManagerDeleteObjectNoNotificationOfFailedDeletion(DirectoryLink):
    """When the directory does not carry out a deletion, the queue manager raises no change notification."""

    def write(self, change: Change, answered: OnAnswered) -> None:
        def forget_failure(answer: DirectoryAnswered) -> None:
            raised = self.qm.enterprise.state.notifications
            failed = isinstance(change, Delete) and answer.status is not Result.SUCCESS
            if failed and raised and raised[-1].iOperation is ChangeOperation.QUEUE_DELETION:
                raised.pop()
            answered(answer)

        super().write(change, forget_failure)


@fault("queue-manager-delete-object-running-online-timer-restarted", breaks="MQDMPR-3.1.7.1.19-10", blind=True)
class QueueManagerDeleteObjectRunningOnlineTimerRestarted(DirectoryLink):
    """When a deletion does not reach the directory, the queue manager restarts a Directory Online Timer that already
    runs.
    """

    def write(self, change: Change, answered: OnAnswered) -> None:
        def restart(answer: DirectoryAnswered) -> None:
            if isinstance(change, Delete) and answer.status is Result.DIRECTORY_NOT_CONNECTED:
                self.qm.timers.stop(TimerKey(TimerName.DIRECTORY_ONLINE, 0))
                self.qm.post(DirectoryLost())
            answered(answer)

        super().write(change, restart)
