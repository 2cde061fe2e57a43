from __future__ import annotations

from reference_qm.codec import UserMessagePacket
from reference_qm.core.events import MessageDeadlinesChanged
from reference_qm.core.part import QueueManagerPart
from reference_qm.directory.enums import QueueType
from reference_qm.model.adm import INFINITE_TIMEOUT, Message, MessagePosition, OutgoingMessagePosition, Session
from reference_qm.model.states import MessagePositionState
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now

_EXPIRATION_TIMER = TimerKey(TimerName.MESSAGE_EXPIRATION, 0)


def is_message_still_in_queue(position: MessagePosition) -> bool:
    """Return whether a message is still in its queue."""
    return position.State is not MessagePositionState.DELETED


def is_message_still_in_session_table(waiting: tuple[Session, OutgoingMessagePosition]) -> bool:
    """Return whether a message is still in the OutgoingMessageTable of its session."""
    session, position = waiting
    return position in session.OutgoingMessageTable


def get_time_to_reach_queue(message: Message) -> int:
    """Return the time in s within which a message must reach its queue. Spec: MS-MQMQ 2.2.19.1, 2.2.18.1.6.

    MS-MQQB 3.1.7.1.2 names only TimeToReachQueue, but the message class REACH_QUEUE_TIMEOUT also covers
    TimeToBeReceived.
    """
    return min(message.TimeToReachQueue, message.TimeToBeReceived)


class MessageLifetimes(QueueManagerPart):
    """Manages the deadlines by which messages must reach their queues and must be received.

    Spec: MS-MQDMPR 3.1.2.4, MS-MQQB 3.1.7.1.2.

    All messages share one timer, which expires at the earliest deadline.
    """

    __slots__ = ()

    def has_message_expired(self, packet: UserMessagePacket, now: Now) -> bool:
        """Return whether the time within which a message must reach its queue or must be received has passed.

        Spec: MS-MQQB 3.1.7.1.2, MS-MQMQ 2.2.19.1.

        3.1.7.1.2 names only the time to reach the queue, but the message class REACH_QUEUE_TIMEOUT covers both
        times (MS-MQMQ 2.2.18.1.6).
        """
        user = packet.UserHeader
        return now.utc_s - user.SentTime > min(packet.BaseHeader.TimeToReachQueue, user.TimeToBeReceived)

    def start_time_to_be_received_timer(self, position: MessagePosition) -> None:
        """Start the Time To Be Received Timer of a message in a queue. Spec: MS-MQDMPR 3.1.2.4.

        Messages in system queues do not expire. If a message is locked when its time has passed, the message is
        checked again when it becomes available.
        """
        life_s = position.MessageReference.TimeToBeReceived
        if life_s != INFINITE_TIMEOUT and position.QueueReference.QueueType is not QueueType.SYSTEM:
            self.qm.to_be_received.add(position, position.MessageReference.SentTime + life_s)
            self.qm.post_event(MessageDeadlinesChanged())

    def record_deadline_of_message_to_send(self, session: Session, position: OutgoingMessagePosition) -> None:
        """Record the deadline by which an outgoing message must reach its queue. At the deadline the message expires,
        even if it could not be sent.

        Spec: MS-MQQB 3.1.7.1.2, MS-MQDMPR 3.1.1.12 (NackReachQueueTimeout describes a timer).
        """
        life_s = get_time_to_reach_queue(position.MessagePosition.MessageReference)
        if life_s != INFINITE_TIMEOUT:
            sent_s = position.MessagePosition.MessageReference.SentTime
            self.qm.to_be_sent.add((session, position), sent_s + life_s + 1)  # a message expires only after that second
            self.qm.post_event(MessageDeadlinesChanged())

    def start_expiration_timer(self, now: Now) -> None:
        """Start the timer for the message that expires first. Spec: MS-MQDMPR 3.1.2.4."""
        due = [one for one in (self.qm.to_be_received.earliest_s, self.qm.to_be_sent.earliest_s) if one is not None]
        if due:
            self.qm.timers.start(_EXPIRATION_TIMER, now.monotonic_ms, 1_000 * (min(due) - now.utc_s))

    def recover_message_deadlines(self) -> None:
        """Record the deadlines of the messages in local queues after a restart. The deadlines of outgoing messages
        are recorded when their sessions are initialized.
        """
        self.qm.post_event(MessageDeadlinesChanged())
        for queue in self.qm.queue_names.list_every_queue():
            for position in queue.MessagePositionList:
                self.start_time_to_be_received_timer(position)
