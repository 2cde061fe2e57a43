"""Faults in which a message that is added or sent affects other entries of the dispatch collection."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.sessions.dispatch_collection import DispatchCollection
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now


@fault("sender-urgent-message-removes-dispatch-entries-of-its-queue", breaks="MQDMPR-3.1.7.1.28-08", blind=True)
class SenderUrgentMessageRemovesDispatchEntriesOfItsQueue(DispatchCollection):
    """When the sender adds a message whose priority is higher than that of the next message to send, it removes the
    other entries of the queue from the dispatch collection.
    """

    def add(self, session: Session, position: OutgoingMessagePosition) -> None:
        following = session.OutgoingMessageTable.get_next_unsent()
        if following is not None and following.priority < position.priority:
            session.OutgoingMessageTable.withhold_all_positions()
        super().add(session, position)


@fault("sender-message-removes-dispatch-entries-of-other-queues", breaks="MQDMPR-3.1.7.1.28-08", blind=True)
class SenderMessageRemovesDispatchEntriesOfOtherQueues(DispatchCollection):
    """When the sender adds a message of one outgoing queue, it removes the entries of the other outgoing queues from
    the dispatch collection.
    """

    def add(self, session: Session, position: OutgoingMessagePosition) -> None:
        for queue in self.qm.adm.OutgoingQueues.values():
            if queue.session is not session:
                queue.session.OutgoingMessageTable.withhold_all_positions()
        super().add(session, position)


class MessageHolderUntilAcknowledgment(MessageSending):
    """A part of the queue manager that sends some messages only when no message of the session is unacknowledged; a
    subclass selects which.
    """

    def is_message_held_back(self, session: Session, following: OutgoingMessagePosition) -> bool:
        raise NotImplementedError

    def may_send(self, session: Session) -> bool:
        following = session.OutgoingMessageTable.get_next_unsent()
        if (
            following is not None
            and session.OutgoingMessageTable.awaiting_ack
            and self.is_message_held_back(session, following)
        ):
            return False
        return super().may_send(session)


@fault("sender-holds-express-message-until-acknowledgment-arrives", breaks="MQDMPR-3.1.7.1.28-09", blind=True)
class SenderHoldsExpressMessageUntilAcknowledgmentArrives(MessageHolderUntilAcknowledgment):
    """The sender does not start to send an express message that is added while a recoverable message awaits its
    acknowledgment.
    """

    def is_message_held_back(self, session: Session, following: OutgoingMessagePosition) -> bool:
        return not following.recoverable and any(one.recoverable for one in session.OutgoingMessageTable.awaiting_ack)


@fault(
    "sender-holds-message-until-transactional-one-is-acknowledged",
    breaks=("MQDMPR-3.1.7.1.28-09", "MQDMPR-3.1.7.1.29-04"),
    blind=True,
)
class SenderHoldsMessageUntilTransactionalOneIsAcknowledged(MessageHolderUntilAcknowledgment):
    """The sender does not send the next message while a transactional message awaits its acknowledgment."""

    def is_message_held_back(self, session: Session, following: OutgoingMessagePosition) -> bool:
        return any(one.UserMessage.TransactionHeader is not None for one in session.OutgoingMessageTable.awaiting_ack)


@fault("sender-holds-lower-priority-until-higher-is-acknowledged", breaks="MQDMPR-3.1.7.1.29-04", blind=True)
class SenderHoldsLowerPriorityUntilHigherIsAcknowledged(MessageHolderUntilAcknowledgment):
    """The sender does not send a message of a lower priority until the messages of a higher priority are
    acknowledged.
    """

    def is_message_held_back(self, session: Session, following: OutgoingMessagePosition) -> bool:
        return any(one.priority > following.priority for one in session.OutgoingMessageTable.awaiting_ack)


@fault("sender-unacknowledged-recoverable-message-sent-again", breaks="MQDMPR-3.1.7.1.29-03", blind=True)
class SenderUnacknowledgedRecoverableMessageSentAgain(MessageSending):
    """When a message is added, the sender sends the unacknowledged recoverable messages of the session once more."""

    def add_message_to_session_table(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        repeated = self.__dict__.setdefault("repeated", set())
        for one in session.OutgoingMessageTable.awaiting_ack:
            if one.recoverable and one not in repeated:
                repeated.add(one)
                self.transmit(session, one, one.UserMessage)
        super().add_message_to_session_table(session, position, now)
