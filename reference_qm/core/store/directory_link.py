from __future__ import annotations

from collections.abc import Callable

from reference_qm.core.part import QueueManagerPart
from reference_qm.core.store.enterprise import DirectoryAnswerHandler
from reference_qm.directory import Change, events
from reference_qm.directory.enums import DirectoryOperationResult as Result
from reference_qm.surface.clock import Now
from reference_qm.surface.effects import ReadDirectory, WriteDirectory
from reference_qm.surface.inputs import DirectoryAnswered


class DirectoryLink(QueueManagerPart):
    """Reads and changes the directory. The caller passes a function, which is called with the answer of the directory.

    Spec: MS-MQDMPR 3.1.7.1.18 to 3.1.7.1.25, MS-MQSO 5.5.4.
    """

    __slots__ = ()

    def read(self, answered: DirectoryAnswerHandler) -> None:
        """Read the whole directory."""
        self.qm.emit_effect(ReadDirectory(self._await_directory_answer(answered)))

    def write(self, change: Change, answered: Callable[[DirectoryAnswered], None]) -> None:
        """Change the directory. In workgroup mode there is no directory, so the caller gets the status of an
        unavailable directory.

        Spec: MS-MQSO 5.5.4.
        """

        def report_answer(answer: DirectoryAnswered, now: Now) -> None:
            events.process_directory_change_result(self.qm.enterprise.state, change, answer.status)
            answered(answer)

        if self.qm.enterprise.state.DirectoryIntegrated:
            self.qm.emit_effect(WriteDirectory(self._await_directory_answer(report_answer), change))
        else:
            answered(DirectoryAnswered(0, Result.DIRECTORY_NOT_CONNECTED))

    def _await_directory_answer(self, answered: DirectoryAnswerHandler) -> int:
        token = self.qm.assign_directory_token()
        self.qm.enterprise.awaited[token] = answered
        return token
