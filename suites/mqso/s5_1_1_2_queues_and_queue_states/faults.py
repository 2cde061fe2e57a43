"""Faults of MS-MQSO 5.1.1.2 Queues and Queue States."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import fault
from harness.faults.primitives import at_restart, skip, skip_during
from harness.faults.registry import add
from reference_qm.codec import MessageClass
from reference_qm.core.commands.queue_commands import QueueCommands
from reference_qm.core.names.destinations import Destinations
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.cursors import Cursors
from reference_qm.core.queueing.journaling import Journaling
from reference_qm.core.queueing.queues import Queues
from reference_qm.core.queueing.quotas import Quotas
from reference_qm.core.queueing.reading import Reading
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.core.sessions.closing import Closing
from reference_qm.core.transfer.administering import Administering
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.model.adm import Message, OutgoingQueue, Queue, Session
from reference_qm.model.elements import Answered, Cursor, OpenQueueDescriptor
from reference_qm.model.enums import MessageSeekAction, QueueAccessType
from reference_qm.model.states import MessagePositionState, SessionState
from reference_qm.model.statuses import EnqueueStatus
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result

# -- queues of applications ----------------------------------------------------------------------------------------


@fault("last-message-received-first", breaks="MQSO-5.1.1.2-D01")
class LastMessageReceivedFirst(Reading):
    """A receive returns the last message of the queue."""

    def dequeue_message(
        self, queue_desc: OpenQueueDescriptor, answered: Answered, now: Now, *args: Any, **named: Any
    ) -> None:
        queue = queue_desc.QueueReference
        if queue is None or not len(queue.MessagePositionList):
            super().dequeue_message(queue_desc, answered, now, *args, **named)
            return
        last = MessageSeekAction.LAST
        self.read_by_lookup_identifier(queue_desc, 0, last, answered, transaction=named.get("transaction"))


@fault("queue-quota-ignored", breaks="MQSO-5.1.1.2-D02")
class QueueQuotaIgnored(Quotas):
    """The queue manager ignores the quota of a queue."""

    def check(self, queue: Queue, message: Message) -> EnqueueStatus:
        status = super().check(queue, message)
        return EnqueueStatus.NO_ERROR if status is EnqueueStatus.QUEUE_QUOTA_EXCEEDED else status


add(
    "pending-receive-gets-no-message",
    ("MQSO-3.3.4.6-D01", "MQSO-5.1.1.2-D03"),
    "A pending receive does not get the message that arrives.",
    skip(Waiting.release_readers),
)


add(
    "pending-receive-ignores-timeout",
    ("MQSO-3.3.4.6-D01", "MQSO-5.1.1.2-D03"),
    "A pending receive continues to wait after its timeout.",
    skip(Waiting.on_waiting_message_read_timer),
)


@fault("purge-removes-nothing", breaks="MQSO-5.1.1.2-D04")
class PurgeRemovesNothing(Queues):
    """A purge succeeds and removes no message."""

    def purge(
        self,
        queue: Queue,
        token: int | None,
        done: Callable[[int], Result],
        failed: Callable[[], None] | None = None,
    ) -> Result | None:
        return done(len(queue.MessagePositionList))


add("deleted-queue-still-exists", "MQSO-5.1.1.2-D05", "A queue still exists after it was deleted.", skip(Queues.forget))


@fault("cursors-of-handle-shared", breaks="MQSO-5.1.1.2-D06")
class CursorsOfHandleShared(Cursors):
    """The queue manager returns the same cursor for every request on an open queue."""

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        return next(iter(queue_desc.CursorCollection.values()), None) or super().open(queue_desc)


def _reopen_nonempty_queues(qm: QueueManager) -> None:
    """Open each nonempty queue with two cursors, and reuse the numbers of the earlier handles."""
    for queue in list(qm.adm.QueueCollection.values()):
        if len(queue.MessagePositionList):
            _, descriptor = qm.queue_opening.open_found_queue(queue, queue.Pathname, QueueAccessType.RECEIVE)
            if descriptor is not None:
                for _ in range(2):
                    qm.cursors.open(descriptor)


add(
    "cursors-survive-restart",
    ("MQSO-5.1.1-D01", "MQSO-5.1.1.2-D06"),
    "Open queues and their cursors are open again after a restart.",
    at_restart(_reopen_nonempty_queues),
)


# -- outgoing queues -----------------------------------------------------------------------------------------------


@fault("outgoing-queue-shared-by-destinations", breaks=("MQSO-3.3.4.3-D03", "MQSO-5.1.1.2-D07"))
class OutgoingQueueSharedByDestinations(Destinations):
    """The queue manager puts all outgoing messages into the outgoing queue that was created first."""

    def open_outgoing(self, text: str, now: Now) -> OutgoingQueue:
        return next(iter(self.qm.adm.OutgoingQueues.values()), None) or super().open_outgoing(text, now)


add(
    "outgoing-queue-does-not-reconnect-after-lost-connection",
    "MQSO-5.1.1.2-D09",
    "An outgoing queue whose connection is lost does not connect again.",
    skip_during(Closing.on_transport_lost, Closing.await_reconnect),
)
add(
    "idle-outgoing-queue-not-destroyed",
    "MQSO-5.1.1.2-D08",
    "An idle outgoing queue is never destroyed.",
    skip(Destinations.on_idle_timer),
)
add(
    "unconnected-outgoing-queue-does-not-retry",
    "MQSO-5.1.1.2-D08",
    "An outgoing queue that could not connect does not try again.",
    skip_during(Closing.fail_to_establish, Closing.await_reconnect),
)


@fault("idle-outgoing-queue-destroyed-with-messages", breaks="MQSO-5.1.1.2-D08")
class IdleOutgoingQueueDestroyedWithMessages(Destinations):
    """The queue manager destroys an outgoing queue that has had no connection for some time, together with its
    messages.
    """

    def is_idle(self, queue: OutgoingQueue) -> bool:
        return queue.session.SessionState is not SessionState.OPEN or super().is_idle(queue)


add(
    "pause-of-outgoing-queue-has-no-effect",
    "MQSO-5.1.1.2-D10",
    "A paused outgoing queue continues to send.",
    skip(Administering.pause_queue),
)
add(
    "resume-of-outgoing-queue-has-no-effect",
    "MQSO-5.1.1.2-D10",
    "A resumed outgoing queue stays paused.",
    skip(Administering.resume_queue),
)


# -- queues of the system ------------------------------------------------------------------------------------------


@fault("system-queue-can-be-deleted", breaks="MQSO-5.1.1.2-D11")
class SystemQueueCanBeDeleted(QueueCommands):
    """The queue manager lets an application delete a system queue."""

    def delete_queue(self, request: commands.DeleteQueue, token: int, now: Now) -> Result | None:
        if request.name.startswith("system$"):
            return Result()
        return super().delete_queue(request, token, now)


add(
    "delivered-message-not-journaled",
    "MQSO-5.1.1.2-D12",
    "A delivered message with positive journaling is not journaled.",
    skip(Journaling.journal_delivered),
)
add(
    "undelivered-message-lost",
    ("MQSO-3.3.4.5-D05", "MQSO-4.3.1.2-04", "MQSO-5.1.1.2-D13", "MQSO-5.1.1.3-D02"),
    "An undelivered message with negative journaling is lost.",
    skip(Journaling.journal_failed),
)


@fault("transactional-dead-letter-put-into-nontransactional-dead-letter-queue", breaks="MQSO-5.1.1.2-D13")
class TransactionalDeadLetterPutIntoNontransactionalDeadLetterQueue(Journaling):
    """The sender stores an undelivered transactional message in the dead-letter queue for nontransactional messages."""

    def dead_letter_queue(self, message: Message) -> Queue:
        return self.qm.adm.SystemDeadletterQueue


@fault("order-ack-sent-to-admin-queue", breaks="MQSO-5.1.1.2-D14")
class OrderAckSentToAdminQueue(OrderAcks):
    """The receiver sends order acknowledgments to the queue admin_queue$."""

    def name_order_queue(self, session: Session, source: Any) -> str:
        return super().name_order_queue(session, source).replace("order_queue$", "admin_queue$")


@fault("resume-resumes-every-outgoing-queue", breaks="MQSO-5.1.1.2-D10")
class ResumeResumesEveryOutgoingQueue(Administering):
    """When one outgoing queue is resumed, all paused outgoing queues are resumed."""

    def resume_queue(self, queue: OutgoingQueue, now: Now) -> None:
        super().resume_queue(queue, now)
        for other in list(self.qm.adm.OutgoingQueues.values()):
            super().resume_queue(other, now)


@fault("pause-pauses-every-outgoing-queue", breaks="MQSO-5.1.1.2-D10")
class PausePausesEveryOutgoingQueue(Administering):
    """When one outgoing queue is paused, all outgoing queues are paused."""

    def pause_queue(self, queue: OutgoingQueue, now: Now) -> None:
        for other in list(self.qm.adm.OutgoingQueues.values()):
            super().pause_queue(other, now)


@fault("purge-ends-at-locked-message", breaks="MQSO-5.1.1.2-D04")
class PurgeEndsAtLockedMessage(Queues):
    """A purge removes only the messages before the first message that a transaction has locked."""

    def purge(
        self,
        queue: Queue,
        token: int | None,
        done: Callable[[int], Result],
        failed: Callable[[], None] | None = None,
    ) -> Result | None:
        positions = list(queue.MessagePositionList)
        states = [position.State for position in positions]
        if MessagePositionState.LOCKED not in states or any(position.awaits_disk for position in positions):
            result: Result | None = super().purge(queue, token, done, failed)
            return result
        locked = states.index(MessagePositionState.LOCKED)
        reason = MessageClass.MQMSG_CLASS_NACK_Q_PURGED
        positions[locked].State = MessagePositionState.PURGE_PENDING
        removed = positions[:locked]

        def carry_out() -> Result:
            for position in removed:
                self.qm.positions.delete_message(position, reason)
            return done(len(removed))

        removal = self.qm.durability.build_removal(removed, reason)
        return self.qm.disk.commit(removal, token, carry_out, lambda: None)
