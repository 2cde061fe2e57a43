"""Faults that break rules of MS-MQQB 3.1.7.16 Send User Message Wrapper."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.dispatch_collection import DispatchCollection
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.core.transfer.transactional_sending import stop_counting_as_unacknowledged
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now


@fault("sender-message-sent-twice-on-session", breaks="MQQB-3.1.7.16-06")
class SenderMessageSentTwiceOnSession(DispatchCollection):
    """The sender removes a sent message from the dispatch collection only at the second attempt, and so sends the
    message twice.
    """

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self.sent: set[int] = set()

    def remove(self, session: Session, position: OutgoingMessagePosition) -> None:
        if position.order in self.sent:
            super().remove(session, position)
        else:
            self.sent.add(position.order)
            session.OutgoingMessageTable.mark_for_resending(position)


@fault("sender-transactional-message-sent-again-with-next-message", breaks="MQQB-3.1.7.16-06", blind=True)
class SenderTransactionalMessageSentAgainWithNextMessage(MessageSending):
    """The sender dispatches an unacknowledged transactional message again when it sends the next message."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.repeated: list[OutgoingMessagePosition] = []

    def send_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> bool:
        proceed = super().send_user_message(session, position, now)
        for other in session.OutgoingMessageTable:
            if other is not position and other.TxSequenceNumber and other.AwaitingAck and other not in self.repeated:
                self.repeated.append(other)
                stop_counting_as_unacknowledged(session, other)
                session.OutgoingMessageTable.mark_for_resending(other)
                self.qm.dispatch_collection.add(session, other)
        return proceed
