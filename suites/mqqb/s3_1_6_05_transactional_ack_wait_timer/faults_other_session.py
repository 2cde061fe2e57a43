"""Faults of MS-MQQB 3.1.6.5 Transactional Ack Wait Timer Event that need two sessions."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.transfer.transactional_sending import TransactionalSending
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("sender-transactional-ack-wait-timer-resends-messages-of-first-session-only", breaks="MQQB-3.1.6.5-01")
class SenderTransactionalAckWaitTimerResendsMessagesOfFirstSessionOnly(TransactionalSending):
    """When the Transactional Ack Wait Timer of a session expires, the sender resends the messages of its first session
    only.
    """

    def on_ack_wait_timer(self, session: Session, now: Now) -> None:
        first = next(iter(self.qm.adm.OutgoingQueues.values())).session
        super().on_ack_wait_timer(first, now)
