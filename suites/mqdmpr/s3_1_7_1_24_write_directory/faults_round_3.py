"""Faults that break rules of MS-MQDMPR 3.1.7.1.24 Write Directory."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.parts import fault
from reference_qm.core.store.directory_link import DirectoryLink
from reference_qm.core.store.enterprise import OnAnswer
from reference_qm.directory import Change
from reference_qm.directory.enums import DirectoryOperationResult as Result
from reference_qm.directory.interface import Write
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import DirectoryAnswered


@fault("queue-manager-second-outage-at-write-not-noted", breaks="MQDMPR-3.1.7.1.24-05", blind=True)
class QueueManagerSecondOutageAtWriteNotNoted(DirectoryLink):
    """After the directory has been unavailable and available again, a write that cannot reach the directory leaves
    DirectoryOffline False.
    """

    def read(self, answered: OnAnswer) -> None:
        def note_end_of_outage(answer: DirectoryAnswered, now: Now) -> None:
            was_offline = self.qm.enterprise.state.DirectoryOffline
            answered(answer, now)
            if was_offline and not self.qm.enterprise.state.DirectoryOffline:
                self.__dict__["recovered"] = True

        super().read(note_end_of_outage)

    def write(self, change: Change, answered: Callable[[DirectoryAnswered], None]) -> None:
        def stay_online(answer: DirectoryAnswered) -> None:
            lost = answer.status is Result.DIRECTORY_NOT_CONNECTED
            if lost and isinstance(change, Write) and self.__dict__.get("recovered"):
                self.qm.enterprise.state.DirectoryOffline = False
            answered(answer)

        super().write(change, stay_online)
