"""Faults of MS-MQQB 3.1.7.12 Message Position Available Event that depend on other sessions or messages."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.sessions.session_connecting import get_outgoing_queue
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import MessagePosition, OutgoingMessagePosition, OutgoingQueue, Session
from reference_qm.model.states import OutgoingQueueState, SessionState
from reference_qm.surface.clock import Now

SESSION_ESTABLISHING_STATES = (SessionState.WAITING_EC_MSG, SessionState.WAITING_ECR_MSG, SessionState.WAITING_CPR_MSG)


@fault("initiator-session-not-established-while-other-session-is-established", breaks="MQQB-3.1.7.12-06", blind=True)
class InitiatorSessionNotEstablishedWhileOtherSessionIsEstablished(MessageSending):
    """The initiator does not establish a session for the first message to a destination while it establishes a session
    to a different destination.
    """

    def add_message_to_session_table(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        queue = get_outgoing_queue(session)
        first = session.SessionState is SessionState.CLOSED and not queue.ConnectionHistory
        busy = any(
            other is not session and other.initiator and other.SessionState in SESSION_ESTABLISHING_STATES
            for other in self.qm.sessions.values()
        )
        if not (first and busy) or queue.State is OutgoingQueueState.ON_HOLD:
            super().add_message_to_session_table(session, position, now)
            return
        session.OutgoingMessageTable.add(position)
        self.qm.message_lifetimes.record_deadline_of_message_to_send(session, position)
        self.qm.dispatch_collection.add(session, position)


@fault("sender-nontransactional-message-has-tx-number-of-last-message", breaks="MQQB-3.1.7.12-13", blind=True)
class SenderNontransactionalMessageHasTxNumberOfLastMessage(MessageSending):
    """If a nontransactional message follows unacknowledged transactional messages in an outgoing queue, its entry in
    OutgoingMessageTable gets the TxSequenceNumber of the last of these messages.
    """

    def on_message_position_available(self, queue: OutgoingQueue, position: MessagePosition, now: Now) -> None:
        if position.MessageReference.TransactionIdentifier is not None:
            super().on_message_position_available(queue, position, now)
            return
        number = queue.session.OutgoingTxSequenceNumber - 1
        outgoing = OutgoingMessagePosition(position, self.construct_user_message(position), TxSequenceNumber=number)
        self.add_message_to_session_table(queue.session, outgoing, now)
