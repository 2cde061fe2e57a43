from __future__ import annotations

from reference_qm.codec import UserMessagePacket
from reference_qm.core.events import LifetimesChanged
from reference_qm.core.part import Part
from reference_qm.directory.enums import QueueType
from reference_qm.model.adm import INFINITE, Message, MessagePosition, OutgoingMessagePosition, Session
from reference_qm.model.states import MessagePositionState
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now

_TIMER = TimerKey(TimerName.MESSAGE_EXPIRATION, 0)


def in_queue(position: MessagePosition) -> bool:
    """Return whether a message is still in its queue."""
    return position.State is not MessagePositionState.DELETED


def in_transit(waiting: tuple[Session, OutgoingMessagePosition]) -> bool:
    """Return whether a message is still in the table of its session."""
    session, position = waiting
    return position in session.OutgoingMessageTable


def time_to_reach(message: Message) -> int:
    """Return the s that a message has to reach its queue. Spec: MS-MQMQ 2.2.19.1, 2.2.18.1.6.

    MS-MQQB 3.1.7.1.2 names only TimeToReachQueue; the class REACH_QUEUE_TIMEOUT also stands for TimeToBeReceived.
    """
    return min(message.TimeToReachQueue, message.TimeToBeReceived)


class Lifetimes(Part):
    """The times that messages have to be received, and to reach their queues.

    Spec: MS-MQDMPR 3.1.2.4, MS-MQQB 3.1.7.1.2.

    One timer runs for the earliest of all messages, not one for each.
    """

    __slots__ = ()

    def has_expired(self, packet: UserMessagePacket, now: Now) -> bool:
        """Return whether the time to reach the queue is over, or that to be received.

        Spec: MS-MQQB 3.1.7.1.2, MS-MQMQ 2.2.19.1.

        3.1.7.1.2 names only the first; the class REACH_QUEUE_TIMEOUT stands for both (MS-MQMQ 2.2.18.1.6).
        """
        user = packet.UserHeader
        return now.utc_s - user.SentTime > min(packet.BaseHeader.TimeToReachQueue, user.TimeToBeReceived)

    def watch_received(self, position: MessagePosition) -> None:
        """Start the Time To Be Received Timer of a message in a queue. Spec: MS-MQDMPR 3.1.2.4.

        Queues of the system keep what they hold. A message that is locked when its time is over is looked at again when
        it becomes available.
        """
        life_s = position.MessageReference.TimeToBeReceived
        if life_s != INFINITE and position.QueueReference.QueueType is not QueueType.SYSTEM:
            self.qm.to_be_received.add(position, position.MessageReference.SentTime + life_s)
            self.qm.post(LifetimesChanged())

    def watch_sent(self, session: Session, position: OutgoingMessagePosition) -> None:
        """Let a message that cannot be sent expire in time: it is not only looked at when it could be sent.

        Spec: MS-MQQB 3.1.7.1.2, MS-MQDMPR 3.1.1.12 (NackReachQueueTimeout: a timer).
        """
        life_s = time_to_reach(position.MessagePosition.MessageReference)
        if life_s != INFINITE:
            sent_s = position.MessagePosition.MessageReference.SentTime
            self.qm.to_be_sent.add(
                (session, position), sent_s + life_s + 1
            )  # it has expired when more than that has passed
            self.qm.post(LifetimesChanged())

    def start_expiration_timer(self, now: Now) -> None:
        """Let the timer run for the message that expires first. Spec: MS-MQDMPR 3.1.2.4."""
        due = [one for one in (self.qm.to_be_received.earliest_s, self.qm.to_be_sent.earliest_s) if one is not None]
        if due:
            self.qm.timers.start(_TIMER, now.monotonic_ms, 1_000 * (min(due) - now.utc_s))

    def recover_deadlines(self) -> None:
        """Watch again what was in queues when the queue manager ended; what is to be sent, its session watches."""
        self.qm.post(LifetimesChanged())
        for queue in self.qm.queue_names.every_queue():
            for position in queue.MessagePositionList:
                self.watch_received(position)
