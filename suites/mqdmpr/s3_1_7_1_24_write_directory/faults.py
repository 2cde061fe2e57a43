"""Faults of MS-MQDMPR 3.1.7.1.24 Write Directory."""

from __future__ import annotations

from harness.faults.directory_changes import answered_as, change_notification, left_out, status_for, stays_online
from harness.faults.parts import replace_part
from harness.faults.registry import Install, add
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.directory.enums import DirectoryOperationResult as Result
from reference_qm.directory.interface import Write
from reference_qm.directory.state import ChangeNotification, ChangeOperation
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import DirectoryAnswered

add(
    "changes-not-published",
    "MQDMPR-3.1.7.1.24-03",
    "Changes of a public queue are not written to the directory.",
    left_out(Write),
)
add(
    "written-without-the-directory",
    "MQDMPR-3.1.7.1.24-07",
    "A public queue is changed although the directory cannot be reached.",
    answered_as(Write, status_for(Result.DIRECTORY_NOT_CONNECTED, Result.SUCCESS)),
)
add(
    "write-taken-for-a-failure",
    "MQDMPR-3.1.7.1.24-09",
    "A write to the directory counts as failed although it was made.",
    answered_as(Write, status_for(Result.SUCCESS, Result.GENERIC_ERROR)),
)
add(
    "write-does-not-notice-the-outage",
    "MQDMPR-3.1.7.1.24-05",
    "A write that finds no directory leaves DirectoryOffline False.",
    stays_online(Write),
)
add(
    "update-not-notified",
    ("MQDMPR-3.1.7.1.24-11", "MQDMPR-3.1.7.1.24-12"),
    "There is no change notification of a update.",
    change_notification(ChangeOperation.QUEUE_UPDATE, None),
)
add(
    "update-notified-as-another",
    ("MQDMPR-3.1.7.1.24-11", "MQDMPR-3.1.7.1.24-12"),
    "The change notification of a update says something else.",
    change_notification(ChangeOperation.QUEUE_UPDATE, ChangeOperation.QUEUE_CREATION),
)


def _own_notified(instead: ChangeOperation | None) -> Install:
    """Make another notification when the queue manager itself was written, or none."""

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
    "own-update-not-notified",
    ("MQDMPR-3.1.7.1.24-15", "MQDMPR-3.1.7.1.24-16"),
    "There is no change notification when the queue manager itself is written.",
    _own_notified(None),
)
add(
    "own-update-notified-as-a-queue",
    "MQDMPR-3.1.7.1.24-16",
    "The change notification of the queue manager says that a queue was updated.",
    _own_notified(ChangeOperation.QUEUE_UPDATE),
)
