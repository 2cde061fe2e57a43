"""Faults of MS-MQQB 3.1.7.16 Send User Message Wrapper."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.dispatch_collection import DispatchCollection
from reference_qm.model.adm import OutgoingMessagePosition, Session


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
            session.OutgoingMessageTable.send_again(position)
