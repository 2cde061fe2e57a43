"""Faults of MS-MQDMPR 3.1.7.1.28 and 3.1.7.3.9 that only special cases reveal: several priorities and kinds of
messages.
"""

from __future__ import annotations

import heapq

from harness.faults.parts import fault
from reference_qm.core.sessions.dispatch_collection import DispatchCollection
from reference_qm.core.transfer.sending import Sending
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now

_ORDER_RULES = ("MQDMPR-3.1.7.1.28-06", "MQDMPR-3.1.7.3.9-04")


@fault("queue-manager-priorities-5-and-6-sent-alike", breaks=_ORDER_RULES, blind=True)
class QueueManagerPriorities5And6SentAlike(DispatchCollection):
    """The queue manager treats the priorities 1 and 2, 3 and 4, and 5 and 6 as equal: it sends messages of such a pair
    in the order in which they were added.
    """

    def add(self, session: Session, position: OutgoingMessagePosition) -> None:
        heapq.heappush(session.OutgoingMessageTable._unsent, (-((position.priority + 1) // 2), position.order))


@fault("queue-manager-express-messages-sent-last", breaks=_ORDER_RULES, blind=True)
class QueueManagerExpressMessagesSentLast(DispatchCollection):
    """The queue manager sends waiting express messages after all recoverable messages."""

    def add(self, session: Session, position: OutgoingMessagePosition) -> None:
        order = -position.priority if position.recoverable else 1
        heapq.heappush(session.OutgoingMessageTable._unsent, (order, position.order))


@fault("queue-manager-transactional-messages-sent-first", breaks=_ORDER_RULES, blind=True)
class QueueManagerTransactionalMessagesSentFirst(DispatchCollection):
    """The queue manager sends waiting transactional messages before all other waiting messages, regardless of the
    priorities.
    """

    def add(self, session: Session, position: OutgoingMessagePosition) -> None:
        order = -8 if position.UserMessage.TransactionHeader is not None else -position.priority
        heapq.heappush(session.OutgoingMessageTable._unsent, (order, position.order))


@fault("queue-manager-later-message-of-lower-priority-not-sent", breaks="MQDMPR-3.1.7.1.28-09", blind=True)
class QueueManagerLaterMessageOfLowerPriorityNotSent(Sending):
    """A message of priority 0 to 2 that is added while a session is open is not sent until the next event of that
    session.
    """

    def put_outgoing(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        if position.priority > 2 or not self.may_send(session):
            super().put_outgoing(session, position, now)
            return
        session.OutgoingMessageTable.add(position)
        self.qm.lifetimes.watch_message_to_send(session, position)
        self.qm.dispatch_collection.add(session, position)


@fault("sender-message-added-to-open-session-waits-for-next", breaks="MQDMPR-3.1.7.1.28-09")
class SenderMessageAddedToOpenSessionWaitsForNext(Sending):
    """When a message is added while its session is open and idle, the queue manager does not send the message until
    another message is added.
    """

    def put_outgoing(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        idle = session.SessionState is SessionState.OPEN and not len(session.OutgoingMessageTable)
        self.held = session if idle else None
        super().put_outgoing(session, position, now)

    def dispatch_messages(self, session: Session, now: Now) -> None:
        if getattr(self, "held", None) is not session:
            super().dispatch_messages(session, now)


@fault("sender-stops-after-third-sent-message", breaks="MQDMPR-3.1.7.1.29-04")
class SenderStopsAfterThirdSentMessage(Sending):
    """When three messages of a session are sent, the queue manager does not send the next message until the three are
    acknowledged.
    """

    def may_send(self, session: Session) -> bool:
        return super().may_send(session) and (session.MessageSentCount != 3 or session.UnAckedMessageCount == 0)
