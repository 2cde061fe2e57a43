"""Faults that break rules of MS-MQDMPR 3.1.7.3.9 Dispatch Send Message."""

from __future__ import annotations

import heapq

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import combine_installers, omit_step
from harness.faults.registry import add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.queueing.message_lifetimes import MessageLifetimes
from reference_qm.core.sessions.dispatch_collection import DispatchCollection
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now


class _MessageExpirationIgnorer(MessageLifetimes):
    def has_message_expired(self, packet: UserMessagePacket, now: Now) -> bool:
        return False


add(
    "expired-message-dispatched-for-sending",
    "MQDMPR-3.1.7.3.9-04",
    "The queue manager sends a waiting message whose TimeToReachQueue has expired.",
    combine_installers(replace_part(_MessageExpirationIgnorer), omit_step(MessageSending.delete_expired_message)),
)


@fault("sender-queues-urgent-message-behind-older-while-window-is-full", breaks="MQDMPR-3.1.7.3.9-04")
class SenderQueuesUrgentMessageBehindOlderWhileWindowIsFull(MessageSending):
    """While the window of an open session is full, the sender adds a message of higher priority after the messages that
    already wait.
    """

    def add_message_to_session_table(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        if session.MessageSentCount and not self.is_window_open(session):
            waiting = [one for one in session.OutgoingMessageTable if not (one.AwaitingAck or one.ReceivedSessionAck)]
            if waiting and position.priority > waiting[-1].priority:
                session.OutgoingMessageTable.add(position)
                self.late = [*getattr(self, "late", []), (session, position)]
                return
        super().add_message_to_session_table(session, position, now)

    def dispatch_messages(self, session: Session, now: Now) -> None:
        super().dispatch_messages(session, now)
        late = [one for of, one in getattr(self, "late", []) if of is session]
        if late and self.may_send(session) and session.OutgoingMessageTable.get_next_unsent() is None:
            self.late = [(of, one) for of, one in self.late if of is not session]
            for position in late:
                self.qm.dispatch_collection.add(session, position)
            super().dispatch_messages(session, now)


@fault("sender-sends-message-of-lowest-priority-first", breaks="MQDMPR-3.1.7.3.9-04", blind=True)
class SenderSendsMessageOfLowestPriorityFirst(DispatchCollection):
    """The sender first sends the waiting message with the lowest Priority."""

    def add(self, session: Session, position: OutgoingMessagePosition) -> None:
        super().add(session, position)
        waiting = session.OutgoingMessageTable._unsent
        waiting.remove((-position.priority, position.order))
        waiting.append((position.priority, position.order))
        heapq.heapify(waiting)


@fault("sender-resends-unacknowledged-message-after-urgent-message", breaks="MQDMPR-3.1.7.3.9-06", blind=True)
class SenderResendsUnacknowledgedMessageAfterUrgentMessage(MessageSending):
    """When a message with a higher priority is sent, an unacknowledged message with a lower priority is sent again."""

    def send_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> bool:
        go_on = super().send_user_message(session, position, now)
        for other in session.OutgoingMessageTable.awaiting_ack:
            if other.priority < position.priority:
                session.OutgoingMessageTable.mark_for_resending(other)
                self.qm.dispatch_collection.add(session, other)
        return go_on
