"""Faults of MS-MQQB 3.1.3.2 Session Initialization that occur only with some values."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.transfer.sending import Sending
from reference_qm.model.adm import Session


@fault("sender-awaits-ack-before-journaled-message-of-priority-0", breaks="MQQB-3.1.3.2-23")
class SenderAwaitsAckBeforeJournaledMessageOfPriority0(Sending):
    """The sender waits for an acknowledgment before it sends a message with JP whose priority is 0."""

    def is_window_open(self, session: Session) -> bool:
        position = session.OutgoingMessageTable.next_unsent()
        alone = position is not None and position.UserMessage.UserHeader.JP and not position.UserMessage.BaseHeader.PR
        return super().is_window_open(session) and not (alone and session.UnAckedMessageCount)
