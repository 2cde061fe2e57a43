"""Faults that break the rules MQDMPR-3.1.7.1.28-03 to MQDMPR-3.1.7.1.29-04."""

from __future__ import annotations

import heapq
from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.primitives import omit_step, omit_step_during, set_fields
from harness.faults.registry import add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.sessions.dispatch_collection import DispatchCollection
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now


@fault("only-one-waiting-message-per-priority-sent", breaks=("MQDMPR-3.1.7.1.28-03", "MQDMPR-3.1.7.1.28-08"))
class OnlyOneWaitingMessagePerPrioritySent(DispatchCollection):
    """If several waiting messages have the same priority, the queue manager sends only the last of them."""

    def add(self, session: Session, position: OutgoingMessagePosition) -> None:
        unsent = session.OutgoingMessageTable._unsent
        unsent[:] = [entry for entry in unsent if entry[0] != -position.priority]
        heapq.heapify(unsent)
        super().add(session, position)


@fault("waiting-messages-all-sent-with-body-of-first", breaks="MQDMPR-3.1.7.1.28-04")
class WaitingMessagesAllSentWithBodyOfFirst(DispatchCollection):
    """The queue manager sends every waiting message with the contents of the first waiting message."""

    def add(self, session: Session, position: OutgoingMessagePosition) -> None:
        first = next(iter(session.OutgoingMessageTable)).UserMessage
        position.UserMessage = replace(position.UserMessage, MessagePropertiesHeader=first.MessagePropertiesHeader)
        super().add(session, position)


@fault("dispatched-message-packet-rebuilt-with-new-message-id", breaks=("MQDMPR-3.1.7.1.28-05", "MQDMPR-3.1.7.3.9-07"))
class DispatchedMessagePacketRebuiltWithNewMessageId(DispatchCollection):
    """The queue manager builds a new packet with a new MessageID when it adds a message to the dispatch collection."""

    def add(self, session: Session, position: OutgoingMessagePosition) -> None:
        number = self.qm.message_numbering.assign_message_ordinal()
        position.UserMessage = set_fields(position.UserMessage, {"UserHeader.MessageID": number})
        super().add(session, position)


_SENDING_ORDER_RULES = ("MQDMPR-3.1.7.1.28-06", "MQDMPR-3.1.7.3.9-04")


@fault("waiting-messages-sent-without-regard-to-priority", breaks=_SENDING_ORDER_RULES)
class WaitingMessagesSentWithoutRegardToPriority(DispatchCollection):
    """The queue manager sends waiting messages in the order in which applications sent them, regardless of their
    priorities.
    """

    def add(self, session: Session, position: OutgoingMessagePosition) -> None:
        heapq.heappush(session.OutgoingMessageTable._unsent, (0, position.order))


@fault("waiting-messages-sent-lowest-priority-first", breaks=_SENDING_ORDER_RULES)
class WaitingMessagesSentLowestPriorityFirst(DispatchCollection):
    """The queue manager sends waiting messages from the lowest priority to the highest."""

    def add(self, session: Session, position: OutgoingMessagePosition) -> None:
        heapq.heappush(session.OutgoingMessageTable._unsent, (position.priority, position.order))


