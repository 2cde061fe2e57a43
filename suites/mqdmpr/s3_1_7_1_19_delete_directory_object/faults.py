"""Faults of MS-MQDMPR 3.1.7.1.19 Delete Directory Object."""

from __future__ import annotations

from harness.faults.directory_changes import answered_as, change_notification, left_out, status_for, stays_online
from harness.faults.parts import fault
from harness.faults.registry import add
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.directory.enums import DirectoryOperationResult as Result
from reference_qm.directory.interface import Delete
from reference_qm.directory.state import ChangeOperation
from reference_qm.surface.clock import Now

add(
    "public-queue-not-withdrawn",
    "MQDMPR-3.1.7.1.19-07",
    "The object of a public queue that is deleted stays.",
    left_out(Delete),
)
add(
    "deleted-without-the-directory",
    "MQDMPR-3.1.7.1.19-11",
    "A public queue is deleted although the directory cannot be reached.",
    answered_as(Delete, status_for(Result.DIRECTORY_NOT_CONNECTED, Result.OBJECT_NOT_FOUND)),
)
add(
    "deletion-taken-for-a-failure",
    "MQDMPR-3.1.7.1.19-13",
    "A deletion in the directory counts as failed although it was made.",
    answered_as(Delete, status_for(Result.SUCCESS, Result.GENERIC_ERROR)),
)
add(
    "deletion-does-not-notice-the-outage",
    "MQDMPR-3.1.7.1.19-09",
    "A deletion that finds no directory leaves DirectoryOffline False.",
    stays_online(Delete),
)
add(
    "deletion-not-notified",
    ("MQDMPR-3.1.7.1.19-03", "MQDMPR-3.1.7.1.19-04"),
    "There is no change notification of a deletion.",
    change_notification(ChangeOperation.QUEUE_DELETION, None),
)
add(
    "deletion-notified-as-another",
    ("MQDMPR-3.1.7.1.19-03", "MQDMPR-3.1.7.1.19-04"),
    "The change notification of a deletion says something else.",
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
class TimerNotStarted(DirectoryClient):
    """The Directory Online Timer is not started when the directory is away."""

    def watch(self, now: Now) -> None:
        """Let no timer run."""
