"""Faults of MS-MQQB 3.1.7.1 Send User Message Event that occur only with some values of a message."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.transfer.sending import Sending
from reference_qm.model.adm import MessagePosition, OutgoingQueue
from reference_qm.model.states import OutgoingQueueState
from reference_qm.surface.clock import Now


@fault("sender-message-with-response-queue-of-paused-queue-sent", breaks="MQQB-3.1.7.1-02")
class SenderMessageWithResponseQueueOfPausedQueueSent(Sending):
    """The sender sends a message of a paused outgoing queue if the message has a response queue."""

    def message_position_available(self, queue: OutgoingQueue, position: MessagePosition, now: Now) -> None:
        if queue.State is OutgoingQueueState.ON_HOLD and position.MessageReference.ResponseQueueFormatName:
            queue.State = OutgoingQueueState.CONNECTED
        super().message_position_available(queue, position, now)
