"""Faults of MS-MQSO 5.1.1.3, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.positions import Positions
from reference_qm.directory.enums import QueueType
from reference_qm.model.adm import MessagePosition, Queue


@fault("express-message-of-subqueue-survives-restart", breaks="MQSO-5.1.1.3-D01", blind=True)
class ExpressMessageOfSubqueueSurvivesRestart(Positions):
    """An express message that was moved to a subqueue survives a restart."""

    def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
        if not position.key and queue.parent is not None and queue.QueueType is not QueueType.SYSTEM:
            position.key = self.qm.next_persist_token()
        return super().move_message(position, queue)
