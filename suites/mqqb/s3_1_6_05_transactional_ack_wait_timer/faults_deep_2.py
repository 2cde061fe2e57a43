"""Faults of MS-MQQB 3.1.6.5 Transactional Ack Wait Timer Event that occur only in a second queue, session or expiry."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.transfer.transactional_sending import TransactionalSending
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("sender-resends-messages-of-first-queue-only", breaks="MQQB-3.1.6.5-01", blind=True)
class SenderResendsMessagesOfFirstQueueOnly(TransactionalSending):
    """The sender resends the transactional messages of only that outgoing queue whose timer expired first."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first: Session | None = None

    def on_ack_wait_timer(self, session: Session, now: Now) -> None:
        self.first = self.first or session
        if session is self.first:
            super().on_ack_wait_timer(session, now)
        else:
            self.start_ack_wait_timer(session, now)
