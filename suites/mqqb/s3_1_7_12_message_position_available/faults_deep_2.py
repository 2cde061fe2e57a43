"""Faults of MS-MQQB 3.1.7.12 Message Position Available Event that occur only with another queue, a second message or a
full window.
"""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.transfer.sending import Sending
from reference_qm.model.adm import MessagePosition, OutgoingMessagePosition, OutgoingQueue, Session
from reference_qm.model.states import OutgoingQueueState, SessionState
from reference_qm.surface.clock import Now


class _ChangingNewEntries(Sending):
    """Change a new entry of OutgoingMessageTable."""

    def put_outgoing(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        self.change(session, position)
        super().put_outgoing(session, position, now)

    def change(self, session: Session, position: OutgoingMessagePosition) -> None:
        raise NotImplementedError


@fault("sender-message-to-held-queue-sent-with-message-to-other-queue", breaks="MQQB-3.1.7.12-04", blind=True)
class SenderMessageToHeldQueueSentWithMessageToOtherQueue(Sending):
    """When a message for another queue becomes available, the sender also sends the messages of its
    queues that are on hold.
    """

    def put_outgoing(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        super().put_outgoing(session, position, now)
        for queue in list(self.qm.adm.OutgoingQueues.values()):
            held = queue.session
            on_hold = held is not session and queue.State is OutgoingQueueState.ON_HOLD
            if on_hold and held.SessionState is SessionState.OPEN:
                queue.State = OutgoingQueueState.CONNECTED
                for waiting in held.OutgoingMessageTable:
                    self.qm.dispatch_collection.add(held, waiting)
                self.dispatch_messages(held, now)
                queue.State = OutgoingQueueState.ON_HOLD


@fault("sender-no-session-for-express-message-to-new-destination", breaks="MQQB-3.1.7.12-06", blind=True)
class SenderNoSessionForExpressMessageToNewDestination(Sending):
    """The initiator establishes no session for an express message to a destination."""

    def put_outgoing(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        if session.SessionState is SessionState.CLOSED and not position.recoverable:
            session.OutgoingMessageTable.add(position)
            self.qm.dispatch_collection.add(session, position)
            return
        super().put_outgoing(session, position, now)


@fault("sender-new-message-behind-full-window-order-acknowledged", breaks="MQQB-3.1.7.12-10", blind=True)
class SenderNewMessageBehindFullWindowOrderAcknowledged(Sending):
    """The sender sets ReceivedOrderAck to TRUE for a message that becomes available while the window is full."""

    def put_outgoing(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        if session.SessionState is SessionState.OPEN and not self.is_window_open(session):
            position.ReceivedOrderAck = True
        super().put_outgoing(session, position, now)


@fault("sender-new-message-numbered-when-available", breaks="MQQB-3.1.7.12-11", blind=True)
class SenderNewMessageNumberedWhenAvailable(_ChangingNewEntries):
    """The sender sets SequenceNumber of the second and later messages to the next number when the
    message becomes available.
    """

    def change(self, session: Session, position: OutgoingMessagePosition) -> None:
        if session.MessageSentCount:
            position.SequenceNumber = session.MessageSentCount + 1 & 0xFFFF


@fault("sender-new-recoverable-message-numbered-when-available", breaks="MQQB-3.1.7.12-12", blind=True)
class SenderNewRecoverableMessageNumberedWhenAvailable(_ChangingNewEntries):
    """The sender sets RecoverableSequenceNumber of a recoverable message that becomes available to the next number."""

    def change(self, session: Session, position: OutgoingMessagePosition) -> None:
        if position.recoverable and session.RecoverableMessageSentCount:
            position.RecoverableSequenceNumber = session.RecoverableMessageSentCount + 1 & 0xFFFF


@fault("sender-nontransactional-message-with-tx-number-of-preceding-message", breaks="MQQB-3.1.7.12-13", blind=True)
class SenderNontransactionalMessageWithTxNumberOfPrecedingMessage(_ChangingNewEntries):
    """The sender gives a message that follows a transactional message the TxSequenceNumber of the
    transactional message.
    """

    def change(self, session: Session, position: OutgoingMessagePosition) -> None:
        for last in list(session.OutgoingMessageTable)[-1:]:
            if not position.TxSequenceNumber and not position.recoverable:
                position.TxSequenceNumber = last.TxSequenceNumber


@fault("sender-two-messages-at-once-first-sent-twice", breaks="MQQB-3.1.7.12-15", blind=True)
class SenderTwoMessagesAtOnceFirstSentTwice(Sending):
    """The sender sends the waiting message again when a second message becomes available before the acknowledgment."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.again: set[int] = set()

    def put_outgoing(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        for sent in session.OutgoingMessageTable.awaiting_ack[:1]:
            number = sent.UserMessage.UserHeader.MessageID
            if not sent.TxSequenceNumber and number not in self.again:
                self.again.add(number)
                session.UnAckedMessageCount -= 1
                session.OutgoingMessageTable.send_again(sent)
                self.qm.dispatch_collection.add(session, sent)
        super().put_outgoing(session, position, now)


@fault("sender-new-entry-refers-to-waiting-message", breaks="MQQB-3.1.7.12-08", blind=True)
class SenderNewEntryRefersToWaitingMessage(Sending):
    """The sender makes a new entry refer to the message that has waited longest for the destination, if
    another message waits.
    """

    def message_position_available(self, queue: OutgoingQueue, position: MessagePosition, now: Now) -> None:
        waiting = [one.MessagePosition for one in queue.session.OutgoingMessageTable if not one.TxSequenceNumber]
        if waiting and position.MessageReference.TransactionIdentifier is None:
            position.MessageReference = waiting[0].MessageReference
        super().message_position_available(queue, position, now)


@fault("sender-no-entry-for-second-queue-of-host", breaks="MQQB-3.1.7.12-07", blind=True)
class SenderNoEntryForSecondQueueOfHost(Sending):
    """The sender creates no entry for a message to a second queue of a computer to which the sender is connected."""

    def put_outgoing(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        host = position.MessagePosition.MessageReference.DestinationQueueFormatName.partition("\\")[0]
        connected = any(
            queue.session is not session
            and queue.session.SessionState is SessionState.OPEN
            and queue.DestinationFormatName.partition("\\")[0] == host
            for queue in self.qm.adm.OutgoingQueues.values()
        )
        own = position.UserMessage.MessagePropertiesHeader.MessageClass
        if connected and not own and not position.TxSequenceNumber:
            return
        super().put_outgoing(session, position, now)
