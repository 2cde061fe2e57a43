"""Faults that break rules of MS-MQQB 3.1.7.12."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.sessions.connecting import outgoing_queue
from reference_qm.core.transfer.sending import Sending
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.model.states import OutgoingQueueState, SessionState
from reference_qm.surface.clock import Now


@fault("sender-transactional-message-sent-although-queue-on-hold", breaks="MQQB-3.1.7.12-04", blind=True)
class SenderTransactionalMessageSentAlthoughQueueOnHold(Sending):
    """The sender sends a transactional message that becomes available while its outgoing queue is OnHold and the
    session is open.
    """

    def put_outgoing(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        super().put_outgoing(session, position, now)
        if position.TxSequenceNumber and outgoing_queue(session).State is OutgoingQueueState.ON_HOLD:
            self.qm.dispatch_collection.add(session, position)
            self.dispatch_messages(session, now)

    def may_send(self, session: Session) -> bool:
        queue, position = session.OutgoingQueueReference, session.OutgoingMessageTable.next_unsent()
        held = queue is not None and queue.State is OutgoingQueueState.ON_HOLD
        if not held or position is None or not position.TxSequenceNumber:
            return super().may_send(session)
        return session.SessionState is SessionState.OPEN and self.is_window_open(session)


@fault("sender-recoverable-number-of-waiting-message-is-last-number-sent", breaks="MQQB-3.1.7.12-12", blind=True)
class SenderRecoverableNumberOfWaitingMessageIsLastNumberSent(Sending):
    """The sender sets RecoverableSequenceNumber of a message that cannot be sent at once on an open session to the
    number of the last recoverable message that was sent, and keeps this number when it sends the message.
    """

    def put_outgoing(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        if position.recoverable and session.SessionState is SessionState.OPEN and not self.may_send(session):
            position.RecoverableSequenceNumber = session.RecoverableMessageSentCount
        super().put_outgoing(session, position, now)

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        kept = 0 if position.SequenceNumber else position.RecoverableSequenceNumber
        packet = super().update_user_message(session, position, now)
        position.RecoverableSequenceNumber = kept or position.RecoverableSequenceNumber
        return packet
