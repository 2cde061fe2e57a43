"""Faults in which some messages of a paused queue stay in the dispatch collection (MQDMPR-3.1.7.1.34-03)."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.transfer.sending import Sending
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.model.states import OutgoingQueueState, SessionState
from reference_qm.surface.clock import Now


class SendingWhilePaused(Sending):
    """A part that sends some messages of a paused queue when an acknowledgment makes room for them."""

    def is_kept(self, position: OutgoingMessagePosition) -> bool:
        raise NotImplementedError

    def dispatch_messages(self, session: Session, now: Now) -> None:
        super().dispatch_messages(session, now)
        queue = session.OutgoingQueueReference
        if queue is None or queue.State is not OutgoingQueueState.ON_HOLD:
            return
        if session.SessionState is not SessionState.OPEN:
            return
        for position in [*session.OutgoingMessageTable]:
            unsent = not (position.AwaitingAck or position.ReceivedSessionAck or position.MessagePosition.awaits_disk)
            if unsent and self.is_kept(position) and self.is_window_open(session):
                self.send_user_message(session, position, now)


@fault("sender-urgent-messages-of-paused-queue-sent", breaks="MQDMPR-3.1.7.1.34-03", blind=True)
class SenderUrgentMessagesOfPausedQueueSent(SendingWhilePaused):
    """When a queue is paused, its messages of the highest priority stay in the dispatch collection."""

    def is_kept(self, position: OutgoingMessagePosition) -> bool:
        return position.priority >= 7


@fault("sender-express-messages-of-paused-queue-sent", breaks="MQDMPR-3.1.7.1.34-03", blind=True)
class SenderExpressMessagesOfPausedQueueSent(SendingWhilePaused):
    """When a queue is paused, its express messages stay in the dispatch collection."""

    def is_kept(self, position: OutgoingMessagePosition) -> bool:
        return not position.recoverable
