"""Faults that break rules of MS-MQQB 3.1.6.5 Transactional Ack Wait Timer for a later message or expiry."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.transfer.transactional_sending import TransactionalSending
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("sender-transactional-messages-resent-once", breaks="MQQB-3.1.6.5-02", blind=True)
class SenderTransactionalMessagesResentOnce(TransactionalSending):
    """When the Transactional Ack Wait Timer expires a second time, the sender resends nothing."""

    def on_ack_wait_timer(self, session: Session, now: Now) -> None:
        expired = self.__dict__.setdefault("expired", set())
        if session.number not in expired:
            expired.add(session.number)
            super().on_ack_wait_timer(session, now)


@fault("sender-resent-transactional-message-not-counted", breaks="MQQB-3.1.6.5-02", blind=True)
class SenderResentTransactionalMessageNotCounted(TransactionalSending):
    """The sender resends a message that a SessionAck has acknowledged, but does not count it as unacknowledged."""

    def on_ack_wait_timer(self, session: Session, now: Now) -> None:
        acknowledged = sum(
            bool(one.TxSequenceNumber) and one.ReceivedSessionAck and not one.ReceivedOrderAck
            for one in session.OutgoingMessageTable
        )
        super().on_ack_wait_timer(session, now)
        session.UnAckedMessageCount -= acknowledged
