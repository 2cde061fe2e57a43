"""Faults of MS-MQDMPR 3.1.7.1.3 Create Queue, by an author who had not seen the checks."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.core.queueing.queues import Queues
from reference_qm.security.descriptor import SecurityDescriptor
from reference_qm.security.sid import Sid


@fault("queue-manager-supplied-dacl-last-entry-lost", breaks="MQDMPR-3.1.7.1.3.1-08", blind=True)
class QueueManagerSuppliedDaclLastEntryLost(Queues):
    """The queue manager copies a supplied Dacl of several entries without its last entry."""

    def create_security(self, supplied: SecurityDescriptor | None, user: Sid) -> SecurityDescriptor:
        final = super().create_security(supplied, user)
        if supplied is None or supplied.Dacl is None or final.Dacl is None or len(supplied.Dacl.Aces) < 2:
            return final
        return replace(final, Dacl=replace(final.Dacl, Aces=final.Dacl.Aces[:-1]))
