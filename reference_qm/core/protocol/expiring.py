from __future__ import annotations

from reference_qm.codec import MessageClass
from reference_qm.core.part import Part
from reference_qm.directory.enums import QueueType
from reference_qm.model.adm import INFINITE, Message, MessagePosition, OutgoingMessagePosition, Session
from reference_qm.model.states import MessagePositionState
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result

DISK_RETRY_S = 10
"""Time for which an expired message stays that the disk would not let go."""
_TIMER = TimerKey(TimerName.MESSAGE_EXPIRATION, 0)


def in_queue(position: MessagePosition) -> bool:
    """Return whether a message is still in its queue."""
    return position.State is not MessagePositionState.DELETED


def in_transit(waiting: tuple[Session, OutgoingMessagePosition]) -> bool:
    """Return whether a message is still in the table of its session."""
    session, position = waiting
    return position in session.OutgoingMessageTable


class Expiring(Part):
    """Messages whose time is over while they wait. Spec: MS-MQDMPR 3.1.2.4, 3.1.7.2.7, MS-MQQB 3.1.7.1.2.

    One timer runs for the earliest of all messages, not one for each.
    """

    __slots__ = ()

    def watch_received(self, position: MessagePosition) -> None:
        """Start the Time To Be Received Timer of a message in a queue. Spec: MS-MQDMPR 3.1.2.4.

        Queues of the system keep what they hold. A message that is locked when its time is over is looked at again when
        it becomes available.
        """
        life_s = position.MessageReference.TimeToBeReceived
        if life_s != INFINITE and position.QueueReference.QueueType is not QueueType.SYSTEM:
            self.qm.to_be_received.add(position, position.MessageReference.SentTime + life_s)
            self.qm.deadlines_changed = True

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
            self.qm.deadlines_changed = True

    def start_expiration_timer(self, now: Now) -> None:
        """Let the timer run for the message that expires first. Spec: MS-MQDMPR 3.1.2.4."""
        self.qm.deadlines_changed = False
        due = [one for one in (self.qm.to_be_received.earliest_s, self.qm.to_be_sent.earliest_s) if one is not None]
        if due:
            self.qm.timers.start(_TIMER, now.monotonic_ms, 1_000 * (min(due) - now.utc_s))

    def on_expiration_timer(self, now: Now) -> None:
        """Delete what has expired. Spec: MS-MQDMPR 3.1.7.2.7, MS-MQQB 3.1.7.1.2.

        A message that was sent and is not acknowledged may have arrived: it is looked at before it is sent again, as is
        one whose session was not tried yet since the start.
        """
        self.qm.deadlines_changed = True
        self.delete_not_received(list(self.qm.to_be_received.take_due(now.utc_s)), now)
        for session, position in self.qm.to_be_sent.take_due(now.utc_s):
            may_have_arrived = position.AwaitingAck or position.ReceivedSessionAck
            if not may_have_arrived and session.TxOutgoingSequence is not None:
                self.qm.sending.delete_expired(session, position, now)

    def delete_not_received(self, positions: list[MessagePosition], now: Now) -> None:
        """Delete messages that were not received in time. Spec: MS-MQDMPR 3.1.7.2.7.

        Printed is to put the deletion of a transactional message into the transaction with its TransactionIdentifier:
        that is the transaction that it was sent in, which is over, and mostly another queue manager's. So it is deleted
        at once.
        """
        reason = MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT
        expired = [position for position in positions if position.State is MessagePositionState.AVAILABLE]

        for position in expired:
            position.State = MessagePositionState.LOCKED

        def delete() -> Result:
            for position in expired:
                self.qm.positions.delete_message(position, reason)
            return Result()

        def try_again_later() -> None:
            for position in expired:
                self.qm.to_be_received.add(position, now.utc_s + DISK_RETRY_S)
                self.qm.positions.unlock_message(position)

        self.qm.disk.commit(self.qm.durability.removed(expired, reason), None, delete, try_again_later)

    def recover_deadlines(self) -> None:
        """Watch again what was in queues when the queue manager ended; what is to be sent, its session watches."""
        self.qm.deadlines_changed = True
        for queue in self.qm.queue_names.every_queue():
            for position in queue.MessagePositionList:
                self.watch_received(position)


def time_to_reach(message: Message) -> int:
    """Return the s that a message has to reach its queue. Spec: MS-MQMQ 2.2.19.1, 2.2.18.1.6.

    MS-MQQB 3.1.7.1.2 names only TimeToReachQueue; the class REACH_QUEUE_TIMEOUT also stands for TimeToBeReceived.
    """
    return min(message.TimeToReachQueue, message.TimeToBeReceived)
