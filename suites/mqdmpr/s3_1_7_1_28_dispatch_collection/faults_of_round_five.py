"""Faults of round five that break rules of MS-MQDMPR 3.1.7.1.28 Add Message To Dispatch Collection."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.sessions.dispatch_collection import DispatchCollection
from reference_qm.model.adm import OutgoingMessagePosition, Session


@fault("sender-dispatch-entry-data-of-waiting-message", breaks="MQDMPR-3.1.7.1.28-05", blind=True)
class SenderDispatchEntryDataOfWaitingMessage(DispatchCollection):
    """The DispatchEntry of a message that is added while a message with a different priority waits contains the data of
    the waiting message, so that the sender sends the waiting message twice.
    """

    def add(self, session: Session, position: OutgoingMessagePosition) -> None:
        waiting = session.OutgoingMessageTable.get_next_unsent()
        if waiting is not None and waiting is not position and waiting.priority != position.priority:
            position.UserMessage = waiting.UserMessage
        super().add(session, position)
