"""Faults of MS-MQDMPR 3.1.7.1.19 Delete Directory Object, by an author who had not seen the checks."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.parts import replace_part
from harness.faults.primitives import both
from harness.faults.registry import add
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.store.directory_link import DirectoryLink
from reference_qm.directory import Change
from reference_qm.directory.enums import DirectoryOperationResult as Result
from reference_qm.directory.interface import Delete
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import DirectoryAnswered


class FailedDeletionRecorded(DirectoryLink):
    """Record in ``deletion_failed`` that a deletion did not reach the directory."""

    deletion_failed = False

    def write(self, change: Change, answered: Callable[[DirectoryAnswered], None]) -> None:
        def note_answer(answer: DirectoryAnswered) -> None:
            if isinstance(change, Delete) and answer.status is Result.DIRECTORY_NOT_CONNECTED:
                self.deletion_failed = True
            answered(answer)

        super().write(change, note_answer)


class TimerNotStartedAfterFailedDeletion(DirectoryClient):
    """The queue manager does not start the Directory Online Timer when a deletion has failed since DirectoryOffline
    became True.
    """

    def watch(self, now: Now) -> None:
        if not self.qm.enterprise.state.DirectoryOffline:
            self.qm.directory_link.deletion_failed = False  # type: ignore[attr-defined]
        if not self.qm.directory_link.deletion_failed:  # type: ignore[attr-defined]
            super().watch(now)


add(
    "queue-manager-failed-deletion-online-timer-not-started",
    "MQDMPR-3.1.7.1.19-10",
    "The queue manager does not start the Directory Online Timer when a deletion does not reach the directory.",
    both(replace_part(FailedDeletionRecorded), replace_part(TimerNotStartedAfterFailedDeletion)),
    blind=True,
)
