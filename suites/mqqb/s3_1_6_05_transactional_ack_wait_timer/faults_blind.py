"""Faults of MS-MQQB 3.1.6.5, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.events import SessionMaySend
from reference_qm.core.transfer.transactional_sending import TransactionalSending, leave_window, outgoing_sequence
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("sender-message-without-session-ack-not-sent-again", breaks="MQQB-3.1.6.5-01", blind=True)
class SenderMessageWithoutSessionAckNotSentAgain(TransactionalSending):
    """When the Transactional Ack Wait Timer expires, the sender resends only the messages that a session acknowledgment
    has acknowledged.
    """

    def on_ack_wait_timer(self, session: Session, now: Now) -> None:
        self.lengthen_resend_interval(session)
        if outgoing_sequence(session).UnackedSequence:
            self.start_ack_wait_timer(session, now)
        for position in session.OutgoingMessageTable:
            if position.TxSequenceNumber and position.ReceivedSessionAck and not position.ReceivedOrderAck:
                leave_window(session, position)
                session.OutgoingMessageTable.send_again(position)
                self.qm.dispatch_collection.add(session, position)
        self.qm.post(SessionMaySend(session))
