"""Faults that break rules of MS-MQDMPR 3.1.7.1.34 Remove Messages From Dispatch Collection By Queue."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.sessions.dispatch_collection import DispatchCollection
from reference_qm.model.adm import OutgoingQueue


@fault("sender-pause-stops-messages-of-all-outgoing-queues", breaks="MQDMPR-3.1.7.1.34-03")
class SenderPauseStopsMessagesOfAllOutgoingQueues(DispatchCollection):
    """When an outgoing queue is paused, the messages of all outgoing queues leave the dispatch collection."""

    def remove_queue(self, queue: OutgoingQueue) -> None:
        for one in self.qm.adm.OutgoingQueues.values():
            super().remove_queue(one)
