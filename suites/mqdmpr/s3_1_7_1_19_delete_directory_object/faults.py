"""Faults of MS-MQDMPR 3.1.7.1.19 Delete Directory Object."""

from __future__ import annotations

from harness.faults.directory_changes import (
    change_directory_answers,
    change_notification,
    omit_directory_changes,
    replace_status,
    stay_online_after,
)
from harness.faults.parts import fault
from harness.faults.registry import add
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.directory.enums import DirectoryOperationResult as Result
from reference_qm.directory.interface import Delete
from reference_qm.directory.state import ChangeOperation
from reference_qm.surface.clock import Now

add(
    "deleted-queue-directory-object-stays",
    "MQDMPR-3.1.7.1.19-07",
    "When a public queue is deleted, the queue manager leaves the queue's directory object.",
    omit_directory_changes(Delete),
)
add(
    "public-queue-deleted-without-directory",
    "MQDMPR-3.1.7.1.19-11",
    "The queue manager deletes a public queue although the directory cannot be reached.",
    change_directory_answers(Delete, replace_status(Result.DIRECTORY_NOT_CONNECTED, Result.OBJECT_NOT_FOUND)),
)
add(
    "successful-directory-deletion-reported-as-failed",
    "MQDMPR-3.1.7.1.19-13",
    "The queue manager returns an error for a deletion that succeeded in the directory.",
    change_directory_answers(Delete, replace_status(Result.SUCCESS, Result.GENERIC_ERROR)),
)
add(
    "failed-deletion-leaves-directory-offline-false",
    "MQDMPR-3.1.7.1.19-09",
    "When a deletion does not reach the directory, the queue manager leaves DirectoryOffline False.",
    stay_online_after(Delete),
)
add(
    "queue-deletion-not-notified",
    "MQDMPR-3.1.7.1.19-03",
    "The queue manager raises no change notification when it deletes a public queue.",
    change_notification(ChangeOperation.QUEUE_DELETION, None),
)
add(
    "queue-deletion-notified-as-other-operation",
    "MQDMPR-3.1.7.1.19-04",
    "The queue manager raises a change notification about a deleted queue with an operation other than QueueDeletion.",
    change_notification(ChangeOperation.QUEUE_DELETION, ChangeOperation.QUEUE_UPDATE),
)


@fault(
    "directory-online-timer-not-started",
    breaks=(
        "MQDMPR-3.1.7.1.18-D03",
        "MQDMPR-3.1.7.1.19-10",
        "MQDMPR-3.1.7.1.20-26",
        "MQDMPR-3.1.7.1.24-06",
        "MQDMPR-3.1.7.1.25-20",
    ),
)
class DirectoryOnlineTimerNotStarted(DirectoryClient):
    """The queue manager does not start the Directory Online Timer when it cannot reach the directory."""

    def watch(self, now: Now) -> None:
        """Do not start the timer."""
