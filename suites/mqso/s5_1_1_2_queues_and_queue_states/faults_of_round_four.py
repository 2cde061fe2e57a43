"""Faults that break rules of MS-MQSO 5.1.1.2 for a queue that was paused without messages."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.transfer.transfer_administering import TransferAdministering
from reference_qm.model.adm import OutgoingQueue
from reference_qm.model.states import OutgoingQueueState, SessionState
from reference_qm.surface.clock import Now


@fault("sender-queue-paused-while-empty-not-connected-after-resume", breaks="MQSO-5.1.1.2-D10", blind=True)
class SenderQueuePausedWhileEmptyNotConnectedAfterResume(TransferAdministering):
    """The sender does not connect a resumed outgoing queue, and does not send the messages that entered the queue
    during the pause, if the queue was paused without messages and without a session.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.paused_while_empty: set[OutgoingQueue] = set()

    def pause_queue(self, queue: OutgoingQueue, now: Now) -> None:
        if not len(queue.session.OutgoingMessageTable) and queue.session.SessionState is SessionState.CLOSED:
            self.paused_while_empty.add(queue)
        super().pause_queue(queue, now)

    def resume_queue(self, queue: OutgoingQueue, now: Now) -> None:
        if queue in self.paused_while_empty and queue.session.SessionState is SessionState.CLOSED:
            self.paused_while_empty.discard(queue)
            queue.State = OutgoingQueueState.INACTIVE
        else:
            self.paused_while_empty.discard(queue)
            super().resume_queue(queue, now)
