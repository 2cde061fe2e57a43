"""Fault of MS-MQQP 3.1.4.1 that only a receive with RR_NACK reveals."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.positions import Positions
from reference_qm.model.adm import MessagePosition
from reference_qm.model.states import MessagePositionState


@fault("server-message-given-back-lost-by-cursor", breaks=("MQQP-3.1.4.1-D04", "MQQP-3.1.4.10-D03"))
class ServerMessageGivenBackLostByCursor(Positions):
    """If the receive of a message ends with RR_NACK, cursors that had read the message can no longer read it."""

    def unlock_message(self, position: MessagePosition) -> None:
        super().unlock_message(position)
        queue = position.QueueReference
        if position.State is MessagePositionState.AVAILABLE:
            for descriptor in queue.OpenQueueDescriptorCollection.values():
                for handle, cursor in list(descriptor.CursorCollection.items()):
                    if cursor.MessagePositionReference is position:
                        del descriptor.CursorCollection[handle]
