"""Faults that break rules of MS-MQQB 3.1.7.13 Pause Queue Event."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.transfer.administering import Administering
from reference_qm.model.adm import OutgoingQueue
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now


@fault("sender-session-active-after-pause-that-acknowledges-messages", breaks="MQQB-3.1.7.13-12", blind=True)
class SenderSessionActiveAfterPauseThatAcknowledgesMessages(Administering):
    """The queue manager leaves SessionActive at TRUE if the SessionAck of a pause acknowledges messages that it has
    received on the session.
    """

    def pause_queue(self, queue: OutgoingQueue, now: Now) -> None:
        session = queue.session
        acknowledges = session.SessionState is SessionState.OPEN and session.UnackedReceivedMsgCount > 0
        super().pause_queue(queue, now)
        if acknowledges:
            session.SessionActive = True
