"""Faults of MS-MQDMPR 3.1.7.1.24 Write Directory."""

from __future__ import annotations

from harness.faults.directory_changes import (
    change_directory_answers,
    change_notification,
    omit_directory_changes,
    replace_status,
    stay_online_after,
)
from harness.faults.parts import replace_part
from harness.faults.registry import Install, add
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.directory.enums import DirectoryOperationResult as Result
from reference_qm.directory.interface import Write
from reference_qm.directory.state import ChangeNotification, ChangeOperation
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import DirectoryAnswered

add(
    "queue-change-not-written-to-directory",
    "MQDMPR-3.1.7.1.24-03",
    "The queue manager does not write changes of a public queue to the directory.",
    omit_directory_changes(Write),
)
add(
    "public-queue-changed-without-directory",
    "MQDMPR-3.1.7.1.24-07",
    "The queue manager changes a public queue although the directory cannot be reached.",
    change_directory_answers(Write, replace_status(Result.DIRECTORY_NOT_CONNECTED, Result.SUCCESS)),
)
add(
    "successful-directory-write-reported-as-failed",
    "MQDMPR-3.1.7.1.24-09",
    "The queue manager returns an error for a write that succeeded in the directory.",
    change_directory_answers(Write, replace_status(Result.SUCCESS, Result.GENERIC_ERROR)),
)
add(
    "failed-write-leaves-directory-offline-false",
    "MQDMPR-3.1.7.1.24-05",
    "When a write does not reach the directory, the queue manager leaves DirectoryOffline False.",
    stay_online_after(Write),
)
add(
    "queue-update-not-notified",
    "MQDMPR-3.1.7.1.24-11",
    "The queue manager raises no change notification when it writes a public queue.",
    change_notification(ChangeOperation.QUEUE_UPDATE, None),
)
add(
    "queue-update-notified-as-other-operation",
    "MQDMPR-3.1.7.1.24-12",
    "The queue manager raises the change notification about a changed queue with an operation other than QueueUpdate.",
    change_notification(ChangeOperation.QUEUE_UPDATE, ChangeOperation.QUEUE_CREATION),
)


def _change_own_notification(instead: ChangeOperation | None) -> Install:
    """Build a fault that changes or drops the change notification about the queue manager's own object."""

    class OwnNotified(DirectoryClient):
        def on_answered(self, event: DirectoryAnswered, now: Now) -> None:
            super().on_answered(event, now)
            made = self.qm.enterprise.state.notifications
            if made and made[-1].iOperation is ChangeOperation.QUEUE_MANAGER_UPDATE:
                last = made.pop()
                if instead is not None:
                    made.append(ChangeNotification(instead, last.iDirectoryObject))

    return replace_part(OwnNotified)


add(
    "change-of-own-object-not-notified",
    "MQDMPR-3.1.7.1.24-15",
    "The queue manager raises no change notification when it writes its own object.",
    _change_own_notification(None),
)
add(
    "change-of-own-object-notified-as-queue-change",
    "MQDMPR-3.1.7.1.24-16",
    "The queue manager raises the change notification about its own changed object with the operation QueueUpdate.",
    _change_own_notification(ChangeOperation.QUEUE_UPDATE),
)
