"""Faults that break rules of MS-MQQB 3.1.3.2."""

from __future__ import annotations

from collections.abc import Mapping

from harness.faults.parts import fault
from reference_qm.core.enterprise.restoring import Restoring
from reference_qm.surface.entropy import new_guid


@fault("queue-manager-identifier-new-after-restart", breaks="MQQB-3.1.3.2-34", blind=True)
class QueueManagerIdentifierNewAfterRestart(Restoring):
    """The queue manager has a new random Identifier after each restart."""

    def restore(self, entries: Mapping[str, object]) -> None:
        super().restore(entries)
        if entries:
            self.qm.membership.take_identifier(new_guid(self.qm.entropy))
