"""Faults of MS-MQDMPR 3.1.7.1.24 Write Directory."""

from __future__ import annotations

from harness.faults.directory_changes import answered_as, left_out, notified, status_for, stays_online
from harness.faults.registry import add
from reference_qm.directory.enums import DirectoryOperationResult as Result
from reference_qm.directory.interface import Write
from reference_qm.directory.state import ChangeOperation

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
    notified(ChangeOperation.QUEUE_UPDATE, None),
)
add(
    "update-notified-as-another",
    ("MQDMPR-3.1.7.1.24-11", "MQDMPR-3.1.7.1.24-12"),
    "The change notification of a update says something else.",
    notified(ChangeOperation.QUEUE_UPDATE, ChangeOperation.QUEUE_CREATION),
)

BROKEN_ELSEWHERE = {
    "MQDMPR-3.1.7.1.24-06": ("directory-online-timer-not-started",),
}
"""Faults of other sections that break rules of this one."""
