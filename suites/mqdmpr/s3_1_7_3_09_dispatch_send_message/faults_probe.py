"""Faults of MS-MQDMPR 3.1.7.3.9 Dispatch Send Message, by an author who had not seen the checks."""

from __future__ import annotations

import heapq

from harness.faults.parts import fault
from reference_qm.core.sessions.dispatch_collection import DispatchCollection
from reference_qm.model.adm import OutgoingMessagePosition, Session


@fault("sender-lowest-priority-first", breaks="MQDMPR-3.1.7.3.9-04", blind=True)
class SenderLowestPriorityFirst(DispatchCollection):
    """The sender first sends the waiting message with the lowest Priority."""

    def add(self, session: Session, position: OutgoingMessagePosition) -> None:
        super().add(session, position)
        waiting = session.OutgoingMessageTable._unsent
        waiting.remove((-position.priority, position.order))
        waiting.append((position.priority, position.order))
        heapq.heapify(waiting)
