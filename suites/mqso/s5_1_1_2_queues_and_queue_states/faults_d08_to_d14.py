"""Faults that break the rules MQSO-5.1.1.2-D08 to MQSO-5.1.1.2-D14."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import change_core_at_restart, combine_installers, omit_step, omit_step_during
from harness.faults.registry import add
from reference_qm.codec import DirectQueueFormatName, PrivateName, UserMessagePacket
from reference_qm.core.commands.queue_commands import QueueCommands
from reference_qm.core.names.destination_resolving import DestinationResolving
from reference_qm.core.names.queue_names import ORDER_QUEUE_NUMBER
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.message_journaling import MessageJournaling
from reference_qm.core.queueing.queue_lifecycle import QueueLifecycle
from reference_qm.core.sessions.session_closing import SessionClosing
from reference_qm.core.sessions.session_establishing import SessionEstablishing
from reference_qm.core.store.entries import build_removal_change
from reference_qm.core.transfer.message_arrival import MessageArrival
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.core.transfer.transfer_administering import TransferAdministering
from reference_qm.model.adm import Message, MessagePosition, OutgoingQueue, Queue, Session
from reference_qm.model.states import DeliveryGuarantee, SessionState
from reference_qm.model.statuses import Status
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result

add(
    "idle-outgoing-queue-not-destroyed",
    "MQSO-5.1.1.2-D08",
    "An idle outgoing queue is never destroyed.",
    omit_step(DestinationResolving.on_outgoing_queue_idle_timer),
)


add(
    "unconnected-outgoing-queue-does-not-retry",
    "MQSO-5.1.1.2-D08",
    "An outgoing queue that could not connect does not try again.",
    omit_step_during(SessionClosing.close_session_after_failed_establishment, SessionClosing.await_reconnect),
)


@fault("idle-outgoing-queue-destroyed-with-messages", breaks="MQSO-5.1.1.2-D08")
class IdleOutgoingQueueDestroyedWithMessages(DestinationResolving):
    """The queue manager destroys an outgoing queue that has had no connection for a certain time, together with its
    messages.
    """

    def is_outgoing_queue_idle(self, queue: OutgoingQueue) -> bool:
        return queue.session.SessionState is not SessionState.OPEN or super().is_outgoing_queue_idle(queue)


@fault("queue-manager-outgoing-queue-created-again-never-destroyed", breaks="MQSO-5.1.1.2-D08")
class QueueManagerOutgoingQueueCreatedAgainNeverDestroyed(DestinationResolving):
    """If the queue manager recreates an outgoing queue that was destroyed, the recreated queue is not destroyed when it
    is idle.
    """

    def destroy_outgoing_queue(self, queue: OutgoingQueue) -> None:
        name = queue.DestinationFormatName.lower()
        if name not in getattr(self, "destroyed", ()):
            self.destroyed = (*getattr(self, "destroyed", ()), name)
            super().destroy_outgoing_queue(queue)


add(
    "outgoing-queue-does-not-reconnect-after-lost-connection",
    "MQSO-5.1.1.2-D09",
    "An outgoing queue whose connection is lost does not connect again.",
    omit_step_during(SessionClosing.on_transport_lost, SessionClosing.await_reconnect),
)


@fault("queue-manager-outgoing-queue-lost-twice-does-not-connect-again", breaks="MQSO-5.1.1.2-D09")
class QueueManagerOutgoingQueueLostTwiceDoesNotConnectAgain(SessionClosing):
    """An outgoing queue whose connection is lost a second time does not connect again."""

    def on_transport_lost(self, session: Session, reason: str, now: Now) -> None:
        super().on_transport_lost(session, reason, now)
        if session.number in getattr(self, "lost", ()) and session.SessionState is SessionState.WAITING_RECONNECT:
            self.qm.timers.stop(TimerKey(TimerName.SESSION_RETRY_CONNECT, session.number))
        self.lost = (*getattr(self, "lost", ()), session.number)


add(
    "pause-of-outgoing-queue-has-no-effect",
    "MQSO-5.1.1.2-D10",
    "A paused outgoing queue continues to send.",
    omit_step(TransferAdministering.pause_queue),
)


add(
    "resume-of-outgoing-queue-has-no-effect",
    "MQSO-5.1.1.2-D10",
    "A resumed outgoing queue stays paused.",
    omit_step(TransferAdministering.resume_queue),
)


@fault("every-paused-outgoing-queue-resumed-when-one-is-resumed", breaks="MQSO-5.1.1.2-D10")
class EveryPausedOutgoingQueueResumedWhenOneIsResumed(TransferAdministering):
    """When one outgoing queue is resumed, all paused outgoing queues are resumed."""

    def resume_queue(self, queue: OutgoingQueue, now: Now) -> None:
        super().resume_queue(queue, now)
        for other in list(self.qm.adm.OutgoingQueues.values()):
            super().resume_queue(other, now)


@fault("every-outgoing-queue-paused-when-one-is-paused", breaks="MQSO-5.1.1.2-D10")
class EveryOutgoingQueuePausedWhenOneIsPaused(TransferAdministering):
    """When one outgoing queue is paused, all outgoing queues are paused."""

    def pause_queue(self, queue: OutgoingQueue, now: Now) -> None:
        for other in list(self.qm.adm.OutgoingQueues.values()):
            super().pause_queue(other, now)


@fault("queue-manager-resumed-queue-keeps-messages-added-during-pause", breaks="MQSO-5.1.1.2-D10")
class QueueManagerResumedQueueKeepsMessagesAddedDuringPause(TransferAdministering):
    """A resumed outgoing queue sends the messages that it had before the pause, but not the messages that were added
    later.
    """

    def pause_queue(self, queue: OutgoingQueue, now: Now) -> None:
        super().pause_queue(queue, now)
        before = {one.order for one in queue.session.OutgoingMessageTable}
        self.before = {**getattr(self, "before", {}), queue.DestinationFormatName: before}

    def resume_queue(self, queue: OutgoingQueue, now: Now) -> None:
        table = queue.session.OutgoingMessageTable
        before = getattr(self, "before", {}).get(queue.DestinationFormatName)
        if before is None:
            super().resume_queue(queue, now)
            return
        later = [one for one in table if one.order not in before]
        for position in later:
            table.remove(position)
        super().resume_queue(queue, now)
        for position in later:
            table.add(position)


@fault("queue-manager-second-resume-sends-nothing", breaks="MQSO-5.1.1.2-D10", blind=True)
class QueueManagerSecondResumeSendsNothing(TransferAdministering):
    """An outgoing queue that was paused and resumed before is not resumed a second time."""

    def resume_queue(self, queue: OutgoingQueue, now: Now) -> None:
        resumed: set[str] = getattr(self, "resumed", set())
        self.resumed = resumed
        if queue.DestinationFormatName not in resumed:
            resumed.add(queue.DestinationFormatName)
            super().resume_queue(queue, now)


@fault("queue-manager-resumed-queue-sends-only-messages-before-pause", breaks="MQSO-5.1.1.2-D10")
class QueueManagerResumedQueueSendsOnlyMessagesBeforePause(TransferAdministering):
    """A resumed outgoing queue sends only the messages that it had before the pause."""

    def pause_queue(self, queue: OutgoingQueue, now: Now) -> None:
        self.before = set(map(id, queue.session.OutgoingMessageTable))
        super().pause_queue(queue, now)

    def resume_queue(self, queue: OutgoingQueue, now: Now) -> None:
        for one in list(queue.session.OutgoingMessageTable):
            if getattr(self, "before", set()) and id(one) not in self.before:
                queue.session.OutgoingMessageTable.remove(one)
        super().resume_queue(queue, now)


@fault("system-queue-can-be-deleted", breaks="MQSO-5.1.1.2-D11")
class SystemQueueCanBeDeleted(QueueCommands):
    """The queue manager lets an application delete a system queue."""

    def delete_queue(self, request: commands.DeleteQueue, token: int, now: Now) -> Result | None:
        if request.name.startswith("system$"):
            return Result()
        return super().delete_queue(request, token, now)


@fault("queue-manager-stores-network-message-in-system-queue", breaks="MQSO-5.1.1.2-D11")
class QueueManagerStoresNetworkMessageInSystemQueue(MessageArrival):
    """The receiver stores a message that is addressed to the direct format name of a system queue in this queue."""

    def find_destination(self, packet: UserMessagePacket) -> Queue | None:
        name = packet.UserHeader.DestinationQueue
        if isinstance(name, DirectQueueFormatName):
            path = name.DirectFormatName.partition("\\")[2]
            if path.lower().startswith("system$;"):
                return self.qm.queue_names.find_queue_by_path(path)
        return super().find_destination(packet)


@fault("queue-manager-transactional-dead-letter-queue-deletion-succeeds", breaks="MQSO-5.1.1.2-D11")
class QueueManagerTransactionalDeadLetterQueueDeletionSucceeds(QueueCommands):
    """A request to delete the transactional dead-letter queue succeeds."""

    def delete_queue(self, request: commands.DeleteQueue, token: int, now: Now) -> Result | None:
        if request.name.lower() == "system$;deadxact":
            return Result()
        return super().delete_queue(request, token, now)


@fault("queue-manager-order-queue-can-be-created", breaks="MQSO-5.1.1.2-D11", blind=True)
class QueueManagerOrderQueueCanBeCreated(QueueLifecycle):
    """An application can create a queue with the name of the order queue."""

    def create_without_directory(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        if queue.Pathname.lower() != "private$\\order_queue$":
            return super().create_without_directory(queue, utc_s)
        status, created = super().create_without_directory(replace(queue, Pathname="private$\\order-queue"), utc_s)
        if created is not None:
            self.qm.queue_lifecycle.forget(created)
            created.Pathname = queue.Pathname
            self.qm.queue_lifecycle.add(created)
        return status, created


add(
    "delivered-message-not-journaled",
    "MQSO-5.1.1.2-D12",
    "A delivered message with positive journaling is not journaled.",
    omit_step(MessageJournaling.journal_delivered_message),
)


@fault("queue-manager-source-journal-message-without-response-queue", breaks="MQSO-5.1.1.2-D12")
class QueueManagerSourceJournalMessageWithoutResponseQueue(MessageJournaling):
    """The sender stores a message in the source journal without its response queue."""

    def journal_delivered_message(self, position: MessagePosition) -> None:
        position.MessageReference = replace(position.MessageReference, ResponseQueueFormatName=None)
        super().journal_delivered_message(position)


@fault("queue-manager-express-message-not-in-source-journal", breaks="MQSO-5.1.1.2-D12")
class QueueManagerExpressMessageNotInSourceJournal(MessageJournaling):
    """The source journal does not store express messages."""

    def journal_delivered_message(self, position: MessagePosition) -> None:
        if position.MessageReference.DeliveryGuarantee is DeliveryGuarantee.EXPRESS:
            self.qm.disk.save(build_removal_change([position]))
        else:
            super().journal_delivered_message(position)


add(
    "undelivered-message-lost",
    ("MQSO-3.3.4.5-D05", "MQSO-4.3.1.2-04", "MQSO-5.1.1.2-D13", "MQSO-5.1.1.3-D02"),
    "An undelivered message with negative journaling is lost.",
    omit_step(MessageJournaling.journal_failed_message),
)


class WrongDeadLetterQueueChooser(MessageJournaling):
    """After a restart, a transactional dead letter is in the dead-letter queue for nontransactional messages."""

    def find_dead_letter_queue(self, message: Message) -> Queue:
        found = super().find_dead_letter_queue(message)
        restarted = getattr(self, "restarted", False) and found is self.qm.adm.SystemTransactionalDeadletterQueue
        return self.qm.adm.SystemDeadletterQueue if restarted else found


def _record_restart(qm: QueueManager) -> None:
    vars(qm.message_journaling)["restarted"] = True


add(
    "queue-manager-transactional-dead-letter-in-other-queue-after-restart",
    "MQSO-5.1.1.2-D13",
    "After a restart, a transactional dead letter is in the dead-letter queue for nontransactional messages.",
    combine_installers(replace_part(WrongDeadLetterQueueChooser), change_core_at_restart(_record_restart)),
)


@fault("queue-manager-express-message-not-in-dead-letter-queue", breaks="MQSO-5.1.1.2-D13")
class QueueManagerExpressMessageNotInDeadLetterQueue(MessageJournaling):
    """The dead-letter queue does not store express messages."""

    def journal_failed_message(self, position: MessagePosition) -> None:
        if position.MessageReference.DeliveryGuarantee is DeliveryGuarantee.EXPRESS:
            self.qm.disk.save(build_removal_change([position]))
        else:
            super().journal_failed_message(position)


@fault("order-ack-sent-to-admin-queue", breaks="MQSO-5.1.1.2-D14")
class OrderAckSentToAdminQueue(OrderAcks):
    """The receiver sends order acknowledgments to the queue admin_queue$."""

    def build_order_queue_name(self, session: Session, source: Any) -> str:
        return super().build_order_queue_name(session, source).replace("order_queue$", "admin_queue$")


@fault("receiver-order-ack-for-second-sender-sent-to-wrong-private-queue", breaks="MQSO-5.1.1.2-D14")
class ReceiverOrderAckForSecondSenderSentToWrongPrivateQueue(OrderAcks):
    """If the receiver uses private format names, it sends the order acknowledgments for a second sender to private
    queue 5.
    """

    def build_order_queue_name(self, session: Session, source: UUID) -> str:
        if session.DirectFormatSession:
            return super().build_order_queue_name(session, source)
        self.first = getattr(self, "first", source)
        return str(PrivateName(source, ORDER_QUEUE_NUMBER if source == self.first else 5))


@fault("outgoing-queue-address-not-resolved-again-after-connect-failure", breaks="MQSO-5.1.1.2-D08", blind=True)
class OutgoingQueueAddressNotResolvedAgainAfterConnectFailure(SessionEstablishing):
    """After a failed connection, an outgoing queue does not return to the state Initializing: it connects again to
    the known addresses, and never resolves the address of its destination again.
    """

    def on_session_retry_connect_timer(self, session: Session, now: Now) -> None:
        if session.NextHopIndexer + 1 >= len(session.NextHopCollection):
            session.NextHopIndexer = -1
        super().on_session_retry_connect_timer(session, now)