@fault("queue-manager-priorities-5-and-6-sent-alike", breaks=_SENDING_ORDER_RULES, blind=True)
class QueueManagerPriorities5And6SentAlike(DispatchCollection):
    """The queue manager treats the priorities 1 and 2, 3 and 4, and 5 and 6 as equal: it sends messages of such a pair
    in the order in which they were added.
    """

    def add(self, session: Session, position: OutgoingMessagePosition) -> None:
        heapq.heappush(session.OutgoingMessageTable._unsent, (-((position.priority + 1) // 2), position.order))


@fault("queue-manager-express-messages-sent-last", breaks=_SENDING_ORDER_RULES, blind=True)
class QueueManagerExpressMessagesSentLast(DispatchCollection):
    """The queue manager sends waiting express messages after all recoverable messages."""

    def add(self, session: Session, position: OutgoingMessagePosition) -> None:
        order = -position.priority if position.recoverable else 1
        heapq.heappush(session.OutgoingMessageTable._unsent, (order, position.order))


@fault("queue-manager-transactional-messages-sent-first", breaks=_SENDING_ORDER_RULES, blind=True)
class QueueManagerTransactionalMessagesSentFirst(DispatchCollection):
    """The queue manager sends waiting transactional messages before all other waiting messages, regardless of the
    priorities.
    """

    def add(self, session: Session, position: OutgoingMessagePosition) -> None:
        order = -8 if position.UserMessage.TransactionHeader is not None else -position.priority
        heapq.heappush(session.OutgoingMessageTable._unsent, (order, position.order))


add(
    "waiting-messages-marked-as-being-sent",
    ("MQDMPR-3.1.7.1.28-07", "MQDMPR-3.1.7.1.28-08"),
    "The queue manager marks a new DispatchEntry as being sent, so its message is never sent.",
    omit_step(DispatchCollection.add),
)


add(
    "message-on-open-session-delayed",
    "MQDMPR-3.1.7.1.28-09",
    "The sender does not send a message that is added while a session is open until the next event of the session.",
    omit_step_during(MessageSending.add_message_to_session_table, MessageSending.dispatch_messages),
)


@fault("queue-manager-later-message-of-lower-priority-not-sent", breaks="MQDMPR-3.1.7.1.28-09", blind=True)
class QueueManagerLaterMessageOfLowerPriorityNotSent(MessageSending):
    """A message of priority 0 to 2 that is added while a session is open is not sent until the next event of that
    session.
    """

    def add_message_to_session_table(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        if position.priority > 2 or not self.may_send(session):
            super().add_message_to_session_table(session, position, now)
            return
        session.OutgoingMessageTable.add(position)
        self.qm.message_lifetimes.record_deadline_of_message_to_send(session, position)
        self.qm.dispatch_collection.add(session, position)


@fault("sender-message-added-to-idle-session-held-until-next-message", breaks="MQDMPR-3.1.7.1.28-09")
class SenderMessageAddedToIdleSessionHeldUntilNextMessage(MessageSending):
    """When a message is added while its session is open and idle, the queue manager does not send the message until
    another message is added.
    """

    def add_message_to_session_table(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        idle = session.SessionState is SessionState.OPEN and not len(session.OutgoingMessageTable)
        self.held = session if idle else None
        super().add_message_to_session_table(session, position, now)

    def dispatch_messages(self, session: Session, now: Now) -> None:
        if getattr(self, "held", None) is not session:
            super().dispatch_messages(session, now)


@fault("sender-sends-each-message-twice", breaks=("MQDMPR-3.1.7.1.29-03", "MQDMPR-3.1.7.3.9-06"))
class SenderSendsEachMessageTwice(MessageSending):
    """The queue manager sends each message a second time."""

    def transmit(self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket) -> None:
        for _ in range(2):
            super().transmit(session, position, packet)


@fault("sender-waits-for-acknowledgment-before-next-message", breaks="MQDMPR-3.1.7.1.29-04")
class SenderWaitsForAcknowledgmentBeforeNextMessage(MessageSending):
    """The queue manager does not send a message until the previous message is acknowledged."""

    def may_send(self, session: Session) -> bool:
        return not session.OutgoingMessageTable.awaiting_ack and bool(super().may_send(session))


@fault("sender-awaits-acknowledgment-after-three-sent-messages", breaks="MQDMPR-3.1.7.1.29-04")
class SenderAwaitsAcknowledgmentAfterThreeSentMessages(MessageSending):
    """When three messages of a session are sent, the queue manager does not send the next message until the three are
    acknowledged.
    """

    def may_send(self, session: Session) -> bool:
        return super().may_send(session) and (session.MessageSentCount != 3 or session.UnAckedMessageCount == 0)
