"""Faults of MS-MQSO 6.6.2.1 and 6.6.2.2: changes of the domain."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.protocol.enterprise import DirectoryClient
from reference_qm.directory.interface import Delete
from reference_qm.surface.clock import Now
from reference_qm.surface.effects import WriteDirectory
from reference_qm.surface.inputs import DirectoryAnswered


@fault("so-object-deleted-when-leaving", breaks="MQSO-6.6.2.2-02")
class ObjectDeletedWhenLeaving(DirectoryClient):
    """A queue manager that finds itself outside of its domain deletes its object there."""

    def _on_first_read(self, answer: DirectoryAnswered, now: Now) -> None:
        super()._on_first_read(answer, now)
        state = self.qm.enterprise.state
        if not state.DirectoryIntegrated:
            self.qm.emit(WriteDirectory(self.qm.next_directory_token(), Delete(state.LocalQueueManager)))


BROKEN_ELSEWHERE = {
    "MQSO-6.6.2.2-01": ("so-integrated-without-directory",),
}
"""Faults of other sections that break rules of this one."""
