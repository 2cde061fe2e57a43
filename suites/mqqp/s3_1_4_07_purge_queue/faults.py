"""Faults that break rules of MS-MQQP 3.1.4.7 RemoteQMPurgeQueue (Opnum 6)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.registry import add
from harness.faults.rpc_calls import call_on_unbound_context, change_answer_values, replace_success_by_error
from reference_qm.codec import MessageClass
from reference_qm.core.queueing.queue_lifecycle import QueueLifecycle
from reference_qm.core.queueing.two_phase_reading import TwoPhaseReading
from reference_qm.core.remote.remote_queue_opening import RemoteQueueOpening
from reference_qm.core.remote.remote_read_ending import CANCELED_STATUS
from reference_qm.core.store.disk import Change
from reference_qm.core.store.durable_records import DurableRecords
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.states import DeliveryGuarantee, MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result

add(
    "client-purge-queue-on-unknown-context",
    "MQQP-3.1.4.7-02",
    "The client calls RemoteQMPurgeQueue on a presentation context that the server did not accept.",
    call_on_unbound_context("RemoteQMPurgeQueue"),
)


@fault("server-successful-purge-queue-returns-error", breaks=("MQQP-3.1.4.7-03", "MQQP-3.1.4.7-12"))
class ServerSuccessfulPurgeQueueReturnsError(RemoteQueueOpening):
    """RemoteQMPurgeQueue returns an error status instead of MQ_OK when it succeeds."""

    def remote_qm_purge_queue(self, call: Call, now: Now) -> None:
        super().remote_qm_purge_queue(change_answer_values(call, Return=replace_success_by_error), now)


def _return_success_status(status: int) -> int:
    return Status.MQ_OK


@fault("server-failed-purge-queue-returns-success", breaks="MQQP-3.1.4.7-03")
class ServerFailedPurgeQueueReturnsSuccess(RemoteQueueOpening):
    """RemoteQMPurgeQueue returns MQ_OK for a queue that the server cannot purge."""

    def remote_qm_purge_queue(self, call: Call, now: Now) -> None:
        super().remote_qm_purge_queue(change_answer_values(call, Return=_return_success_status), now)


@fault("server-purge-queue-with-locked-message-returns-failure", breaks=("MQQP-3.1.4.7-03", "MQQP-3.1.4.7-12"))
class ServerPurgeQueueWithLockedMessageReturnsFailure(RemoteQueueOpening):
    """If a receive from a queue is unfinished, RemoteQMPurgeQueue purges the queue but returns a failure."""

    def purge_remote_queue(self, call: Call, queue: Queue) -> None:
        states = [one.State for one in queue.MessagePositionList]
        if MessagePositionState.LOCKED in states:
            self.qm.queue_lifecycle.purge(queue, None, lambda number: None, lambda: None)  # type: ignore[arg-type, return-value]
            self.refuse_purge(call, Status.MQ_ERROR)
        else:
            super().purge_remote_queue(call, queue)


@fault(
    "server-purge-queue-unopened-queue-accepted",
    breaks=("MQQP-3.1.4.7-05", "MQQP-3.1.4.7-06"),
)
class ServerPurgeQueueUnopenedQueueAccepted(RemoteQueueOpening):
    """RemoteQMPurgeQueue purges a queue that RemoteQMOpenQueue has not opened."""

    def remote_qm_purge_queue(self, call: Call, now: Now) -> None:
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(call.arguments["hQueue"])
        if descriptor is None or descriptor.QueueReference is None:
            super().remote_qm_purge_queue(call, now)
        else:
            self.purge_remote_queue(call, descriptor.QueueReference)


@fault("server-refuses-purge-through-second-handle-of-queue", breaks="MQQP-3.1.4.7-05")
class ServerRefusesPurgeThroughSecondHandleOfQueue(RemoteQueueOpening):
    """The server refuses a purge through the second handle of a queue."""

    def remote_qm_purge_queue(self, call: Call, now: Now) -> None:
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(call.arguments["hQueue"])
        if descriptor is not None and descriptor.QueueReference is not None:
            first = next(iter(descriptor.QueueReference.OpenQueueDescriptorCollection))
            if first != call.arguments["hQueue"]:
                self.refuse_purge(call, Status.MQ_ERROR_INVALID_HANDLE)
                return
        super().remote_qm_purge_queue(call, now)


@fault("server-purge-queue-without-remote-qm-open-queue-accepted", breaks=("MQQP-3.1.4.7-06", "MQQP-3.1.4.7-05"))
class ServerPurgeQueueWithoutRemoteQmOpenQueueAccepted(RemoteQueueOpening):
    """The server purges a queue that only R_QMOpenRemoteQueue has opened."""

    def remote_qm_purge_queue(self, call: Call, now: Now) -> None:
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(call.arguments["hQueue"])
        if descriptor is not None and descriptor.QueueReference is not None:
            self.purge_remote_queue(call, descriptor.QueueReference)
        else:
            super().remote_qm_purge_queue(call, now)


@fault("server-purge-of-closed-queue-accepted", breaks="MQQP-3.1.4.7-06", blind=True)
class ServerPurgeOfClosedQueueAccepted(RemoteQueueOpening):
    """While a queue has an open handle, RemoteQMPurgeQueue also purges the queue through a closed handle."""

    def remote_qm_purge_queue(self, call: Call, now: Now) -> None:
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(call.arguments["hQueue"])
        known = self.__dict__.setdefault("known", {})
        if descriptor is not None:
            known[call.arguments["hQueue"]] = descriptor.QueueReference
        queue = known.get(call.arguments["hQueue"])
        if descriptor is None and queue is not None and queue.OpenQueueDescriptorCollection:
            self.purge_remote_queue(call, queue)
        else:
            super().remote_qm_purge_queue(call, now)

    def remote_qm_open_queue(self, call: Call, now: Now) -> None:
        super().remote_qm_open_queue(call, now)
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(call.arguments["dwpContext"])
        if descriptor is not None:
            self.__dict__.setdefault("known", {})[call.arguments["dwpContext"]] = descriptor.QueueReference


@fault("server-purge-queue-purges-every-queue", breaks="MQQP-3.1.4.7-09")
class ServerPurgeQueuePurgesEveryQueue(RemoteQueueOpening):
    """RemoteQMPurgeQueue purges every queue."""

    def purge_remote_queue(self, call: Call, queue: Queue) -> None:
        for other in self.qm.adm.QueueCollection.values():
            if other is not queue:
                self.qm.queue_lifecycle.purge(other, None, lambda number: Result())
        super().purge_remote_queue(call, queue)


@fault("server-purge-queue-purges-every-open-queue", breaks="MQQP-3.1.4.7-09")
class ServerPurgeQueuePurgesEveryOpenQueue(RemoteQueueOpening):
    """The server purges every queue that a remote reader has open."""

    def purge_remote_queue(self, call: Call, queue: Queue) -> None:
        for entry in self.qm.remote.OpenQueueEntryCollection:
            other = self.qm.remote_read_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
            if other is not None and other.QueueReference not in (None, queue):
                assert other.QueueReference is not None
                self.qm.queue_lifecycle.purge(other.QueueReference, None, lambda number: None, lambda: None)  # type: ignore[arg-type, return-value]
        super().purge_remote_queue(call, queue)


@fault("server-purge-queue-purges-subqueues", breaks="MQQP-3.1.4.7-09")
class ServerPurgeQueuePurgesSubqueues(RemoteQueueOpening):
    """The server also purges the subqueues of the purged queue."""

    def purge_remote_queue(self, call: Call, queue: Queue) -> None:
        for other in queue.SubqueueCollection.values():
            self.qm.queue_lifecycle.purge(other, None, lambda number: None, lambda: None)  # type: ignore[arg-type, return-value]
        super().purge_remote_queue(call, queue)


@fault("server-purge-also-purges-journal", breaks="MQQP-3.1.4.7-09", blind=True)
class ServerPurgeAlsoPurgesJournal(RemoteQueueOpening):
    """The server also purges the journal of the purged queue."""

    def purge_remote_queue(self, call: Call, queue: Queue) -> None:
        journal = queue.JournalQueueReference
        super().purge_remote_queue(call, queue)
        if journal is not None:
            from reference_qm.surface.commands import Result

            self.qm.queue_lifecycle.purge(journal, None, lambda number: Result())


@fault(
    "server-purge-queue-removes-no-messages",
    breaks=(
        "MQQP-3.1.4.7-10",
        "MQQP-3.1.4.7-D01",
    ),
)
class ServerPurgeQueueRemovesNoMessages(RemoteQueueOpening):
    """RemoteQMPurgeQueue returns MQ_OK and leaves the messages in the queue."""

    def purge_remote_queue(self, call: Call, queue: Queue) -> None:
        self.qm.remote.carry_out_outputs(call.respond(Return=Status.MQ_OK))


@fault("server-purge-queue-removes-highest-priority-only", breaks=("MQQP-3.1.4.7-D01", "MQQP-3.1.4.7-10"))
class ServerPurgeQueueRemovesHighestPriorityOnly(RemoteQueueOpening):
    """RemoteQMPurgeQueue removes only the messages of the highest priority."""

    def purge_remote_queue(self, call: Call, queue: Queue) -> None:
        positions = list(queue.MessagePositionList)
        highest = max((one.MessageReference.Priority for one in positions), default=0)
        kept = [one.MessageReference for one in positions if one.MessageReference.Priority < highest]
        if not kept:
            super().purge_remote_queue(call, queue)
            return
        for one in positions:
            if one.MessageReference not in kept:
                queue.MessagePositionList.remove(one)
        self.qm.remote.carry_out_outputs(call.respond(Return=Status.MQ_OK))


def _change_purge_pending_messages_to_locked(position: MessagePosition) -> None:
    if position.State is MessagePositionState.PURGE_PENDING:
        position.State = MessagePositionState.LOCKED


@fault(
    "server-nack-restores-purged-message",
    breaks=("MQQP-3.1.4.7-D01", "MQQP-3.1.4.7-10", "MQQP-3.1.4.2-12", "MQDMPR-3.1.7.1.7-05"),
)
class ServerNackRestoresPurgedMessage(TwoPhaseReading):
    """RemoteQMEndReceive with RR_NACK returns a purged message to the queue."""

    def dequeue_message_end(
        self,
        queue_desc: OpenQueueDescriptor,
        position: MessagePosition,
        delete_message: bool,
        ended: Callable[[Status], None],
        transactional: bool = False,
    ) -> None:
        _change_purge_pending_messages_to_locked(position)
        super().dequeue_message_end(queue_desc, position, delete_message, ended, transactional)


@fault("server-purge-queue-cancels-waiting-reads", breaks="MQQP-3.1.4.7-10")
class ServerPurgeQueueCancelsWaitingReads(RemoteQueueOpening):
    """The server cancels the reads that wait on a purged queue."""

    def purge_remote_queue(self, call: Call, queue: Queue) -> None:
        super().purge_remote_queue(call, queue)
        for read in list(self.qm.remote.RemoteReadEntryCollection):
            descriptor = self.qm.remote_read_starting.find_remote_descriptor(read.OpenQueueDescriptorHandle)
            if descriptor is not None and descriptor.QueueReference is queue:
                self.qm.remote_read_ending.cancel_remote_read(read, CANCELED_STATUS)


@fault("server-purge-queue-closes-cursors", breaks="MQQP-3.1.4.7-10")
class ServerPurgeQueueClosesCursors(RemoteQueueOpening):
    """The server closes the cursors of a purged queue."""

    def purge_remote_queue(self, call: Call, queue: Queue) -> None:
        super().purge_remote_queue(call, queue)
        for descriptor in queue.OpenQueueDescriptorCollection.values():
            descriptor.CursorCollection.clear()


class _PurgerKeepingSelectedMessages(RemoteQueueOpening):
    def is_message_kept_by_purge(self, queue: Queue, index: int) -> bool:
        """Return whether the purge leaves the message with the given index in the queue."""
        return False

    def purge_remote_queue(self, call: Call, queue: Queue) -> None:
        for position in [
            one
            for index, one in enumerate(list(queue.MessagePositionList))
            if not self.is_message_kept_by_purge(queue, index)
        ]:
            if position.State is MessagePositionState.LOCKED:
                position.State = MessagePositionState.PURGE_PENDING
            else:
                self.qm.message_positions.delete_message(position, MessageClass.MQMSG_CLASS_NACK_Q_PURGED)
        self.qm.remote.carry_out_outputs(call.respond(Return=Status.MQ_OK))


@fault("server-purge-queue-with-open-receive-leaves-messages", breaks="MQQP-3.1.4.7-10")
class ServerPurgeQueueWithOpenReceiveLeavesMessages(_PurgerKeepingSelectedMessages):
    """If a receive from a queue is unfinished, a purge leaves all messages in the queue."""

    def is_message_kept_by_purge(self, queue: Queue, index: int) -> bool:
        return any(one.State is MessagePositionState.LOCKED for one in queue.MessagePositionList)


@fault("server-messages-after-purge-refused", breaks=("MQQP-3.1.4.7-10", "MQQP-3.1.4.7-D01"))
class ServerMessagesAfterPurgeRefused(RemoteQueueOpening):
    """The server refuses every message that arrives after a purge."""

    def purge_remote_queue(self, call: Call, queue: Queue) -> None:
        super().purge_remote_queue(call, queue)
        queue.Quota = 0


@fault(
    "server-purged-recoverable-messages-back-after-restart", breaks=("MQQP-3.1.4.7-D01", "MQQP-3.1.4.7-10"), blind=True
)
class ServerPurgedRecoverableMessagesBackAfterRestart(DurableRecords):
    """The server purges a queue only in memory: recoverable messages are in the queue again after a restart."""

    def build_message_removal(self, positions: Iterable[MessagePosition], reason: MessageClass) -> Change:
        return {} if reason.name == "MQMSG_CLASS_NACK_Q_PURGED" else super().build_message_removal(positions, reason)


@fault("server-purge-keeps-transactional-messages", breaks=("MQQP-3.1.4.7-D01", "MQQP-3.1.4.7-10"), blind=True)
class ServerPurgeKeepsTransactionalMessages(RemoteQueueOpening):
    """RemoteQMPurgeQueue returns MQ_OK for a transactional queue, but leaves the messages in the queue."""

    def purge_remote_queue(self, call: Call, queue: Queue) -> None:
        if queue.Transactional:
            self.qm.remote.carry_out_outputs(call.respond(Return=Status.MQ_OK))
        else:
            super().purge_remote_queue(call, queue)


@fault("server-purge-without-negative-acknowledgments", breaks="MQQP-3.1.4.7-10", blind=True)
class ServerPurgeWithoutNegativeAcknowledgments(QueueLifecycle):
    """The server sends no acknowledgment of class Q_PURGED for the messages that a remote purge removes."""

    def purge(
        self,
        queue: Queue,
        token: int | None,
        done: Callable[[int], Result],
        failed: Callable[[], None] | None = None,
    ) -> Result | None:
        if token is None:
            for position in queue.MessagePositionList:
                position.MessageReference = replace(position.MessageReference, AcknowledgementsRequested=0)
        return super().purge(queue, token, done, failed)


@fault("server-purge-queue-of-empty-queue-returns-failure", breaks="MQQP-3.1.4.7-12")
class ServerPurgeQueueOfEmptyQueueReturnsFailure(RemoteQueueOpening):
    """The server returns a failure for the purge of an empty queue."""

    def purge_remote_queue(self, call: Call, queue: Queue) -> None:
        if len(queue.MessagePositionList):
            super().purge_remote_queue(call, queue)
        else:
            self.refuse_purge(call, Status.MQ_ERROR_MESSAGE_NOT_FOUND)


@fault("server-purge-with-waiting-read-returns-error", breaks="MQQP-3.1.4.7-12", blind=True)
class ServerPurgeWithWaitingReadReturnsError(RemoteQueueOpening):
    """If a read waits on the handle, RemoteQMPurgeQueue purges the queue but returns MQ_ERROR."""

    def purge_remote_queue(self, call: Call, queue: Queue) -> None:
        if self.qm.remote.RemoteReadEntryCollection.list_entries_of_handle(call.arguments["hQueue"]):
            from harness.faults.rpc_calls import change_answer_values

            call = change_answer_values(call, Return=Status.MQ_ERROR)
        super().purge_remote_queue(call, queue)


@fault("server-purge-queue-leaves-recoverable-messages", breaks="MQQP-3.1.4.7-D01")
class ServerPurgeQueueLeavesRecoverableMessages(_PurgerKeepingSelectedMessages):
    """The server purges only the express messages of a queue."""

    def is_message_kept_by_purge(self, queue: Queue, index: int) -> bool:
        return (
            list(queue.MessagePositionList)[index].MessageReference.DeliveryGuarantee is DeliveryGuarantee.RECOVERABLE
        )


@fault("server-purge-queue-leaves-third-and-later-messages", breaks="MQQP-3.1.4.7-D01")
class ServerPurgeQueueLeavesThirdAndLaterMessages(_PurgerKeepingSelectedMessages):
    """The server purges only the first two messages of a queue."""

    def is_message_kept_by_purge(self, queue: Queue, index: int) -> bool:
        return index >= 2


@fault("server-purge-queue-leaves-messages-of-priority-0", breaks="MQQP-3.1.4.7-D01")
class ServerPurgeQueueLeavesMessagesOfPriority0(_PurgerKeepingSelectedMessages):
    """The server does not purge messages of priority 0."""

    def is_message_kept_by_purge(self, queue: Queue, index: int) -> bool:
        return list(queue.MessagePositionList)[index].MessageReference.Priority == 0


@fault("server-purge-after-earlier-purge-does-nothing", breaks="MQQP-3.1.4.7-D01")
class ServerPurgeAfterEarlierPurgeDoesNothing(RemoteQueueOpening):
    """The server carries out only the first purge through a queue handle; for later purges, it returns MQ_OK and does
    nothing.
    """

    purged_queue_handles: frozenset[int] = frozenset()

    def purge_remote_queue(self, call: Call, queue: Queue) -> None:
        if call.arguments["hQueue"] in self.purged_queue_handles:
            self.qm.remote.carry_out_outputs(call.respond(Return=Status.MQ_OK))
            return
        self.purged_queue_handles |= {call.arguments["hQueue"]}
        super().purge_remote_queue(call, queue)


@fault("server-purge-includes-journal", breaks="MQQP-3.1.4.7-09", blind=True)
class ServerPurgeIncludesJournal(RemoteQueueOpening):
    """RemoteQMPurgeQueue also purges the journal of the queue."""

    def purge_remote_queue(self, call: Call, queue: Queue) -> None:
        super().purge_remote_queue(call, queue)
        if queue.JournalQueueReference is not None:
            self.qm.queue_lifecycle.purge(queue.JournalQueueReference, None, lambda number: Result())
